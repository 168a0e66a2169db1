//! `vkCreateDevice`: from the application's create-info, or from an edited copy of it on a device that uses the extensions.

use super::command;
use super::physical_device::reports_masked;
use crate::arena::memory_type;
use crate::device::activate::{activate, memory_preference, memory_types, observe};
use crate::device::create_info::{self, EditedCreateInfo, Refusal};
use crate::device::probe;
use crate::device::registry::{self, dispatch_key};
use crate::device::state::{AbortState, Device, Extensions, Instance};
use crate::loader::dispatch::DeviceTable;
use crate::loader::link::{restore_link, take_link};
use crate::log::Level;
use crate::settings::Enable;
use ash::vk::{self, Handle};
use std::sync::Arc;

pub unsafe extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    handle: *mut vk::Device,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage; the loader's link precedes the application's chain.
        unsafe {
            let (Some(instance), Some(original)) = (registry::share_instance(physical), info.as_ref()) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            // Taken before the chain is copied: the copy must have the next layer's link.
            let Some(link) = take_link::<vk::PFN_vkGetDeviceProcAddr>(original.p_next) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let (Some(next_gdpa), Some(next)) = (link.next_get_proc_addr, instance.next.vkCreateDevice) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let creation = Creation {
                instance: &instance,
                physical,
                original,
                allocator,
                next,
                next_gdpa,
            };
            if instance.settings.enable == Enable::Always {
                // The loader finds its own object through the handle.
                let loader_handle = *handle;
                match creation.run_with_all(handle) {
                    Ok(state) => {
                        register(instance, physical, *handle, next_gdpa, state);
                        return vk::Result::SUCCESS;
                    }
                    Err(Failure::Destroyed(refusal)) => return creation.refused(&refusal),
                    Err(failure) => {
                        creation.log_not_enabled(&failure.reason());
                        *handle = loader_handle;
                        // The next layer has taken its link.
                        restore_link(original.p_next, &link);
                    }
                }
            }
            match creation.run(create_info::enabled(original), Extensions::default(), handle) {
                Ok(mut state) => {
                    if let Some(state) = &mut state {
                        state.lacks_feature = state.enabled.abort && !create_info::enables_shader_abort(original);
                    }
                    register(instance, physical, *handle, next_gdpa, state);
                    vk::Result::SUCCESS
                }
                Err(Failure::Next(result)) => result,
                Err(Failure::Own(refusal) | Failure::Destroyed(refusal)) => creation.refused(&refusal),
            }
        }
    })
}

/// Why a device was not created.
enum Failure {
    /// The layer cannot create it as requested.
    Own(Refusal),
    /// The same, after the next layer has created it: it was destroyed again. The loader then has no object any more for
    /// another device in the same call.
    Destroyed(Refusal),
    /// The next layer returned this result.
    Next(vk::Result),
}

impl Failure {
    fn reason(&self) -> String {
        match self {
            Self::Own(refusal) | Self::Destroyed(refusal) => refusal.reason.clone(),
            Self::Next(result) => format!("the driver's vkCreateDevice returned {result:?}"),
        }
    }
}

/// The arguments of `vkCreateDevice`, and the next layer's functions.
struct Creation<'a> {
    instance: &'a Instance,
    physical: vk::PhysicalDevice,
    original: &'a vk::DeviceCreateInfo<'a>,
    allocator: *const vk::AllocationCallbacks<'a>,
    next: vk::PFN_vkCreateDevice,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
}

