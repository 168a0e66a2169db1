//! The fault queries of a device, with guards that detect the bytes that a call writes.

use crate::{message_data, show};
use anyhow::{Context, Result, ensure};
use ash::vk;
use std::ffi::c_char;
use std::ops::Deref;
use std::ptr;
use vk_ext::{FaultCommands, FaultDebugInfo, FaultInfo, ShaderAbortMessageInfo};

/// Fill value of bytes that calls must not write.
const UNTOUCHED: u8 = 0xCD;

/// Number of guard bytes after a buffer.
const MARGIN: usize = 64;

/// The fault queries of a device. Several threads may use them at the same time.
#[derive(Clone, Copy)]
pub struct FaultQueries(pub(crate) FaultCommands);

impl Deref for FaultQueries {
    type Target = FaultCommands;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Outcome of a call for messages with a buffer.
pub struct Filled {
    /// The result.
    pub result: vk::Result,
    /// `messageDataSize` after the call.
    pub size: u64,
    /// The buffer.
    pub bytes: Vec<u8>,
    /// Whether the call wrote nothing past the buffer.
    pub in_bounds: bool,
}

impl FaultQueries {
    /// [`FaultCommands::reports`] with an array larger than `room`. Returns the result, the count, and whether the elements past the
    /// count are unchanged.
    pub fn take_guarded(&self, timeout: u64, room: u32) -> (vk::Result, u32, bool) {
        let mut infos = vec![FaultInfo::default(); room as usize + 4];
        for info in &mut infos {
            info.flags = u32::from_ne_bytes([UNTOUCHED; 4]);
            info.group_id = u64::from_ne_bytes([UNTOUCHED; 8]);
            info.description.fill(c_char::from_ne_bytes([UNTOUCHED]));
        }
        let mut count = room;
        // SAFETY: the array has more than `count` structures, all initialised.
        let result = unsafe { (self.get_reports)(self.device, timeout, &raw mut count, infos.as_mut_ptr()) };
        let untouched = infos.iter().skip(count as usize).all(|info| {
            info.flags == u32::from_ne_bytes([UNTOUCHED; 4])
                && info.group_id == u64::from_ne_bytes([UNTOUCHED; 8])
                && info
                    .description
                    .iter()
                    .all(|&c| c == c_char::from_ne_bytes([UNTOUCHED]))
        });
        (result, count, untouched)
    }

    /// The call for messages with a buffer of `room` bytes.
    pub fn fill(&self, room: usize) -> Filled {
        let mut bytes = vec![UNTOUCHED; room + MARGIN];
        let (result, size) = match bytes.get_mut(..room) {
            Some(room) => self.messages_into(room),
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

    /// Reads all messages and splits them into payloads.
    ///
    /// # Errors
    ///
    /// A call fails, or the framing violates the specification.
    pub fn payloads(&self) -> Result<Vec<Vec<u8>>> {
        let (result, size) = self.message_size();
        let sizing = "the sizing call of vkGetDeviceFaultDebugInfoKHR";
        ensure!(result == vk::Result::SUCCESS, "{sizing} returned {}", show(result));
        let room = usize::try_from(size).ok().filter(|&size| size <= 1 << 30);
        let room = room.with_context(|| format!("messageDataSize is {size}"))?;
        let filled = self.fill(room);
        ensure!(
            filled.result == vk::Result::SUCCESS,
            "vkGetDeviceFaultDebugInfoKHR with a buffer of the requested {size} bytes returned {}",
            show(filled.result)
        );
        ensure!(filled.in_bounds, "the call wrote past the buffer of {size} bytes");
        message_data::split(&filled.bytes)
    }

    /// A query with a buffer for the vendor binary, whose feature is disabled. Returns the result, `vendorBinarySize`
    /// after the call, and whether the buffer is unchanged.
    pub fn vendor_binary(&self) -> (vk::Result, u32, bool) {
        let mut bytes = [UNTOUCHED; MARGIN];
        let mut messages = ShaderAbortMessageInfo::sizing();
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        info.vendor_binary_size = MARGIN as u32;
        info.p_vendor_binary_data = bytes.as_mut_ptr().cast();
        // SAFETY: the structures and the buffer of `vendor_binary_size` bytes outlive the call.
        let result = unsafe { (self.get_debug_info)(self.device, &raw mut info) };
        (result, info.vendor_binary_size, bytes == [UNTOUCHED; MARGIN])
    }

    /// A query without `VkDeviceFaultShaderAbortMessageInfoKHR`.
    pub fn bare(&self) -> vk::Result {
        let mut info = FaultDebugInfo::with_messages(&mut ShaderAbortMessageInfo::sizing());
        info.p_next = ptr::null_mut();
        // SAFETY: the structure outlives the call, and its chain is empty.
        unsafe { (self.get_debug_info)(self.device, &raw mut info) }
    }
}
