//! CPU drivers: host memory at a fixed place.
//!
//! It is imported where the driver says that it can be. A driver that does not say so is asked about an ordinary buffer:
//! if its device address is the host address of its mapping, shaders reach the fixed place all the same, and no object
//! of the driver's is needed for it.
//!
//! Their device addresses are host addresses, so a fixed mapping gives a fixed device address. Every live device takes
//! the first free one of a row of places; what else may stand there is never touched, since the kernel is asked to
//! fail rather than to replace it.

use super::memory::{self, Choice, MemoryPreference};
use super::{Arena, Block, Extra, PendingBuffer, Setup, Source};
use crate::report::log::Level;
use crate::settings::{ControlBlock, Memory};
use ash::vk;
use std::ptr::NonNull;
use vkabort_record::layout::CONTROL_BYTES;

/// The first place: far from where Linux puts programs, heaps, libraries and stacks; the second one for processors
/// with 39 bits of address space.
const ROWS: [usize; 2] = [0x2AB0_0000_0000, 0x2A_B000_0000];
/// Distance of the places of a row.
const STRIDE: usize = 1 << 30;
/// Places in a row.
const PLACES: usize = 64;
/// No implementation asks for more than 64 KiB of alignment.
const GRANULE: u64 = 1 << 16;

/// Pages that were mapped for an arena.
pub struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// At least `bytes` zeroed bytes at the first free place.
    pub fn at_fixed_place(bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes.next_multiple_of(GRANULE)).ok()?;
        if bytes > STRIDE {
            return None;
        }
        ROWS.iter()
            .flat_map(|row| (0..PLACES).map(move |place| row + place * STRIDE))
            .find_map(|at| map_at(at, bytes))
    }

    /// The first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes mapped.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and nobody uses it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

fn map_at(at: usize, bytes: usize) -> Option<Mapping> {
    #[cfg(target_os = "linux")]
    const FIXED: i32 = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    const FIXED: i32 = 0;
    // SAFETY: an anonymous mapping that replaces nothing.
    let got = unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | FIXED,
            -1,
            0,
        )
    };
    if got == libc::MAP_FAILED {
        return None;
    }
    let mapping = Mapping {
        base: NonNull::new(got.cast())?,
        bytes,
    };
    // A kernel that does not know the flag takes the address for a hint.
    (got as usize == at).then_some(mapping)
}

/// Memory types that a mapping can be imported as.
pub fn memory_types(setup: &Setup<'_>, mapping: &Mapping) -> Option<u32> {
    let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
    let get = setup.next.vkGetMemoryHostPointerPropertiesEXT?;
    // SAFETY: the pointer is to our own pages.
    let result = unsafe {
        get(
            setup.device,
            vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT,
            mapping.base.as_ptr().cast(),
            &mut properties,
        )
    };
    (result == vk::Result::SUCCESS).then_some(properties.memory_type_bits)
}

/// An arena at a fixed place. An import that fails all the same leaves the other way.
pub fn create(setup: &Setup<'_>) -> Option<Arena> {
    let imported = if setup.import { imported(setup) } else { None };
    let mut arena = imported.or_else(|| bare(setup))?;
    if setup.preference.memory != Memory::Auto {
        let text = "memory makes no difference on a CPU driver: messages go to memory of the host's at a fixed place";
        setup.log.line(Level::Error, text);
    }
    if setup.preference.control == ControlBlock::Device {
        // Nothing is nearer there: it is for seeing how such arenas work.
        match Mapping::at_fixed_place(u64::from(CONTROL_BYTES)) {
            Some(mapping) => {
                arena.control = Some(block(&mapping));
                arena.host.push(mapping);
            }
            None => arena.why_before = "the fixed places are taken",
        }
    }
    Some(arena)
}

/// Pages that the driver does not know of, and that shaders reach all the same.
fn block(mapping: &Mapping) -> Block {
    Block {
        buffer: vk::Buffer::null(),
        memory: vk::DeviceMemory::null(),
        base: mapping.base(),
        address: mapping.base().as_ptr() as u64,
        choice: None,
    }
}

/// An arena that the driver does not know of.
fn bare(setup: &Setup<'_>) -> Option<Arena> {
    let ordinary = Setup {
        bytes: GRANULE as u32,
        ..*setup
    };
    let mut probe = PendingBuffer::create(&ordinary, ordinary.bytes, Extra::default(), of(setup)).ok()?;
    let address = probe.address(&ordinary).ok()?;
    probe.map(&ordinary).ok()?;
    if probe.base?.as_ptr() as u64 != address {
        return None;
    }
    drop(probe);
    let mapping = Mapping::at_fixed_place(u64::from(setup.bytes))?;
    Some(arena(setup, block(&mapping), Source::Host, mapping))
}

/// An arena in imported memory, if the driver then reports the pages' own address.
fn imported(setup: &Setup<'_>) -> Option<Arena> {
    let mut mapping = None;
    let extra = Extra {
        import: Some(&mut mapping),
        ..Extra::default()
    };
    // Declared after `mapping`, so that on failure the driver lets go of the pages before they are unmapped.
    let mut parts = PendingBuffer::create(setup, setup.bytes, extra, of(setup)).ok()?;
    parts.base = mapping.as_ref().map(Mapping::base);
    let address = parts.address(setup).ok()?;
    if address != parts.base?.as_ptr() as u64 {
        return None;
    }
    let block = parts.into_block(setup).ok()?;
    Some(arena(setup, block, Source::Import, mapping?))
}

/// The best type for the host's own memory.
fn of<'a>(setup: &'a Setup<'_>) -> impl Fn(u32) -> Result<Choice, String> + 'a {
    let preference = MemoryPreference {
        memory: Memory::Auto,
        ..setup.preference
    };
    move |allowed| memory::records(setup.types, allowed, &preference).ok_or_else(|| "no memory type will do".to_owned())
}

fn arena(setup: &Setup<'_>, records: Block, source: Source, mapping: Mapping) -> Arena {
    Arena {
        records,
        control: None,
        why_before: "a CPU has no nearer memory",
        bytes: setup.bytes,
        source,
        host: vec![mapping],
        kept: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_in_turn_and_given_back() {
        let first = Mapping::at_fixed_place(1 << 20);
        let second = Mapping::at_fixed_place(1);
        let at = |m: &Option<Mapping>| m.as_ref().map(|m| m.base().as_ptr() as usize);
        let (Some(a), Some(b)) = (at(&first), at(&second)) else {
            panic!("no place is free");
        };
        assert_eq!(b, a + STRIDE);
        assert_eq!(second.as_ref().map(Mapping::bytes), Some(GRANULE));
        drop(first);
        let again = Mapping::at_fixed_place(4096);
        assert_eq!(at(&again), Some(a), "the lowest free place is used first");
        assert!(Mapping::at_fixed_place(1 << 40).is_none());
    }
}
