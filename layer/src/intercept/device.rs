//! `VkDevice`.

use super::{MISSING, command, guarded, next_of, wait};
use crate::arena::memory_type;
use crate::device::activate::{activate, families, memory_preference, memory_types};
use crate::device::create_info::{self, EditedCreateInfo};
use crate::device::probe;
use crate::device::state::{AbortState, Device, Instance};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::intercept::physical_device::reports_masked;
use crate::loader::dispatch::{DestroyTable, DeviceTable};
use crate::loader::link::take_link;
use crate::loader::registry::{self, device_of, dispatch_key};
use crate::locks::lock;
use crate::report::log::Level;
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
            let link = take_link::<vk::PFN_vkGetDeviceProcAddr>(original.p_next);
            let (Some(next_gdpa), Some(create)) = (
                link.and_then(|link| link.next_get_proc_addr),
                instance.next.vkCreateDevice,
            ) else {
                return vk::Result::ERROR_INITIALIZATION_FAILED;
            };
            let enabled = create_info::enabled(original);
            if enabled.is_empty() {
                let result = create(physical, info, allocator, handle);
                if result == vk::Result::SUCCESS {
                    register(instance, *handle, next_gdpa, None);
                }
                return result;
            }
            let capabilities = probe::physical_device(&instance, physical);
            let emulated = enabled.and(capabilities.emulated);
            if !enabled.without(emulated).without(capabilities.listed).is_empty() {
                return vk::Result::ERROR_EXTENSION_NOT_PRESENT;
            }
            if emulated.is_empty() {
                // The driver supports them all: the layer only observes and reports a loss.
                let result = create(physical, info, allocator, handle);
                if result == vk::Result::SUCCESS {
                    let state = AbortState {
                        families: families(&instance, physical),
                        enabled,
                        ..AbortState::default()
                    };
                    register(instance, *handle, next_gdpa, Some(state));
                }
                return result;
            }
            let types = memory_types(&instance, physical);
            let preference = memory_preference(&instance, &capabilities);
            let wanted = create_info::Wanted {
                report_masked: reports_masked(&instance),
                device_coherent: memory_type::wants_device_coherent(&types, &preference),
            };
            let edited = match EditedCreateInfo::new(original, &capabilities, emulated, wanted) {
                Ok(edited) => edited,
                Err(refusal) => {
                    let text = format!("vkCreateDevice: {}", refusal.reason);
                    instance.log.line(Level::Error, &text);
                    return refusal.result;
                }
            };
            for warning in &edited.warnings {
                instance.log.line(Level::Warning, &format!("vkCreateDevice: {warning}"));
            }
            let result = create(physical, &edited.create_info(original), allocator, handle);
            if result != vk::Result::SUCCESS {
                return result;
            }
            match activate(
                &instance,
                &capabilities,
                &edited,
                (&types, preference),
                *handle,
                next_gdpa,
            ) {
                Ok(state) => {
                    register(instance, *handle, next_gdpa, Some(state));
                    vk::Result::SUCCESS
                }
                Err(reason) => {
                    let text = format!("vkCreateDevice: cannot emulate VK_KHR_shader_abort: {reason}");
                    instance.log.line(Level::Error, &text);
                    let next = DeviceTable::load(|name| next_gdpa(*handle, name.as_ptr()));
                    if let Some(destroy) = next.vkDestroyDevice {
                        destroy(*handle, allocator);
                    }
                    *handle = vk::Device::null();
                    vk::Result::ERROR_INITIALIZATION_FAILED
                }
            }
        }
    })
}

/// Registers a new device.
///
/// # Safety
/// The next layer, whose `vkGetDeviceProcAddr` is `next_gdpa`, must just have created `handle`.
unsafe fn register(
    instance: Arc<Instance>,
    handle: vk::Device,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
    state: Option<AbortState>,
) {
    // SAFETY: the device is live, and `next_gdpa` returns functions of their names' types (the caller's contract).
    unsafe {
        let get = |name: &CStr| next_gdpa(handle, name.as_ptr());
        let device = Device {
            handle,
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
