//! `VK_KHR_device_fault`: the fault queries. `VK_EXT_device_fault`: the one query that depends on the loss.

use super::{MISSING, command};
use crate::device::registry::device_of;
use crate::device::state::LossData;
use crate::device::{AbortState, Device};
use crate::device_loss::DrainBudget;
use crate::loader::chain::{Node, nodes};
use crate::report::fault_info::description;
use ash::vk;
use std::time::{Duration, Instant};
use vk_ext::{ERROR_NOT_ENOUGH_SPACE, FaultDebugInfo, FaultInfo, ShaderAbortMessageInfo};

/// Interval at which a blocked call polls the arena.
const POLL_INTERVAL: Duration = Duration::from_micros(500);
/// Interval at which a blocked call polls the driver for a loss.
const DRIVER_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Longest wait after the last report of a lost device. No report can follow, so an infinite timeout must end; and a program
/// that queries in a loop must not occupy a processor.
const WAIT_AFTER_LAST_REPORT: Duration = Duration::from_millis(10);

pub unsafe extern "system" fn reports(
    handle: vk::Device,
    timeout: u64,
    count: *mut u32,
    infos: *mut FaultInfo,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live, `count` valid, and `infos` null or of `count` elements.
        unsafe {
            let (Some(device), Some(count)) = (device_of(handle), count.as_mut()) else {
                return MISSING;
            };
            let native = device.next.vkGetDeviceFaultReportsKHR;
            let Some(state) = &device.state else {
                return native.map_or(MISSING, |next| next(handle, timeout, count, infos));
            };
            if state.emulated.fault || state.emulated.abort {
                wait_for_reports(device, state, timeout);
                if state.faults.len() > 0 || state.emulated.fault {
                    return take_reports(state, count, infos);
                }
            }
            // No report of the layer; if it waited for one, the timeout is used up, so the driver is only polled.
            let left = if state.emulated.abort { 0 } else { timeout };
            native.map_or(MISSING, |next| next(handle, left, count, infos))
        }
    })
}

/// Waits up to `timeout` nanoseconds for a report of the layer or of the driver.
fn wait_for_reports(device: &Device, state: &AbortState, timeout: u64) {
    let began = Instant::now();
    let deadline = began
        .checked_add(Duration::from_nanos(timeout))
        .filter(|_| timeout != u64::MAX);
    let mut polled_driver = began;
    loop {
        let now = Instant::now();
        if state.aborted() && !state.loss.is_lost() {
            let budget = deadline.map_or(DrainBudget::Drain, |at| DrainBudget::Until(at.max(now)));
            device.advance(state, budget);
        }
        if state.faults.len() > 0 {
            return;
        }
        let now = Instant::now();
        if state.loss.is_lost() {
            let left = deadline.map_or(WAIT_AFTER_LAST_REPORT, |at| at.saturating_duration_since(now));
            std::thread::sleep(left.min(WAIT_AFTER_LAST_REPORT));
            return;
        }
        if deadline.is_some_and(|at| now >= at) {
            return;
        }
        if !state.emulated.fault && native_has_reports(device) {
            return;
        }
        if now - polled_driver >= DRIVER_POLL_INTERVAL {
            polled_driver = now;
            poll_driver(device, state);
        }
        let left = deadline.map_or(POLL_INTERVAL, |at| at.saturating_duration_since(now));
        state.faults.wait(left.min(POLL_INTERVAL));
    }
}

fn native_has_reports(device: &Device) -> bool {
    let mut count = 0;
    device
        .next
        .vkGetDeviceFaultReportsKHR
        // SAFETY: the device is live; a null array queries the count, and a timeout of 0 does not wait.
        .is_some_and(|next| unsafe { next(device.handle, 0, &mut count, std::ptr::null_mut()) } == vk::Result::SUCCESS)
}

/// Observes a loss that the driver reports: the status of any fence returns it.
fn poll_driver(device: &Device, state: &AbortState) {
    let Some(status) = device.next.vkGetFenceStatus else {
        return;
    };
    if let Some(fence) = state.fences.take(device.handle, &device.next) {
        // SAFETY: the fence is the layer's own, of this device.
        let result = unsafe { status(device.handle, fence) };
        state.fences.put_back(device.handle, &device.next, fence);
        if result == vk::Result::ERROR_DEVICE_LOST {
            let _ = device.observe(result, DrainBudget::Poll);
        }
    }
}

