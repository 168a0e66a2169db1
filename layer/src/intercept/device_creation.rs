//! `vkCreateDevice`: from the application's create-info, or from an edited copy of it on a device that uses the extensions.
//!
//! The decisions and their reasons: `docs/design/devices.md`.

use super::command;
use super::creation_failure::{Failure, result_of};
use super::physical_device::reports_masked;
use crate::arena::memory_type;
use crate::device::creation::activate::{activate, without_emulation};
use crate::device::creation::create_info::{self, EditedCreateInfo, Refusal};
use crate::device::creation::probe;
use crate::device::creation::queries::{memory_preference, memory_types};
use crate::device::features::recordings::CommandBuffers;
use crate::device::registry::{self, dispatch_key};
use crate::device::state::{Extensions, Instance, PhysicalDevice};
use crate::device::{AbortState, Device};
use crate::loader::dispatch::DeviceTable;
use crate::loader::link::{restore_link, take_link};
use crate::log::Level;
use crate::settings::{Commands, Enable, Printf};
use ash::vk::{self, Handle};
use std::sync::Arc;

pub unsafe extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    handle: *mut vk::Device,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the physical device is live, and `info` and `handle` are valid; the loader's link precedes the
        // application's chain.
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
                requested: create_info::enabled(original),
                allocator,
                next,
                next_gdpa,
            };
            // The loader finds its own object through the handle.
            let loader_handle = *handle;
            let mut attempts = creation.attempts().into_iter().peekable();
            while let Some(attempt) = attempts.next() {
                let is_last = attempts.peek().is_none();
                match creation.run(attempt, handle) {
                    Ok(mut state) => {
                        // The layer enables the feature in the other attempt.
                        if let Some(state) = state.as_mut().filter(|_| is_last) {
                            state.lacks_feature = state.enabled.abort && !create_info::enables_shader_abort(original);
                        }
                        register(instance, physical, *handle, next_gdpa, state);
                        return vk::Result::SUCCESS;
                    }
                    Err(Failure::Destroyed(refusal)) => return creation.refused(&refusal),
                    Err(failure) if !is_last => creation.log_not_enabled(&failure.reason()),
                    Err(Failure::Own(refusal)) => return creation.refused(&refusal),
                    Err(Failure::Next(result)) => return result,
                }
                *handle = loader_handle;
                // The next layer has taken its link.
                restore_link(original.p_next, &link);
            }
            vk::Result::ERROR_INITIALIZATION_FAILED
        }
    })
}

/// The extensions of a device that the layer tries to create.
#[derive(Clone, Copy)]
struct Attempt {
    /// The extensions that the device enables.
    enabled: Extensions,
    /// Those of them that the driver provides, and that the application's create-info or its features may lack.
    native: Extensions,
}

/// The arguments of `vkCreateDevice`, and the next layer's functions.
struct Creation<'a> {
    instance: &'a Instance,
    physical: vk::PhysicalDevice,
    original: &'a vk::DeviceCreateInfo<'a>,
    /// The extensions that the application enables.
    requested: Extensions,
    allocator: *const vk::AllocationCallbacks<'a>,
    next: vk::PFN_vkCreateDevice,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
}

