//! `VkDevice`.

use super::{MISSING, command, guarded, next_of, wait};
use crate::arena::memory_type;
use crate::device::activate::{activate, families, memory_preference, memory_types};
use crate::device::create_info::{self, EditedCreateInfo, Refusal};
use crate::device::probe;
use crate::device::state::{AbortState, Device, Extensions, Instance};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::intercept::physical_device::reports_masked;
use crate::loader::dispatch::{DestroyTable, DeviceTable};
use crate::loader::link::{restore_link, take_link};
use crate::loader::registry::{self, device_of, dispatch_key};
use crate::locks::lock;
use crate::report::log::Level;
use crate::settings::Enable;
use ash::vk::{self, Handle};
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
                    Err(reason) => {
                        creation.log_not_enabled(&reason);
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
                Err(Failure::Own(refusal)) => {
                    let text = format!("vkCreateDevice: {}", refusal.reason);
                    instance.log.line(Level::Error, &text);
                    refusal.result
                }
            }
        }
    })
}

/// Why a device was not created.
enum Failure {
    /// The layer cannot create it as requested.
    Own(Refusal),
    /// The next layer returned this result.
    Next(vk::Result),
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
    /// The reason why it cannot.
    ///
    /// # Safety
    /// As [`Self::run`].
    unsafe fn run_with_all(&self, handle: *mut vk::Device) -> Result<Option<AbortState>, String> {
        let capabilities = probe::physical_device(self.instance, self.physical);
        let native = capabilities.native.without(capabilities.emulated);
        if !Extensions::ALL
            .without(native)
            .without(capabilities.emulated)
            .is_empty()
        {
            let reason = capabilities.reason.as_deref();
            return Err(reason.unwrap_or("emulation = off").to_owned());
        }
        // SAFETY: the caller's contract.
        unsafe { self.run(Extensions::ALL, native, handle) }.map_err(|failure| match failure {
            Failure::Own(refusal) => refusal.reason,
            Failure::Next(result) => format!("the driver's vkCreateDevice returned {result:?}"),
        })
    }

    fn log_not_enabled(&self, reason: &str) {
        let name = &probe::physical_device(self.instance, self.physical).name;
        let text = format!("enable = always: cannot enable VK_KHR_shader_abort on `{name}`: {reason}");
        self.instance.log.line(Level::Error, &text);
    }

    /// Creates the device with `enabled`, of which the application's create-info may lack those in `native` and their
    /// features. Returns the layer's state of the device, if it has one.
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
            // The driver supports them all: the layer only observes and reports a loss.
            return create(self.original).map(|()| {
                Some(AbortState {
                    families: families(instance, self.physical),
                    requested,
                    enabled,
                    ..AbortState::default()
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
                // what it requested, which needs no memory.
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
                Failure::Own(Refusal {
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
        let get = |name: &CStr| next_gdpa(handle, name.as_ptr());
        let device = Device {
            handle,
            physical,
            instance,
            next: DeviceTable::load(get),
            destroy: DestroyTable::load(get),
            next_gdpa,
            state,
        };
        registry::devices().insert(dispatch_key(handle.as_raw()), Arc::new(device));
    }
}

pub unsafe extern "system" fn destroy(handle: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    guarded((), || {
        if handle.is_null() {
            return;
        }
        // SAFETY: valid usage: the device is live.
        let (key, device) = unsafe { (dispatch_key(handle.as_raw()), device_of(handle)) };
        if let Some(device) = device
            && let Some(state) = &device.state
        {
            if state.aborted() {
                // The application has not noticed the abort: it is reported now.
                device.advance(state, DrainBudget::Drain);
            }
            if device.is_undrained() {
                // The work that the drain waited for may be complete by now.
                device.drain_again();
            }
        }
        // Removed before the call: another thread may get the same key as soon as the loader frees the handle. The map has
        // the only counted reference to a device.
        let Some(device) = registry::devices().remove(key).and_then(Arc::into_inner) else {
            return;
        };
        let undrained = device.is_undrained();
        let Device {
            next, state, instance, ..
        } = device;
        if let Some(state) = state {
            if undrained {
                instance.leaked.store(true, Ordering::Release);
                if let Some(arena) = state.arena {
                    arena.leak();
                }
                std::mem::forget(state.deferred);
                return;
            }
            lock(&state.deferred).clear();
            // SAFETY: all work is complete: the application has waited for it (VUID-vkDestroyDevice-device-05137), or the
            // drain has.
            unsafe {
                destroy_fences(&state, handle, &next);
                if let Some(arena) = state.arena {
                    arena.destroy(handle, &next);
                }
            }
        }
        if let Some(destroy) = next.vkDestroyDevice {
            // SAFETY: the application's own arguments.
            unsafe { destroy(handle, allocator) };
        }
    });
}

/// # Safety
/// All work of the device must be complete.
unsafe fn destroy_fences(state: &AbortState, device: vk::Device, next: &DeviceTable) {
    let Some(destroy) = next.vkDestroyFence else { return };
    let of_queues = state.queues.values().into_iter().map(|queue| queue.drain_fence);
    for fence in of_queues.chain(state.fences.drain()) {
        // SAFETY: no pending work uses the fence (the caller's contract); null is allowed.
        unsafe { destroy(device, fence, std::ptr::null()) };
    }
}

/// Waits by fences first, as `vkQueueWaitIdle` does.
pub unsafe extern "system" fn wait_idle(handle: vk::Device) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkDeviceWaitIdle) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let next = || unsafe { next(handle) };
        let Some(state) = &device.state else {
            return next();
        };
        let mark = WaitMark::new(state.queues.values());
        if state.arena.is_none() {
            return mark.complete_if_successful(device.checked(DrainBudget::Poll, next));
        }
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let result = match wait::for_queues(device, state, &mark.used_queues()) {
            vk::Result::SUCCESS => wait::with_all_queues(state, next),
            other => other,
        };
        mark.complete_if_successful(device.observe(result, DrainBudget::Drain))
    })
}
