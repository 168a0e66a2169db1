//! The memory that shaders write their messages to: one arena per device, mapped as long as the device lives.
//!
//! Its address is a constant in the shaders' code and so part of the keys of pipeline caches. It should be the same in
//! every run. In order of preference:
//! 1. on CPU drivers, whose device addresses are host addresses: host memory at a fixed address (`create`);
//! 2. `bufferDeviceAddressCaptureReplay`: the address of an earlier run (`replay`);
//! 3. an address of the driver's choice, with a warning.
//!
//! `memory_type` chooses the memory.

mod address_cache;
mod buffer_builder;
mod capture_address;
mod constant_memory;
mod create;
mod mapped_buffer;
mod mapped_words;
pub mod memory_type;
mod parts;
mod pending_arena;
pub mod readback;
mod replay;
mod setup;

#[cfg(test)]
pub mod testing {
    pub use super::mapped_words::testing::mapped_words;
}

pub use create::create_transfer_memory;
pub use mapped_buffer::MappedBuffer;
pub use setup::{AddressApi, ArenaSetup, CreateError, USAGE};

use crate::loader::dispatch::DeviceTable;
use address_cache::AddressFile;
use ash::vk;
pub use constant_memory::{ConstantMemory, PlacedData};
pub use mapped_words::MappedWords;
use parts::{ByPart, Place};
pub use parts::{Part, PartInputs, PartSizes};
use std::fmt;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_instrument as instrument;
use vkabort_record::layout::{ABORTED, ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, TICKS_OFFSET, header};

/// An arena.
pub struct Arena {
    /// A control block, then the records.
    records: MappedBuffer,
    /// A separate control block, or why the one before the records is used.
    control: Result<MappedBuffer, &'static str>,
    /// Memory for constant data.
    constants: Option<ConstantMemory>,
    /// The other parts, by [`Part`], until they are taken.
    parts: ByPart<Option<MappedWords>>,
    /// Size of the control block and the records.
    bytes: u32,
    source: AddressSource,
    /// Locked while the arena has the address in it.
    address_file: Option<AddressFile>,
}

// SAFETY: the buffers belong to the arena, and all threads access their memory as atomics.
unsafe impl Send for Arena {}
// SAFETY: as for `Send`; no method that takes `&self` changes another member.
unsafe impl Sync for Arena {}

/// A control block's words.
type ControlWords = [AtomicU32; CONTROL_BYTES as usize / 4];

/// Index of CURSOR in a control block.
const CURSOR_WORD: usize = CURSOR_OFFSET as usize / 4;
/// Index of TICKS in a control block.
const TICKS_WORD: usize = TICKS_OFFSET as usize / 4;
/// Index of ABORTED in a control block.
const ABORTED_WORD: usize = ABORTED_OFFSET as usize / 4;

impl Arena {
    /// An arena in buffers of the sizes in `setup`.
    fn new(
        setup: &ArenaSetup<'_>,
        records: MappedBuffer,
        control: Result<MappedBuffer, &'static str>,
        source: AddressSource,
        address_file: Option<AddressFile>,
    ) -> Self {
        let memory = |place: Place| {
            let buffer = match place.follows_control {
                true => control.as_ref().ok()?,
                false => &records,
            };
            // SAFETY: the buffer is as large as the layout says and mapped as long as the arena exists, and nothing else uses this
            // part of it.
            Some(unsafe {
                let base = buffer.base.add(place.offset as usize);
                MappedWords::new(base, buffer.address + u64::from(place.offset), place.bytes)
            })
        };
        let mut parts = setup.layout().places.map(|place| memory(place?));
        Self {
            constants: parts[Part::ConstantData as usize].take().map(ConstantMemory::new),
            parts,
            records,
            control,
            bytes: setup.bytes,
            source,
            address_file,
        }
    }

    /// The addresses for the rewriter.
    pub fn options(&self) -> instrument::Arena {
        let arena = instrument::Arena::at(self.records.address, self.bytes);
        match &self.control {
            Ok(control) => arena.with_control(control.address),
            Err(_) => arena,
        }
    }

    /// Memory for constant data.
    pub fn constants(&self) -> Option<&ConstantMemory> {
        self.constants.as_ref()
    }