impl Creation<'_> {
    /// The devices to try, in order: under `enable = always` one with all extensions, and then what the application requests.
    fn attempts(&self) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        if self.instance.settings.enable == Enable::Always {
            let capabilities = probe::physical_device(self.instance, self.physical);
            let native = capabilities.native.without(capabilities.emulated);
            if native.or(capabilities.emulated) == Extensions::ALL {
                attempts.push(Attempt {
                    enabled: Extensions::ALL,
                    native,
                });
            } else {
                self.log_not_enabled(capabilities.reason.as_deref().unwrap_or("emulation = off"));
            }
        }
        attempts.push(Attempt {
            enabled: self.requested,
            native: Extensions::default(),
        });
        attempts
    }

    /// Logs why the layer refuses a device. Returns the result of `vkCreateDevice`.
    fn refused(&self, refusal: &Refusal) -> vk::Result {
        let text = format!("vkCreateDevice: {}", refusal.reason);
        self.instance.log.line(Level::Error, &text);
        refusal.result
    }

    fn log_not_enabled(&self, reason: &str) {
        let name = &probe::physical_device(self.instance, self.physical).name;
        let settings = &self.instance.settings;
        let (setting, effect) = match (settings.sanitize.is_empty(), settings.printf) {
            (false, _) => ("sanitize", ". Its shaders run without checks"),
            (true, Printf::Off) => ("enable = always", ""),
            (true, _) => ("printf", ". Its shaders do not print"),
        };
        let text = format!("{setting}: cannot enable VK_KHR_shader_abort on `{name}`: {reason}{effect}");
        self.instance.log.line(Level::Error, &text);
    }

    /// Calls the next layer.
    ///
    /// # Safety
    /// The create-info and `handle` must be valid.
    unsafe fn create(&self, info: &vk::DeviceCreateInfo<'_>, handle: *mut vk::Device) -> Result<(), Failure> {
        // SAFETY: the application's own arguments, except for the create-info (the caller's contract).
        match unsafe { (self.next)(self.physical, info, self.allocator, handle) } {
            vk::Result::SUCCESS => Ok(()),
            result => Err(Failure::Next(result)),
        }
    }

    /// Creates a device. Returns the layer's state of it, if it has one.
    ///
    /// # Errors
    /// The layer or the next one cannot create it.
    ///
    /// # Safety
    /// The create-info and `handle` must be valid.
    unsafe fn run(&self, attempt: Attempt, handle: *mut vk::Device) -> Result<Option<AbortState>, Failure> {
        let Attempt { enabled, native } = attempt;
        let (instance, requested) = (self.instance, self.requested);
        // SAFETY: the create-info and `handle` are valid (the caller's contract).
        unsafe {
            if enabled.is_empty() {
                return self.create(self.original, handle).map(|()| None);
            }
            let capabilities = probe::physical_device(instance, self.physical);
            let emulated = enabled.and(capabilities.emulated);
            if !enabled.without(emulated).without(capabilities.listed).is_empty() {
                return Err(Failure::Next(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
            }
            if !emulated.is_empty() || !native.is_empty() {
                return self.run_edited(&capabilities, emulated, native, handle);
            }
            self.create(self.original, handle)?;
            Ok(Some(AbortState {
                requested,
                commands: CommandBuffers::create(&instance.settings, *handle, self.next_gdpa, None),
                ..without_emulation(instance, &capabilities, enabled)
            }))
        }
    }

    /// As [`Self::run`], from an edited create-info: with the extensions `native` of the driver, and without the emulated ones.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Safety
    /// As [`Self::run`].
    unsafe fn run_edited(
        &self,
        capabilities: &PhysicalDevice,
        emulated: Extensions,
        native: Extensions,
        handle: *mut vk::Device,
    ) -> Result<Option<AbortState>, Failure> {
        let (instance, requested) = (self.instance, self.requested);
        let types = memory_types(instance, self.physical);
        let preference = memory_preference(instance, capabilities);
        let wanted = create_info::Wanted {
            native,
            report_masked: reports_masked(instance),
            device_coherent: memory_type::wants_device_coherent(&types, &preference),
            markers: instance.settings.commands == Commands::Markers,
        };
        // SAFETY: the create-info and `handle` are valid (the caller's contract), and so is the edited copy. The next layer has
        // just created the device that is activated, or destroyed again.
        unsafe {
            let edited = EditedCreateInfo::new(self.original, capabilities, emulated, wanted);
            let mut edited = edited.map_err(Failure::Own)?;
            for warning in &edited.warnings {
                instance.log.line(Level::Warning, &format!("vkCreateDevice: {warning}"));
            }
            self.create(&edited.create_info(self.original), handle)?;
            let activate = |edited: &_| {
                activate(
                    instance,
                    capabilities,
                    edited,
                    (&types, preference),
                    *handle,
                    self.next_gdpa,
                )
            };
            let mut state = activate(&edited);
            if let Err(error) = &state
                && !requested.abort
            {
                // The device exists, and the loader cannot create another one in this call: the application gets it with
                // what it requested, which works without memory.
                self.log_not_enabled(&error.reason);
                edited.emulated = emulated.and(requested);
                edited.enabled = requested;
                if requested.is_empty() {
                    return Ok(None);
                }
                state = activate(&edited);
            }
            state.map(Some).map_err(|error| {
                let next = DeviceTable::load(|name| (self.next_gdpa)(*handle, name.as_ptr()));
                if let Some(destroy) = next.vkDestroyDevice {
                    destroy(*handle, self.allocator);
                }
                *handle = vk::Device::null();
                Failure::Destroyed(Refusal {
                    result: result_of(error.result),
                    reason: format!("cannot emulate VK_KHR_shader_abort: {}", error.reason),
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
            process: std::process::id(),
            next: DeviceTable::load(|name| next_gdpa(handle, name.as_ptr())),
            next_gdpa,
            state,
        };
        registry::DEVICES.insert(dispatch_key(handle.as_raw()), Arc::new(device));
    }
}
