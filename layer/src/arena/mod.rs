//! The memory that shaders write their messages to: one arena per device, mapped as long as the device lives.
//!
//! Its address is a constant in the shaders' code and so part of the keys of pipeline caches. It should be the same in
//! every run. In order of preference:
//! 1. on CPU drivers, whose device addresses are host addresses: host memory at a fixed address (`fixed_address`);
//! 2. `bufferDeviceAddressCaptureReplay`: the address of an earlier run (`replay`);
//! 3. an address of the driver's choice, with a warning.
//!
//! `memory_type` chooses the memory.

mod address_cache;
mod address_request;
mod address_slot;
mod address_source;
mod buffer_builder;
mod capture_address;
mod constant_memory;
mod create;
mod error;
mod fixed_address;
mod fixed_mapping;
mod mapped_buffer;
pub mod memory_type;
mod pending_arena;
pub mod readback;
mod replay;
mod setup;

pub use setup::{AddressApi, ArenaSetup, USAGE};

use crate::loader::dispatch::DeviceTable;
use address_cache::AddressFile;
use address_source::AddressSource;
use ash::vk;
pub use constant_memory::{ConstantMemory, PlacedData};
use mapped_buffer::MappedBuffer;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_instrument as instrument;
use vkabort_record::layout::{ABORTED, ABORTED_OFFSET};

/// An arena.
pub struct Arena {
    /// A control block, then the records.
    records: MappedBuffer,
    /// A separate control block, or why the one before the records is used.
    control: Result<MappedBuffer, &'static str>,
    /// Memory for constant data, behind the records.
    constants: Option<ConstantMemory>,
    /// Size of the control block and the records.
    bytes: u32,
    source: AddressSource,
    /// Locked while the arena has the address in it.
    address_file: Option<AddressFile>,
}

// SAFETY: the layer accesses the mapped memory only by atomics and volatile reads, except while the GPU is idle.
unsafe impl Send for Arena {}
// SAFETY: all methods that take `&self` access the memory as described above.
unsafe impl Sync for Arena {}

impl Arena {
    /// An arena in buffers of the sizes in `setup`.
    fn new(
        setup: &ArenaSetup<'_>,
        records: MappedBuffer,
        control: Result<MappedBuffer, &'static str>,
        source: AddressSource,
        address_file: Option<AddressFile>,
    ) -> Self {
        let constants = setup.constants_start().map(|start| {
            // SAFETY: the buffer is mapped as long as the arena exists, and this part of it is used only here.
            unsafe {
                let base = records.base.add(start as usize);
                ConstantMemory::new(base, records.address + u64::from(start), setup.constant_bytes)
            }
        });
        Self {
            records,
            control,
            constants,
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

    fn base(&self) -> NonNull<u8> {
        self.records.base
    }

    /// The control block in use.
    fn control(&self) -> NonNull<u8> {
        self.control.as_ref().map_or(self.records.base, |control| control.base)
    }

    /// Whether some invocation has aborted. Reads the word before the records, which is in host memory if there is any.
    #[inline]
    pub fn aborted(&self) -> bool {
        // SAFETY: the word is within the mapped memory and aligned to 4, and the GPU writes it as a whole.
        let aborted = unsafe { AtomicU32::from_ptr(self.base().as_ptr().add(ABORTED_OFFSET as usize).cast()) };
        // Compared with the exact value, since lost device memory reads as zeros or ones.
        aborted.load(Ordering::Acquire) == ABORTED
    }

    /// Ends the loops of invocations that hang because of `trap = hang`.
    pub fn end_hang(&self) {
        // SAFETY: the word is within the mapped control block and aligned to 4, and the GPU accesses it as a whole.
        let aborted = unsafe { AtomicU32::from_ptr(self.control().as_ptr().add(ABORTED_OFFSET as usize).cast()) };
        aborted.store(0, Ordering::Release);
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
