//! `VkDevice`, except for its creation.

use super::{guarded, wait};
use crate::arena::Arena;
use crate::device::registry::{self, device_of, dispatch_key};
use crate::device::{AbortState, Device};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::loader::dispatch::DeviceTable;
use crate::locks::lock;
use crate::report;
use ash::vk::{self, Handle};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub unsafe extern "system" fn destroy(handle: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    guarded((), || {
        if handle.is_null() {
            return;
        }
        // SAFETY: valid usage: the device is live, and no other command uses it.
        let (key, device) = unsafe { (dispatch_key(handle.as_raw()), device_of(handle)) };
        if let Some(device) = device.filter(|device| !device.is_inherited())
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
            report::deliver_last_prints(device, state);
            device.instance.log.write(&report::closing_text(device));
            device.log_missed_workgroups();
            if let Some(clock) = &state.loop_clock {
                clock.stop();
            }
        }
        // Removed before the call: another thread may get the same key as soon as the loader frees the handle. The map has
        // the only counted reference to a device.
        let Some(device) = registry::DEVICES.remove(key).and_then(Arc::into_inner) else {
            return;
        };
        let undrained = device.is_undrained();
        let Device {
            next, state, instance, ..
        } = device;
        if let Some(state) = state {
            // SAFETY: the objects belong to the device, whose work is complete.
            if undrained || !unsafe { state.kept.destroy(handle) } {
                instance.leaked.store(true, Ordering::Release);
                let arenas = [state.arena, state.constants_only];
                arenas.into_iter().flatten().for_each(Arena::leak);
                std::mem::forget(state.deferred);
                return;
            }
            lock(&state.deferred).clear();
            // SAFETY: all work is complete: the application has waited for it (VUID-vkDestroyDevice-device-05137), or the
            // drain has.
            unsafe {
                destroy_fences(&state, handle, &next);
                let markers = state.commands.and_then(|commands| commands.markers);
                if let Some(markers) = markers {
                    markers.destroy(handle, &next);
                }
                for arena in [state.arena, state.constants_only].into_iter().flatten() {
                    arena.destroy(handle, &next);
                }
            }
        }
        if let Some(destroy) = next.vkDestroyDevice {
            // SAFETY: valid usage: all objects of the application are destroyed, and those of the layer are too.
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
        unsafe { destroy(device, fence.as_raw(), std::ptr::null()) };
    }
}

/// Waits by fences first, as `vkQueueWaitIdle` does.
pub unsafe extern "system" fn wait_idle(handle: vk::Device) -> vk::Result {
    // SAFETY: valid usage: the device is live, and its queues are externally synchronised.
    unsafe {
        forward!(handle, vkDeviceWaitIdle, |device, next| {
            let next = || next(handle);
            let Some(state) = &device.state else {
                return next();
            };
            let queues = state.queues.values();
            let mark = WaitMark::of_queues(&queues);
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
}
