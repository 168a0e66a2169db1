//! `VkQueryPool`.

use super::{MISSING, command};
use crate::device_loss::DrainBudget;
use crate::loader::registry::device_of;
use ash::vk;
use std::ffi::c_void;
use std::time::Duration;

/// Between looks at queries that are waited for: short at first, since most are ready soon.
const FIRST_PAUSE: Duration = Duration::from_micros(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// A read with `VK_QUERY_RESULT_WAIT_BIT` cannot be interrupted in the driver, so it becomes reads without it until all
/// queries are available. `VK_QUERY_RESULT_PARTIAL_BIT` goes too: it has no meaning where results are waited for, and
/// without it `VK_NOT_READY` tells whether they are there.
pub unsafe extern "system" fn results(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let Some((known, next)) = unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkGetQueryPoolResults?)))
        else {
            return MISSING;
        };
        // SAFETY: forwarded as it came, but for the flags.
        let read = |flags| unsafe { next(device, pool, first, count, size, data, stride, flags) };
        let waits = flags.contains(vk::QueryResultFlags::WAIT);
        let Some((state, _)) = known.arena().filter(|_| waits) else {
            return known.checked(DrainBudget::Poll, || read(flags));
        };
        if known.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let once = flags & !(vk::QueryResultFlags::WAIT | vk::QueryResultFlags::PARTIAL);
        let mut pause = FIRST_PAUSE;
        loop {
            let result = read(once);
            if result != vk::Result::NOT_READY {
                return known.observe(result, DrainBudget::Drain);
            }
            if state.aborted() && known.advance(state, DrainBudget::Drain) {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    })
}