    /// Takes the memory of a part, which must not be used once the arena is destroyed. New memory of zeroed parts is zero.
    pub fn take(&mut self, part: Part) -> Option<MappedWords> {
        self.parts[part as usize].take()
    }

    /// Size in bytes, including the control block before the records.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Describes the arena for the log: subjects and texts.
    pub fn describe(&self) -> [(&'static str, String); 3] {
        let records = &self.records;
        let messages = format!("{} bytes at {:#x} in {records}", self.bytes, records.address);
        let control = match &self.control {
            Ok(control) => format!("{:#x} in {control}", control.address),
            Err(reason) => format!("before the messages: {reason}"),
        };
        [
            ("message memory", messages),
            ("message address", self.source.to_string()),
            ("control block", control),
        ]
    }

    /// A warning if the address may change between runs.
    pub fn address_warning(&self) -> Option<String> {
        let AddressSource::Driver(reason) = &self.source else {
            return None;
        };
        Some(format!(
            "the message address may differ in the next run ({reason}): pipeline caches of shaders with aborts will not be \
             reused"
        ))
    }

    /// The control block before the records, and the records. The GPU may write them at any time.
    fn words(&self) -> &[AtomicU32] {
        // SAFETY: the buffer has `bytes` mapped bytes, aligned to 16, as long as the arena exists, and constant data is behind
        // them. Shaders and host access them as whole words.
        unsafe { slice::from_raw_parts(self.records.base.as_ptr().cast(), self.bytes as usize / 4) }
    }

    /// The control block in use.
    fn control(&self) -> &ControlWords {
        Self::control_of(self.control.as_ref().unwrap_or(&self.records))
    }

    fn control_of(buffer: &MappedBuffer) -> &ControlWords {
        // SAFETY: each of an arena's buffers begins with a control block, which is mapped and aligned to 16 as long as the arena
        // exists. Shaders and host access it as whole words.
        unsafe { buffer.base.cast::<ControlWords>().as_ref() }
    }

    /// Whether some invocation has aborted. Reads two words of the buffer of records, which is in host memory if there is any:
    /// where CURSOR is in another buffer, the first record, which the first abort writes, takes its place.
    #[inline]
    pub fn aborted(&self) -> bool {
        let control = Self::control_of(&self.records);
        let first = match self.control {
            Ok(_) => self.words().get(control.len() + header::LENGTH as usize),
            Err(_) => control.get(CURSOR_WORD),
        };
        // Lost device memory reads as zeros or ones.
        let is_set = |word: &AtomicU32| !matches!(word.load(Ordering::Acquire), 0 | u32::MAX);
        first.is_some_and(is_set) || control[ABORTED_WORD].load(Ordering::Acquire) == ABORTED
    }

    /// The word TICKS.
    pub fn ticks(&self) -> &AtomicU32 {
        &self.control()[TICKS_WORD]
    }

    /// Ends the loops of invocations that hang because of `trap = hang`.
    pub fn end_hang(&self) {
        self.control()[ABORTED_WORD].store(0, Ordering::Release);
    }

    /// Frees the memory and releases the address for other devices.
    ///
    /// # Safety
    /// All submitted work that may access the arena has completed, and none is submitted afterwards.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        // SAFETY: the caller guarantees that the GPU no longer accesses the buffers.
        unsafe {
            self.records.destroy(device, next);
            if let Ok(control) = self.control {
                control.destroy(device, next);
            }
        }
        // Unlocked only after the address is free again.
        drop(self.address_file);
    }

    /// Leaks the memory, because the GPU may still write to it.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

/// The source of an arena's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// Imported host memory at a fixed address.
    Import,
    /// Host memory at a fixed address, on a driver whose shaders use host addresses.
    Host,
    /// The address of an earlier run, saved in this file.
    Replay(String),
    /// A new address, saved in this file for later runs.
    Capture(String),
    /// An address of the driver's choice, for this reason. It may differ between runs.
    Driver(String),
}

impl fmt::Display for AddressSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Import => f.write_str("fixed (imported host memory)"),
            Self::Host => f.write_str("fixed (host memory)"),
            Self::Replay(file) => write!(f, "same as in an earlier run, from {file}"),
            Self::Capture(file) => write!(f, "new, saved for later runs in {file}"),
            Self::Driver(reason) => write!(f, "chosen by the driver: {reason}"),
        }
    }
}
