//! The memory that shaders write their messages into: one arena per device, mapped for its whole life, at an address that is
//! the same in every run wherever that is possible, since it stands in the shaders' code and so in pipeline caches.
//!
//! In this order: on CPU drivers, whose device addresses are host addresses, host memory mapped at a fixed place, imported
//! where the driver takes it; elsewhere `bufferDeviceAddressCaptureReplay`, asking for the address that an earlier run was given; else
//! whatever the driver gives. Which memory it is: [`memory`].

mod address_cache;
mod buffer_builder;
mod capture_address;
#[cfg(unix)]
mod host;
mod lock;
pub mod memory;
pub mod readback;
mod replay;

use crate::device::state::PhysicalDevice;
use crate::loader::dispatch::DeviceTable;
use crate::report::log::{Level, Log};
use ash::vk::{self, MemoryPropertyFlags as Property};
use buffer_builder::{Block, Extra, PendingBuffer, Refused};
use memory::MemoryPreference;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_instrument as instrument;
use vkabort_record::layout::{ABORTED, ABORTED_OFFSET, CONTROL_BYTES};

/// What the arena is used as.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw() | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// Where an arena's address comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Host memory at a fixed place, imported.
    Import,
    /// Host memory at a fixed place, on a driver whose shaders use host addresses anyway.
    Host,
    /// The opaque address that an earlier run was given; the file that kept it.
    Replay(String),
    /// An opaque address that later runs will ask for; the file that keeps it.
    Capture(String),
    /// Whatever the driver gave, and why: caches may not match between runs.
    Driver(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Import => f.write_str("a fixed address, imported"),
            Self::Host => f.write_str("a fixed address"),
            Self::Replay(file) => write!(f, "the address of an earlier run, kept in {file}"),
            Self::Capture(file) => write!(f, "an address that later runs will ask for, kept in {file}"),
            Self::Driver(why) => write!(f, "an address of the driver's choice: {why}"),
        }
    }
}

/// Which function gives buffer addresses on this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressApi {
    /// Vulkan 1.2 or `VK_KHR_buffer_device_address`.
    Khr,
    /// `VK_EXT_buffer_device_address`, which the application enabled itself and which excludes the other.
    Ext,
}

/// What an arena is made from.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The new device.
    pub device: vk::Device,
    /// The next layer's functions.
    pub next: &'a DeviceTable,
    /// Its physical device.
    pub physical: &'a PhysicalDevice,
    /// Its memory types.
    pub types: &'a vk::PhysicalDeviceMemoryProperties,
    /// Which of them are wanted.
    pub preference: MemoryPreference,
    /// Queue families that the device has queues of.
    pub families: &'a [u32],
    /// Bytes of the arena.
    pub bytes: u32,
    /// How to ask for the address.
    pub api: AddressApi,
    /// `bufferDeviceAddressCaptureReplay` is on.
    pub capture_replay: bool,
    /// `VK_EXT_external_memory_host` is on.
    pub import: bool,
    /// The process has no other device.
    pub alone: bool,
    /// Where to say what is done without.
    pub log: &'a Log,
}

/// An arena.
pub struct Arena {
    /// A control block and the records.
    records: Block,
    /// The control block in use, if it is not that one.
    control: Option<Block>,
    /// Why it is that one, if it is.
    why_before: &'static str,
    bytes: u32,
    source: Source,
    #[cfg(unix)]
    host: Vec<host::Mapping>,
    kept: Option<address_cache::AddressFile>,
}

