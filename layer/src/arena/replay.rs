//! Drivers with `bufferDeviceAddressCaptureReplay`: the opaque address that a run is given is kept in the user's cache
//! directory, and later runs ask for it.
//!
//! Arenas of devices that live at the same time have different addresses: each takes the first free slot, and slots
//! are remembered one by one. A file that is missing, damaged or from another driver costs nothing but the address.

use super::{AddressApi, Arena, Extra, Parts, Setup, Source};
use ash::vk;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A number below 64 that no other live arena of this process has.
pub struct Slot(u32);

impl Slot {
    fn take() -> Option<Self> {
        let mut taken = TAKEN.load(Ordering::Relaxed);
        loop {
            let free = taken.trailing_ones();
            if free == 64 {
                return None;
            }
            match TAKEN.compare_exchange_weak(taken, taken | 1 << free, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(Self(free)),
                Err(now) => taken = now,
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        TAKEN.fetch_and(!(1 << self.0), Ordering::AcqRel);
    }
}

/// Opaque addresses of a buffer and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Opaque {
    buffer: u64,
    memory: u64,
}

/// An arena at the address of an earlier run, or at a new one that is remembered.
pub fn create(setup: &Setup<'_>) -> Option<Arena> {
    if setup.api == AddressApi::Ext {
        return None;
    }
    let slot = Slot::take()?;
    let file = file_of(setup, &slot);
    let known = file
        .as_ref()
        .and_then(|path| std::fs::read_to_string(path).ok())
        .and_then(|text| parse(&text));
    let mut arena = match known.and_then(|known| with_addresses(setup, known)) {
        Some(arena) => arena,
        None => {
            let (arena, opaque) = capture(setup)?;
            if let Some(path) = file {
                store(&path, opaque);
            }
            arena
        }
    };
    arena.slot = Some(slot);
    Some(arena)
}

fn extra(known: Opaque) -> Extra<'static> {
    Extra {
        buffer_flags: vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
        allocate_flags: vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
        buffer_address: known.buffer,
        memory_address: known.memory,
        ..Extra::default()
    }
}

fn with_addresses(setup: &Setup<'_>, known: Opaque) -> Option<Arena> {
    let parts = Parts::create(setup, extra(known)).ok()?;
    let address = parts.address(setup).ok()?;
    parts.finish(setup, address, Source::Replay).ok()
}

fn capture(setup: &Setup<'_>) -> Option<(Arena, Opaque)> {
    let parts = Parts::create(setup, extra(Opaque { buffer: 0, memory: 0 })).ok()?;
    let address = parts.address(setup).ok()?;
    let next = setup.next;
    let of_buffer = next
        .vkGetBufferOpaqueCaptureAddress
        .or(next.vkGetBufferOpaqueCaptureAddressKHR)?;
    let of_memory = next
        .vkGetDeviceMemoryOpaqueCaptureAddress
        .or(next.vkGetDeviceMemoryOpaqueCaptureAddressKHR)?;
    let buffer = vk::BufferDeviceAddressInfo::default().buffer(parts.buffer);
    let memory = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(parts.memory);
    // SAFETY: both were made with the capture flags.
    let opaque = unsafe {
        Opaque {
            buffer: of_buffer(setup.device, &buffer),
            memory: of_memory(setup.device, &memory),
        }
    };
    let arena = parts.finish(setup, address, Source::Capture).ok()?;
    Some((arena, opaque))
}

/// One file per device, driver, arena size and slot.
fn file_of(setup: &Setup<'_>, slot: &Slot) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"))?;
    let mut name = String::from("arena-");
    for byte in setup.physical.identity {
        let _ = write!(name, "{byte:02x}");
    }
    let _ = write!(name, "-{}-{}", setup.bytes, slot.0);
    Some(cache.join("vkabort").join(name))
}

fn parse(text: &str) -> Option<Opaque> {
    let mut numbers = text.split_whitespace().map(|word| u64::from_str_radix(word, 16));
    let opaque = Opaque {
        buffer: numbers.next()?.ok()?,
        memory: numbers.next()?.ok()?,
    };
    (numbers.next().is_none() && (opaque.buffer, opaque.memory) != (0, 0)).then_some(opaque)
}

fn store(path: &std::path::Path, opaque: Opaque) {
    // Written beside and renamed, so that another process never reads half of it. Without a cache directory every run
    // has its own address, which is allowed.
    let Some(folder) = path.parent() else { return };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let text = format!("{:x} {:x}\n", opaque.buffer, opaque.memory);
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&beside, text))
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_file_and_damage_is_noticed() {
        let opaque = Opaque {
            buffer: 0xFFFF_8000_1234_0000,
            memory: 7,
        };
        let path = std::env::temp_dir().join(format!("vkabort-replay-{}", std::process::id()));
        store(&path, opaque);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        assert_eq!(parse(&text), Some(opaque));
        for damaged in ["", "12", "12 zz", "1 2 3", "0 0"] {
            assert_eq!(parse(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn slots_are_unique_while_they_live() {
        let a = Slot::take().expect("64 slots");
        let b = Slot::take().expect("64 slots");
        assert_ne!(a.0, b.0);
        let number = a.0;
        drop(a);
        assert_eq!(Slot::take().expect("64 slots").0, number);
    }
}
