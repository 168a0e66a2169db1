//! `VkQueryPool`.

use crate::device_loss::DrainBudget;
use crate::report;
use ash::vk;
use std::ffi::c_void;
use std::time::Duration;

/// First pause between reads of results that are waited for. Doubled up to [`LONGEST_PAUSE`], since most are available soon.
const FIRST_PAUSE: Duration = Duration::from_micros(10);
/// Longest pause between reads of results that are waited for.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Replaces `VK_QUERY_RESULT_WAIT_BIT`, a wait that cannot be interrupted, by repeated reads without it. They also omit
/// `VK_QUERY_RESULT_PARTIAL_BIT`, which has no effect together with the wait: only without it do unavailable results return
/// `VK_NOT_READY`.
pub unsafe extern "system" fn results(
    handle: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    // SAFETY: valid usage: device and pool are live, and `data` has room for the results; all arguments but the flags are passed on.
    unsafe {
        forward!(handle, vkGetQueryPoolResults, |device, next| {
            let read = |flags| next(handle, pool, first, count, size, data, stride, flags);
            let waits = flags.contains(vk::QueryResultFlags::WAIT);
            let Some((state, _)) = device.arena().filter(|_| waits) else {
                return device.checked(DrainBudget::Poll, || read(flags));
            };
            if device.is_lost() {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            let once = flags & !(vk::QueryResultFlags::WAIT | vk::QueryResultFlags::PARTIAL);
            let mut pause = FIRST_PAUSE;
            loop {
                let result = read(once);
                if result != vk::Result::NOT_READY {
                    return device.observe(result, DrainBudget::Drain);
                }
                report::deliver_prints(device, state);
                if state.aborted() && device.advance(state, DrainBudget::Drain) {
                    return vk::Result::ERROR_DEVICE_LOST;
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        })
    }
}
