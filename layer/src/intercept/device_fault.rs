//! `VK_KHR_device_fault`.

use super::{MISSING, command};
use crate::device::state::{AbortState, Device, Outcome};
use crate::device_loss::DrainBudget;
use crate::loader::chain::for_each_output;
use crate::loader::ffi::{ERROR_NOT_ENOUGH_SPACE, FaultDebugInfo, FaultInfo, ShaderAbortMessageInfo, stype};
use crate::loader::registry::device_of;
use crate::report::fault_info::description;
use ash::vk;
use std::slice;
use std::time::{Duration, Instant};

/// How often a blocked call looks at the arena.
const SLICE: Duration = Duration::from_micros(500);
/// How often it asks the driver whether it has lost the device by itself.
const DRIVER_SLICE: Duration = Duration::from_millis(20);
/// What a call waits at most once every report was handed out. None can come any more, so a wait for ever must not be
/// one; and a program that asks in a loop must not use up a processor.
const AFTER_THE_LAST: Duration = Duration::from_millis(10);

pub unsafe extern "system" fn reports(
    device: vk::Device,
    timeout: u64,
    count: *mut u32,
    infos: *mut FaultInfo,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device, and a valid count by the API's rules.
        let (known, count) = unsafe { (device_of(device), count.as_mut()) };
        let (Some(known), Some(count)) = (known, count) else {
            return MISSING;
        };
        let native = known.next.vkGetDeviceFaultReportsKHR;
        let Some(state) = &known.state else {
            // SAFETY: forwarded as it came.
            return native.map_or(MISSING, |next| unsafe { next(device, timeout, count, infos) });
        };
        if state.emulated.fault || state.emulated.abort {
            wait_for_reports(known, state, timeout);
            if state.faults.len() > 0 || state.emulated.fault {
                // SAFETY: null or as many elements as the count says.
                return unsafe { hand_out(state, count, infos) };
            }
        }
        // The driver has the extension itself, and nothing of ours is to be told: what time is left was spent waiting.
        let left = if state.emulated.abort { 0 } else { timeout };
        // SAFETY: forwarded as it came, but for the timeout.
        native.map_or(MISSING, |next| unsafe { next(device, left, count, infos) })
    })
}

/// Blocks until there is a report of ours, or the driver's, or the time is over.
fn wait_for_reports(device: &Device, state: &AbortState, timeout: u64) {
    let began = Instant::now();
    let deadline = began
        .checked_add(Duration::from_nanos(timeout))
        .filter(|_| timeout != u64::MAX);
    let mut asked_driver = began;
    loop {
        let now = Instant::now();
        if state.aborted() && !state.loss.is_lost() {
            // A look costs no time; more only if the caller has it.
            let budget = deadline.map_or(DrainBudget::Drain, |at| DrainBudget::Until(at.max(now)));
            device.advance(state, budget);
        }
        if state.faults.len() > 0 {
            return;
        }
        let now = Instant::now();
        if state.loss.is_lost() {
            let left = deadline.map_or(AFTER_THE_LAST, |at| at.saturating_duration_since(now));
            std::thread::sleep(left.min(AFTER_THE_LAST));
            return;
        }
        if deadline.is_some_and(|at| now >= at) {
            return;
        }
        if !state.emulated.fault && native_has_reports(device) {
            return;
        }
        if now - asked_driver >= DRIVER_SLICE {
            asked_driver = now;
            look_at_driver(device, state);
        }
        let left = deadline.map_or(SLICE, |at| at.saturating_duration_since(now));
        state.faults.wait(left.min(SLICE));
    }
}

fn native_has_reports(device: &Device) -> bool {
    let mut count = 0;
    device
        .next
        .vkGetDeviceFaultReportsKHR
        // SAFETY: asks for the count, without waiting.
        .is_some_and(|next| unsafe { next(device.handle, 0, &mut count, std::ptr::null_mut()) } == vk::Result::SUCCESS)
}

/// A loss of the driver's own shows in the status of any fence.
fn look_at_driver(device: &Device, state: &AbortState) {
    let Some(status) = device.next.vkGetFenceStatus else {
        return;
    };
    if let Some(fence) = state.fences.take(device.handle, &device.next) {
        // SAFETY: a fence of ours on our device.
        let result = unsafe { status(device.handle, fence) };
        state.fences.put_back(device.handle, &device.next, fence);
        if result == vk::Result::ERROR_DEVICE_LOST {
            let _ = device.observe(result, DrainBudget::Poll);
        }
    }
}