// SAFETY: the memory is shared with the GPU anyway: all access goes through atomics and volatile copies.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Makes an arena, zeroed.
    ///
    /// # Errors
    /// What could not be made, in words.
    pub fn create(setup: &Setup<'_>) -> Result<Self, String> {
        #[cfg(unix)]
        if setup.physical.cpu
            && let Some(arena) = host::create(setup)
        {
            return Ok(arena);
        }
        let preference = memory::settle(setup.types, &setup.preference, setup.log);
        let setup = &Setup { preference, ..*setup };
        let failed = match Self::at_best_address(setup) {
            Ok(arena) => return Ok(arena),
            Err(failed) => failed.reason,
        };
        let auto = MemoryPreference {
            memory: crate::settings::Memory::Auto,
            ..preference
        };
        if auto == preference {
            return Err(failed);
        }
        // There is such memory, and perhaps not enough of it.
        let text = format!(
            "memory = {} cannot be done: {failed}; using auto",
            preference.memory.name()
        );
        setup.log.line(Level::Error, &text);
        Self::at_best_address(&Setup {
            preference: auto,
            ..*setup
        })
        .map_err(|refused| refused.reason)
    }

    fn at_best_address(setup: &Setup<'_>) -> Result<Self, Refused> {
        let why = match replay::create(setup) {
            Ok(arena) => return Ok(arena),
            Err(why) => why,
        };
        let made = PendingArena::create(setup, replay::AddressRequest::Nothing)?;
        made.into_arena(setup, Source::Driver(why), None)
    }

    /// Where shaders find it.
    pub fn options(&self) -> instrument::Arena {
        let before = instrument::Arena::at(self.records.address, self.bytes);
        match &self.control {
            Some(control) => before.with_control(control.address),
            None => before,
        }
    }

    /// Bytes, a control block included.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// What it is and why, for people: a subject and what there is to say of it.
    pub fn describe(&self) -> [(&'static str, String); 3] {
        let records = &self.records;
        let messages = format!(
            "{} bytes at {:#x} in {}",
            self.bytes,
            records.address,
            records.describe()
        );
        let control = match &self.control {
            Some(control) => format!("{:#x} in {}", control.address, control.describe()),
            None => format!("before the messages: {}", self.why_before),
        };
        [
            ("memory for messages", messages),
            ("their address", self.source.to_string()),
            ("control block", control),
        ]
    }

    /// What a user should know if pipeline caches do not match.
    pub fn unfixed(&self) -> Option<String> {
        let Source::Driver(why) = &self.source else { return None };
        Some(format!(
            "the memory for messages may have another address in the next run ({why}): pipeline caches of shaders with \
             aborts will not be reused then"
        ))
    }

    /// The mapped memory: a control block, then the records.
    pub fn base(&self) -> NonNull<u8> {
        self.records.base
    }

    /// The control block in use, mapped.
    pub fn control(&self) -> NonNull<u8> {
        self.control.as_ref().map_or(self.records.base, |control| control.base)
    }

    /// Whether some invocation has aborted: looks at the word before the records, so no bus is crossed.
    #[inline]
    pub fn aborted(&self) -> bool {
        // Compared, since memory that a device took with it reads as zeros or ones.
        // SAFETY: within the mapped arena and aligned to 4. The GPU only ever writes whole words.
        unsafe { AtomicU32::from_ptr(self.base().as_ptr().add(ABORTED_OFFSET as usize).cast()) }.load(Ordering::Acquire)
            == ABORTED
    }

    /// Ends the loops of invocations that hang (`trap = hang`).
    pub fn end_hang(&self) {
        // SAFETY: within the mapped control block and aligned to 4.
        unsafe { AtomicU32::from_ptr(self.control().as_ptr().add(ABORTED_OFFSET as usize).cast()) }
            .store(0, Ordering::Release);
    }

    /// Frees everything.
    ///
    /// # Safety
    /// The GPU must not use the arena any more.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        // SAFETY: the caller vouches that nothing uses them.
        unsafe {
            self.records.destroy(device, next);
            if let Some(control) = self.control {
                control.destroy(device, next);
            }
        }
        // The imported pages go last, when the driver has let go of them; the replayed address is free again.
        #[cfg(unix)]
        drop(self.host);
        drop(self.kept);
    }

    /// Leaves everything as it is: the GPU may still be writing.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

/// The buffers of an arena that is being made.
struct PendingArena<'a> {
    records: PendingBuffer<'a>,
    control: Result<PendingBuffer<'a>, &'static str>,
}

impl<'a> PendingArena<'a> {
    /// Makes what the wish says, at the addresses that are asked for. Only a control block that has no address to be at may
    /// be missing.
    fn create(setup: &Setup<'a>, asked: replay::AddressRequest) -> Result<Self, Refused> {
        let types = setup.types;
        let records = PendingBuffer::create(setup, setup.bytes, asked.of_records(), |allowed| {
            memory::records(types, allowed, &setup.preference)
                .ok_or_else(|| "no memory type is host-visible and coherent".to_owned())
        })?;
        let flags = records.choice().map_or(Property::empty(), |choice| choice.flags);
        let control = match memory::control(types, u32::MAX, &setup.preference, flags) {
            Err(why) => Err(why),
            Ok(_) => {
                let choose = |allowed| memory::control(types, allowed, &setup.preference, flags).map_err(str::to_owned);
                match PendingBuffer::create(setup, CONTROL_BYTES, asked.of_control(), choose) {
                    Err(refused) if asked.is_address() => return Err(refused),
                    Err(refused) => Err(done_without(setup, &refused.reason)),
                    Ok(parts) => Ok(parts),
                }
            }
        };
        if asked.has_control().is_some_and(|had| had != control.is_ok()) {
            return Err("the addresses of an earlier run are of other buffers".into());
        }
        let mut made = Self { records, control };
        made.records.map(setup)?;
        if let Ok(control) = &mut made.control
            && let Err(refused) = control.map(setup)
        {
            if asked.is_address() {
                return Err(refused);
            }
            made.control = Err(done_without(setup, &refused.reason));
        }
        Ok(made)
    }

    fn into_arena(
        self,
        setup: &Setup<'_>,
        source: Source,
        kept: Option<address_cache::AddressFile>,
    ) -> Result<Arena, Refused> {
        // Both addresses first: what is not a block yet is destroyed on the way out.
        self.records.address(setup)?;
        let (control, why_before) = match self.control {
            Ok(parts) => (Some(parts.into_block(setup)?), ""),
            Err(why) => (None, why),
        };
        let records = match self.records.into_block(setup) {
            Ok(records) => records,
            Err(refused) => {
                if let Some(control) = control {
                    // SAFETY: nothing was submitted yet.
                    unsafe { control.destroy(setup.device, setup.next) };
                }
                return Err(refused);
            }
        };
        Ok(Arena {
            records,
            control,
            why_before,
            bytes: setup.bytes,
            source,
            #[cfg(unix)]
            host: Vec::new(),
            kept,
        })
    }
}

fn done_without(setup: &Setup<'_>, reason: &str) -> &'static str {
    let text =
        format!("the control block stays before the records, since it could have no memory of its own: {reason}");
    setup.log.line(Level::Warning, &text);
    "it could have no memory of its own"
}

fn missing() -> String {
    "the driver lacks a function that it has to have".to_owned()
}

fn check(result: vk::Result, what: &str) -> Result<(), Refused> {
    match result {
        vk::Result::SUCCESS => Ok(()),
        result => Err(Refused {
            result,
            reason: format!("{what} failed: {result:?}"),
        }),
    }
}
