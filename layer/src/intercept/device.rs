//! `VkDevice`.

use super::{MISSING, command, guarded, wait};
use crate::arena::memory_type;
use crate::device::activate::{activate, families, memory_preference, memory_types};
use crate::device::create_info::{self, EditedCreateInfo};
use crate::device::probe;
use crate::device::state::{AbortState, Device, Instance};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::intercept::physical_device::reports_masked;
use crate::loader::dispatch::{DestroyTable, DeviceTable};
use crate::loader::ffi::LayerDeviceLink;
use crate::loader::handle_map::HandleMap;
use crate::loader::link::take_link;
use crate::loader::registry::{self, device_of, dispatch_key};
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
            let link = take_link::<LayerDeviceLink>(original.p_next);
            let (Some(next_gdpa), Some(create)) = (
                link.and_then(|link| link.next_get_device_proc_addr),
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
                        ..AbortState::without_emulation(enabled)
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

pub unsafe extern "system" fn destroy(device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    guarded((), || {
        if device.is_null() {
            return;
        }
        // SAFETY: a valid device.
        let key = unsafe { dispatch_key(device.as_raw()) };
        // SAFETY: as above.
        if let Some((known, state)) = unsafe { device_of(device) }.and_then(|d| Some((d, d.state.as_ref()?)))
            && state.aborted()
        {
            // An application that never looked is told all the same.
            known.advance(state, DrainBudget::Drain);
        }
        // SAFETY: as above.
        if let Some(known) = unsafe { device_of(device) }
            && known.is_undrained()
        {
            // What kept the device busy may have ended since.
            known.drain_again();
        }
        // The entry goes first: the handle's memory may be used again before the next layer's function returns.
        let Some(known) = registry::devices().remove(key).and_then(Arc::into_inner) else {
            return;
        };
        let undrained = known.is_undrained();
        let Device {
            next, state, instance, ..
        } = known;
        if let Some(state) = state {
            if undrained {
                instance.leaked.store(true, Ordering::Release);
                if let Some(arena) = state.arena {
                    arena.leak();
                }
                std::mem::forget(state.deferred);
                return;
            }
            drop(state.deferred.into_inner());
            // SAFETY: the application has waited for its work, or the drain has.
            unsafe {
                destroy_fences(&state.queues, &state.fences, device, &next);
                if let Some(arena) = state.arena {
                    arena.destroy(device, &next);
                }
            }
        }
        if let Some(destroy) = next.vkDestroyDevice {
            // SAFETY: forwarded as it came.
            unsafe { destroy(device, allocator) };
        }
    });
}

/// # Safety
/// Nothing submitted may still use the fences.
unsafe fn destroy_fences(
    queues: &HandleMap<crate::device::state::Queue>,
    pool: &crate::device::state::FencePool,
    device: vk::Device,
    next: &DeviceTable,
) {
    let marks = queues.values().into_iter().map(|queue| queue.drain_fence);
    if let Some(destroy) = next.vkDestroyFence {
        for fence in marks.chain(pool.drain()) {
            // SAFETY: the caller vouches that the fence is not in use; null is allowed.
            unsafe { destroy(device, fence, std::ptr::null()) };
        }
    }
}

/// Waits for the queues by fences first, as `vkQueueWaitIdle` does.
pub unsafe extern "system" fn wait_idle(device: vk::Device) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let Some((known, next)) = unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkDeviceWaitIdle?))) else {
            return MISSING;
        };
        let Some(state) = &known.state else {
            // SAFETY: forwarded as it came.
            return unsafe { next(device) };
        };
        let mark = WaitMark::new(state.queues.values());
        if state.arena.is_none() {
            // SAFETY: forwarded as it came.
            let result = known.checked(DrainBudget::Poll, || unsafe { next(device) });
            return mark.complete_if_successful(result);
        }
        if known.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let result = match wait::for_queues(known, state, &mark.used_queues()) {
            // SAFETY: forwarded as it came; the queues' locks keep a drain off them.
            vk::Result::SUCCESS => wait::with_all_queues(state, || unsafe { next(device) }),
            other => other,
        };
        mark.complete_if_successful(known.observe(result, DrainBudget::Drain))
    })
}
