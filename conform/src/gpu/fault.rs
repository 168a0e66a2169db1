//! The fault queries of a device, called in the ways that applications may call them.

use super::khr::{FaultCommands, FaultDebugInfo, FaultInfo, ShaderAbortMessageInfo};
use super::{Checked, Named, show};
use crate::verdict::{Stop, hold};
use ash::vk;
use std::ptr;

/// Bytes that calls must leave alone hold this.
const UNTOUCHED: u8 = 0xCD;

/// What is left untouched around what a call writes.
const MARGIN: usize = 64;

/// The fault queries of a device. Threads may use them at the same time.
#[derive(Clone, Copy)]
pub struct Fault {
    pub(super) commands: FaultCommands,
}

/// What a filling call did.
pub struct Filled {
    /// What it returned.
    pub result: vk::Result,
    /// The size that it left in the structure.
    pub size: u64,
    /// The buffer.
    pub bytes: Vec<u8>,
    /// Nothing past the buffer was written.
    pub in_bounds: bool,
}

impl Fault {
    /// The number of reports that wait, after at most `timeout` nanoseconds.
    pub fn count(&self, timeout: u64) -> (vk::Result, u32) {
        self.commands.report_count(timeout)
    }

    /// At most `room` reports, after at most `timeout` nanoseconds.
    pub fn take(&self, timeout: u64, room: u32) -> (vk::Result, Vec<FaultInfo>) {
        self.commands.reports(timeout, room)
    }

    /// The same with an array that is larger than `room`, or than what there is: also whether the elements past those
    /// that the call says to have written are as they were.
    pub fn take_watched(&self, timeout: u64, room: u32) -> (vk::Result, u32, bool) {
        let mut infos = vec![FaultInfo::default(); room as usize + 4];
        for info in &mut infos {
            info.flags = u32::from_ne_bytes([UNTOUCHED; 4]);
            info.group_id = u64::from_ne_bytes([UNTOUCHED; 8]);
            info.description.fill(UNTOUCHED.cast_signed());
        }
        let mut count = room;
        // SAFETY: the array has room for more than `count` structures, all initialised.
        let result =
            unsafe { (self.commands.get_reports)(self.commands.device, timeout, &raw mut count, infos.as_mut_ptr()) };
        let untouched = infos.iter().skip(count as usize).all(|info| {
            info.flags == u32::from_ne_bytes([UNTOUCHED; 4])
                && info.group_id == u64::from_ne_bytes([UNTOUCHED; 8])
                && info.description.iter().all(|&c| c == UNTOUCHED.cast_signed())
        });
        (result, count, untouched)
    }

    /// The sizing call for messages.
    pub fn message_size(&self) -> (vk::Result, u64) {
        self.commands.message_size()
    }

    /// The filling call for messages, with room for that many bytes.
    pub fn fill(&self, room: usize) -> Filled {
        let mut bytes = vec![UNTOUCHED; room + MARGIN];
        let (result, size) = match bytes.get_mut(..room) {
            Some(room) => self.commands.messages_into(room),
            None => (vk::Result::ERROR_OUT_OF_HOST_MEMORY, 0),
        };
        let in_bounds = bytes.iter().skip(room).all(|&byte| byte == UNTOUCHED);
        bytes.truncate(room);
        Filled {
            result,
            size,
            bytes,
            in_bounds,
        }
    }

    /// All messages, split into payloads. Fails where the framing is not as the specification has it.
    pub fn payloads(&self) -> Checked<Vec<Vec<u8>>> {
        let (result, size) = self.message_size();
        result
            .result()
            .named("vkGetDeviceFaultDebugInfoKHR, asked for the size,")?;
        let Some(room) = usize::try_from(size).ok().filter(|&size| size <= 1 << 30) else {
            return Err(Stop::Fail(format!("messageDataSize is {size}")));
        };
        let filled = self.fill(room);
        hold!(
            filled.result == vk::Result::SUCCESS,
            "vkGetDeviceFaultDebugInfoKHR, given room for the {size} bytes that it asked for, returned {}",
            show(filled.result)
        );
        hold!(filled.in_bounds, "bytes past the buffer of {size} were written");
        split(&filled.bytes).map_err(Stop::Fail)
    }

    /// A query with a buffer for the vendor's binary of a device on which that feature is off: the result, the size
    /// afterwards, whether the buffer is as it was.
    pub fn vendor_binary(&self) -> (vk::Result, u32, bool) {
        let mut bytes = [UNTOUCHED; MARGIN];
        let mut messages = ShaderAbortMessageInfo::sizing();
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        info.vendor_binary_size = MARGIN as u32;
        info.p_vendor_binary_data = bytes.as_mut_ptr().cast();
        // SAFETY: the structures and the buffer, which is as large as it says, outlive the call.
        let result = unsafe { (self.commands.get_debug_info)(self.commands.device, &raw mut info) };
        (result, info.vendor_binary_size, bytes == [UNTOUCHED; MARGIN])
    }

    /// A query without the structure for messages.
    pub fn bare(&self) -> vk::Result {
        let mut info = FaultDebugInfo::with_messages(&mut ShaderAbortMessageInfo::sizing());
        info.p_next = ptr::null_mut();
        // SAFETY: the structure outlives the call and chains to nothing.
        unsafe { (self.commands.get_debug_info)(self.commands.device, &raw mut info) }
    }
}

/// Splits message data: 64-bit sizes in host order, each followed by as many bytes, each pair at a multiple of 8.
pub fn split(data: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut payloads = Vec::new();
    let mut at = 0usize;
    while at < data.len() {
        let rest = data.get(at..).unwrap_or_default();
        let Some((size, rest)) = rest.split_first_chunk::<8>() else {
            return Err(format!("{} bytes at offset {at} are too few for a size", rest.len()));
        };
        let size = u64::from_ne_bytes(*size);
        let payload = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        let Some(payload) = payload else {
            return Err(format!(
                "the size at offset {at} is {size}, and {} bytes follow",
                rest.len()
            ));
        };
        payloads.push(payload.to_vec());
        at = (at + 8 + payload.len()).next_multiple_of(8);
    }
    Ok(payloads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_multiples_of_eight() {
        let pair = |size: u64, bytes: &[u8]| [&size.to_ne_bytes(), bytes].concat();
        assert_eq!(split(&[]), Ok(vec![]));
        let two = [pair(1, &[5, 0, 0, 0, 0, 0, 0, 0]), pair(0, &[])].concat();
        assert_eq!(split(&two), Ok(vec![vec![5], vec![]]));
        assert_eq!(split(&pair(3, &[1, 2, 3])), Ok(vec![vec![1, 2, 3]]));
        assert!(split(&pair(3, &[1, 2])).is_err());
        assert!(split(&pair(u64::MAX, &[1, 2])).is_err());
        assert!(split(&[0; 7]).is_err());
        // A payload that is not padded: the next size is not where it has to be.
        assert!(split(&[pair(1, &[5]), pair(1, &[6])].concat()).is_err());
    }
}