/// # Safety
/// `infos` must be null or have `count` elements, whose `sType` and `pNext` are initialised.
unsafe fn take_reports(state: &AbortState, count: &mut u32, infos: *mut FaultInfo) -> vk::Result {
    if infos.is_null() {
        *count = u32::try_from(state.faults.len()).unwrap_or(u32::MAX);
        return match *count {
            0 => vk::Result::TIMEOUT,
            _ => vk::Result::SUCCESS,
        };
    }
    let taken = state.faults.take(*count as usize);
    for (index, report) in taken.reports.iter().enumerate() {
        // SAFETY: at most `count` reports were taken. Only initialised members are read; the others may be uninitialised.
        unsafe {
            let info = infos.add(index);
            info.write(FaultInfo {
                s_type: (*info).s_type,
                p_next: (*info).p_next,
                ..*report
            });
        }
    }
    *count = u32::try_from(taken.reports.len()).unwrap_or(u32::MAX);
    match (taken.has_more, taken.reports.is_empty()) {
        (true, _) => vk::Result::INCOMPLETE,
        (false, true) => vk::Result::TIMEOUT,
        (false, false) => vk::Result::SUCCESS,
    }
}

pub unsafe extern "system" fn debug_info(handle: vk::Device, info: *mut FaultDebugInfo) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live, and `info` and its chain are valid.
        unsafe {
            let (Some(device), false) = (device_of(handle), info.is_null()) else {
                return MISSING;
            };
            let native = || {
                device
                    .next
                    .vkGetDeviceFaultDebugInfoKHR
                    .map_or(MISSING, |next| next(handle, info))
            };
            let Some(state) = &device.state else {
                return native();
            };
            if state.aborted() {
                device.advance(state, DrainBudget::Drain);
            }
            let loss = state.loss.data.get();
            let has_messages = loss.is_some_and(|loss| !loss.message_data.is_empty());
            match state.emulated.fault || (state.emulated.abort && has_messages) {
                true => fill_debug_info(state, loss.unwrap_or(&LossData::default()), info),
                false => native(),
            }
        }
    })
}

/// `vkGetDeviceFaultInfoEXT` of an application that enables that extension too. A driver may only be queried about its own
/// losses (VUID-vkGetDeviceFaultInfoEXT-device-07336), so the layer describes the others.
pub unsafe extern "system" fn info_ext(
    handle: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    info: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `counts` is valid, and `info` is null or valid.
    unsafe {
        forward!(handle, vkGetDeviceFaultInfoEXT, |device, next| {
            let loss = device.state.as_ref().and_then(|state| state.loss.data.get());
            let Some(loss) = loss.filter(|loss| !loss.by_driver && !counts.is_null()) else {
                return next(handle, counts, info);
            };
            (*counts).address_info_count = 0;
            (*counts).vendor_info_count = 0;
            (*counts).vendor_binary_size = 0;
            if !info.is_null() {
                (*info).description = description(&loss.text);
            }
            vk::Result::SUCCESS
        })
    }
}

/// # Safety
/// `info` and its chain must be valid, and every array as long as its size says.
unsafe fn fill_debug_info(state: &AbortState, loss: &LossData, info: *mut FaultDebugInfo) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    // SAFETY: the structures may be written, and the arrays have the sizes that they say (the caller's contract).
    unsafe {
        for messages in nodes((*info).p_next).filter_map(Node::cast::<ShaderAbortMessageInfo>) {
            let (size, data) = ((*messages).message_data_size, (*messages).p_message_data);
            let capacity = usize::try_from(size).unwrap_or(usize::MAX);
            let bytes = loss.message_data.bytes();
            let written = copy(bytes, data.cast(), capacity);
            if written < bytes.len() {
                result = vk::Result::INCOMPLETE;
            }
            (*messages).message_data_size = written as u64;
        }
        if !state.vendor_binary {
            (*info).vendor_binary_size = 0;
            return result;
        }
        let binary = &loss.vendor_binary;
        let (capacity, data) = ((*info).vendor_binary_size as usize, (*info).p_vendor_binary_data);
        if !data.is_null() && capacity < binary.len() {
            // A truncated crash dump cannot be decoded, so nothing is written.
            (*info).vendor_binary_size = 0;
            return ERROR_NOT_ENOUGH_SPACE;
        }
        let written = copy(binary, data.cast(), capacity);
        (*info).vendor_binary_size = u32::try_from(written).unwrap_or(u32::MAX);
    }
    result
}

/// Copies up to `capacity` bytes, and returns how many. If `to` is null, copies nothing and returns how many there are.
///
/// # Safety
/// `to` must be null or have `capacity` bytes.
unsafe fn copy(from: &[u8], to: *mut u8, capacity: usize) -> usize {
    if to.is_null() {
        return from.len();
    }
    let size = from.len().min(capacity);
    // SAFETY: `to` has at least `size` bytes (the caller's contract).
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, size) };
    size
}

#[cfg(test)]
mod tests;