/// # Safety
/// `infos` must be null or have `count` elements.
unsafe fn hand_out(state: &AbortState, count: &mut u32, infos: *mut FaultInfo) -> vk::Result {
    if infos.is_null() {
        *count = u32::try_from(state.faults.len()).unwrap_or(u32::MAX);
        return if *count == 0 {
            vk::Result::TIMEOUT
        } else {
            vk::Result::SUCCESS
        };
    }
    let taken = state.faults.take(*count as usize);
    // SAFETY: the caller vouches for the elements; at most `count` were taken.
    let room = unsafe { slice::from_raw_parts_mut(infos, taken.reports.len()) };
    for (to, from) in room.iter_mut().zip(&taken.reports) {
        *to = FaultInfo {
            s_type: to.s_type,
            next: to.next,
            ..*from
        };
    }
    *count = u32::try_from(taken.reports.len()).unwrap_or(u32::MAX);
    match (taken.has_more, taken.reports.is_empty()) {
        (true, _) => vk::Result::INCOMPLETE,
        (false, true) => vk::Result::TIMEOUT,
        (false, false) => vk::Result::SUCCESS,
    }
}

pub unsafe extern "system" fn debug_info(device: vk::Device, info: *mut FaultDebugInfo) -> vk::Result {
    command(|| {
        // SAFETY: a valid device, and a valid structure by the API's rules.
        let (known, info) = unsafe { (device_of(device), info.as_mut()) };
        let (Some(known), Some(info)) = (known, info) else {
            return MISSING;
        };
        let native = known.next.vkGetDeviceFaultDebugInfoKHR;
        let Some(state) = &known.state else {
            // SAFETY: forwarded as it came.
            return native.map_or(MISSING, |next| unsafe { next(device, info) });
        };
        if state.aborted() {
            known.advance(state, DrainBudget::Drain);
        }
        let ours = state.loss.outcome().filter(|outcome| !outcome.message_data.is_empty());
        if !state.emulated.fault && (ours.is_none() || !state.emulated.abort) {
            // SAFETY: forwarded as it came.
            return native.map_or(MISSING, |next| unsafe { next(device, info) });
        }
        let nothing = Outcome::default();
        let outcome = state.loss.outcome().unwrap_or(&nothing);
        // SAFETY: the structures and their arrays are valid by the API's rules.
        unsafe { answer(state, outcome, info) }
    })
}

/// `vkGetDeviceFaultInfoEXT` of an application that enabled that extension too. The driver may only be asked about losses
/// that it knows of; for the others there is a description and nothing else.
pub unsafe extern "system" fn info_ext(
    device: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    info: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device, and valid structures by the API's rules.
        let (known, counts_given, info_given) = unsafe { (device_of(device), counts.as_mut(), info.as_mut()) };
        let Some((known, next)) = known.and_then(|d| Some((d, d.next.vkGetDeviceFaultInfoEXT?))) else {
            return MISSING;
        };
        let ours = known.state.as_ref().and_then(|state| state.loss.outcome());
        match (ours, counts_given) {
            (Some(outcome), Some(counts)) if !outcome.by_driver => {
                counts.address_info_count = 0;
                counts.vendor_info_count = 0;
                counts.vendor_binary_size = 0;
                if let Some(info) = info_given {
                    info.description = description(&outcome.text);
                }
                vk::Result::SUCCESS
            }
            // SAFETY: forwarded as it came.
            _ => unsafe { next(device, counts, info) },
        }
    })
}

/// # Safety
/// `info` and its chain must be valid, and every array as long as its size says.
unsafe fn answer(state: &AbortState, outcome: &Outcome, info: &mut FaultDebugInfo) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    // SAFETY: the caller vouches for the chain; the types say what the nodes are.
    unsafe {
        for_each_output(info.next, |s_type, node| {
            if s_type == stype::SHADER_ABORT_MESSAGE_INFO {
                let node = &mut *node.cast::<ShaderAbortMessageInfo>();
                let room = usize::try_from(node.message_data_size).unwrap_or(usize::MAX);
                let written = copy(&outcome.message_data, node.message_data.cast(), room);
                if !node.message_data.is_null() && written < outcome.message_data.len() {
                    result = vk::Result::INCOMPLETE;
                }
                node.message_data_size = written as u64;
            }
        });
        if !state.vendor_binary {
            info.vendor_binary_size = 0;
            return result;
        }
        let binary = &outcome.vendor_binary;
        if !info.vendor_binary_data.is_null() && (info.vendor_binary_size as usize) < binary.len() {
            // A part of a crash dump is of no use to anyone.
            info.vendor_binary_size = 0;
            return ERROR_NOT_ENOUGH_SPACE;
        }
        let written = copy(binary, info.vendor_binary_data.cast(), info.vendor_binary_size as usize);
        info.vendor_binary_size = u32::try_from(written).unwrap_or(u32::MAX);
    }
    result
}

/// Copies what fits, or with nowhere to copy to says how much there is.
///
/// # Safety
/// `to` must be null or have `room` bytes.
unsafe fn copy(from: &[u8], to: *mut u8, room: usize) -> usize {
    if to.is_null() {
        return from.len();
    }
    let size = from.len().min(room);
    // SAFETY: the caller vouches for the room.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, size) };
    size
}

#[cfg(test)]
mod tests;