impl Creation<'_> {
    /// Creates the device with the three extensions and their features, whether or not the application enables them.
    ///
    /// # Errors
    /// The extensions are not supported; or as [`Self::run`].
    ///
    /// # Safety
    /// As [`Self::run`].
    unsafe fn run_with_all(&self, handle: *mut vk::Device) -> Result<Option<AbortState>, Failure> {
        let capabilities = probe::physical_device(self.instance, self.physical);
        let native = capabilities.native.without(capabilities.emulated);
        if !Extensions::ALL
            .without(native)
            .without(capabilities.emulated)
            .is_empty()
        {
            let reason = capabilities.reason.as_deref().unwrap_or("emulation = off");
            return Err(Failure::Own(Refusal {
                result: vk::Result::ERROR_EXTENSION_NOT_PRESENT,
                reason: reason.to_owned(),
            }));
        }
        // SAFETY: the caller's contract.
        unsafe { self.run(Extensions::ALL, native, handle) }
    }

    /// Logs why the layer refuses a device. Returns the result of `vkCreateDevice`.
    fn refused(&self, refusal: &Refusal) -> vk::Result {
        let text = format!("vkCreateDevice: {}", refusal.reason);
        self.instance.log.line(Level::Error, &text);
        refusal.result
    }

    fn log_not_enabled(&self, reason: &str) {
        let name = &probe::physical_device(self.instance, self.physical).name;
        let text = format!("enable = always: cannot enable VK_KHR_shader_abort on `{name}`: {reason}");
        self.instance.log.line(Level::Error, &text);
    }

    /// Creates the device with `enabled`, of which the application's create-info may lack those in `native` and their
    /// features. Returns the layer's state of the device, if it has one.
    ///
    /// # Errors
    /// The layer or the next one cannot create it.
    ///
    /// # Safety
    /// The create-info and `handle` must be valid.
    unsafe fn run(
        &self,
        enabled: Extensions,
        native: Extensions,
        handle: *mut vk::Device,
    ) -> Result<Option<AbortState>, Failure> {
        let instance = self.instance;
        // SAFETY: the application's own arguments, except for the create-info.
        let create = |info: &vk::DeviceCreateInfo<'_>| unsafe {
            match (self.next)(self.physical, info, self.allocator, handle) {
                vk::Result::SUCCESS => Ok(()),
                result => Err(Failure::Next(result)),
            }
        };
        if enabled.is_empty() {
            return create(self.original).map(|()| None);
        }
        let capabilities = probe::physical_device(instance, self.physical);
        let emulated = enabled.and(capabilities.emulated);
        if !enabled.without(emulated).without(capabilities.listed).is_empty() {
            return Err(Failure::Next(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        }
        // SAFETY: the create-info is valid (the caller's contract).
        let requested = unsafe { create_info::enabled(self.original) };
        if emulated.is_empty() && native.is_empty() {
            return create(self.original).map(|()| {
                Some(AbortState {
                    requested,
                    ..observe(instance, self.physical, enabled)
                })
            });
        }
        let types = memory_types(instance, self.physical);
        let preference = memory_preference(instance, &capabilities);
        let wanted = create_info::Wanted {
            native,
            report_masked: reports_masked(instance),
            device_coherent: memory_type::wants_device_coherent(&types, &preference),
        };
        // SAFETY: the create-info is valid (the caller's contract).
        let edited = unsafe { EditedCreateInfo::new(self.original, &capabilities, emulated, wanted) };
        let mut edited = edited.map_err(Failure::Own)?;
        for warning in &edited.warnings {
            instance.log.line(Level::Warning, &format!("vkCreateDevice: {warning}"));
        }
        create(&edited.create_info(self.original))?;
        // SAFETY: the next layer has just created the device from `edited`.
        unsafe {
            let memory = (&types, preference);
            let mut state = activate(instance, &capabilities, &edited, memory, *handle, self.next_gdpa);
            if let Err(reason) = &state
                && !requested.abort
            {
                // The device exists, and the loader cannot create another one in this call: the application gets it with
                // what it requested, which works without memory.
                self.log_not_enabled(reason);
                edited.emulated = emulated.and(requested);
                edited.enabled = requested;
                if requested.is_empty() {
                    return Ok(None);
                }
                state = activate(instance, &capabilities, &edited, memory, *handle, self.next_gdpa);
            }
            state.map(Some).map_err(|reason| {
                let next = DeviceTable::load(|name| (self.next_gdpa)(*handle, name.as_ptr()));
                if let Some(destroy) = next.vkDestroyDevice {
                    destroy(*handle, self.allocator);
                }
                *handle = vk::Device::null();
                Failure::Destroyed(Refusal {
                    result: vk::Result::ERROR_INITIALIZATION_FAILED,
                    reason: format!("cannot emulate VK_KHR_shader_abort: {reason}"),
                })
            })
        }
    }
}

/// Registers a new device.
///
/// # Safety
/// The next layer, whose `vkGetDeviceProcAddr` is `next_gdpa`, must just have created `handle`.
unsafe fn register(
    instance: Arc<Instance>,
    physical: vk::PhysicalDevice,
    handle: vk::Device,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
    state: Option<AbortState>,
) {
    // SAFETY: the device is live, and `next_gdpa` returns functions of their names' types (the caller's contract).
    unsafe {
        let device = Device {
            handle,
            physical,
            instance,
            next: DeviceTable::load(|name| next_gdpa(handle, name.as_ptr())),
            next_gdpa,
            state,
        };
        registry::devices().insert(dispatch_key(handle.as_raw()), Arc::new(device));
    }
}
