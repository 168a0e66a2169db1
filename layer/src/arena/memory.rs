//! Which memory types an arena takes, by what they are; and what a user has asked for, where the device offers it.
//!
//! Records want, in this order:
//! 1. memory of the host: a reset of the GPU may take the GPU's own with it, and the records are read after one;
//! 2. memory that the device does not cache (`DEVICE_COHERENT_AMD`): after a fault "device caches cannot be flushed"
//!    (`SPV_KHR_abort`), and what waits in them never arrives. On other devices there is nothing to choose;
//! 3. memory that the host caches, since a report reads every record word by word.
//!
//! The control block is a few words that invocations add to and loops look at again and again. On a discrete GPU each of
//! these accesses would cross the bus, so the block goes into the GPU's own memory, if the host sees that. A loss may take it
//! away: what the host needs is in the records' buffer (see [`vkabort_record::layout`]).

use crate::report::log::{Level, Log};
use crate::settings::{ControlBlock, Memory};
use ash::vk::{self, MemoryPropertyFlags as Property};
use std::cmp::Reverse;

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPreference {
    /// The setting `memory`.
    pub memory: Memory,
    /// The setting `control_block`.
    pub control: ControlBlock,
    /// The GPU has memory of its own behind a bus.
    pub discrete: bool,
    /// `deviceCoherentMemory` is on: types with `DEVICE_COHERENT_AMD` may be used.
    pub device_coherent: bool,
}

/// A memory type and why it is the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its index.
    pub index: u32,
    /// Its properties.
    pub flags: Property,
    /// Why.
    pub why: &'static str,
}

type Types = vk::PhysicalDeviceMemoryProperties;

/// The types of `allowed` that an arena can be in at all.
fn usable(types: &Types, allowed: u32, preference: &MemoryPreference) -> impl Iterator<Item = (u32, Property)> {
    let needed = Property::HOST_VISIBLE | Property::HOST_COHERENT;
    let mut excluded = Property::PROTECTED | Property::LAZILY_ALLOCATED;
    if !preference.device_coherent {
        excluded |= UNCACHED;
    }
    let all = types.memory_types_as_slice().iter().map(|kind| kind.property_flags);
    (0..)
        .zip(all)
        .filter(move |(index, _)| allowed.checked_shr(*index).unwrap_or(0) & 1 == 1)
        .filter(move |(_, flags)| flags.contains(needed) && !flags.intersects(excluded))
}

const UNCACHED: Property =
    Property::from_raw(Property::DEVICE_COHERENT_AMD.as_raw() | Property::DEVICE_UNCACHED_AMD.as_raw());

fn fits(memory: Memory, flags: Property) -> bool {
    let (local, cached) = (Property::DEVICE_LOCAL, Property::HOST_CACHED);
    match memory {
        Memory::Auto => true,
        Memory::Cached => flags.contains(cached) && !flags.intersects(local | UNCACHED),
        Memory::Uncached => !flags.intersects(local | cached | UNCACHED),
        Memory::DeviceCoherent => flags.intersects(UNCACHED),
        Memory::Device => flags.contains(local) && !flags.intersects(UNCACHED),
    }
}

/// The type for records. `None`: none is host-visible and coherent, or none is what the setting asks for.
pub fn records(types: &Types, allowed: u32, preference: &MemoryPreference) -> Option<Choice> {
    let rank = |(index, flags): &(u32, Property)| {
        (
            !flags.contains(Property::DEVICE_LOCAL),
            flags.intersects(UNCACHED),
            flags.contains(Property::HOST_CACHED),
            Reverse(*index),
        )
    };
    let candidates = usable(types, allowed, preference).filter(|(_, flags)| fits(preference.memory, *flags));
    let (index, flags) = candidates.max_by_key(rank)?;
    let why = if preference.memory != Memory::Auto {
        "the setting `memory` asks for it"
    } else if flags.contains(Property::DEVICE_LOCAL) {
        "no other memory is host-visible and coherent"
    } else if flags.intersects(UNCACHED) {
        "memory of the host, which the device does not cache: a fault or a reset leaves it alone"
    } else {
        "memory of the host, which a reset of the device leaves alone"
    };
    Some(Choice { index, flags, why })
}

/// The type for a control block of its own, or why it stands before the records.
pub fn control(
    types: &Types,
    allowed: u32,
    preference: &MemoryPreference,
    records: Property,
) -> Result<Choice, &'static str> {
    let why = match preference.control {
        ControlBlock::Host => return Err("the setting `control_block` asks for it"),
        ControlBlock::Device => "the setting `control_block` asks for it",
        ControlBlock::Auto if !preference.discrete => return Err("there is no bus between the device and its memory"),
        ControlBlock::Auto if records.contains(Property::DEVICE_LOCAL) => {
            return Err("the records are in device memory");
        }
        ControlBlock::Auto => "atomics stay off the bus",
    };
    let local = usable(types, allowed, preference).filter(|(_, flags)| flags.contains(Property::DEVICE_LOCAL));
    let rank = |(index, flags): &(u32, Property)| (flags.intersects(UNCACHED), Reverse(*index));
    let found = local
        .max_by_key(rank)
        .ok_or("no device memory is host-visible and coherent");
    found.map(|(index, flags)| Choice { index, flags, why })
}

/// Whether an arena would take memory that needs `deviceCoherentMemory`.
pub fn wants_device_coherent(types: &Types, preference: &MemoryPreference) -> bool {
    let preference = MemoryPreference {
        device_coherent: true,
        ..*preference
    };
    let records = records(types, u32::MAX, &preference);
    let flags = records.map_or(Property::empty(), |choice| choice.flags);
    let control = control(types, u32::MAX, &preference, flags);
    flags.intersects(UNCACHED) || control.is_ok_and(|choice| choice.flags.intersects(UNCACHED))
}

/// Takes back what the device does not offer of the user's wishes, and says what there is.
pub fn settle(types: &Types, preference: &MemoryPreference, log: &Log) -> MemoryPreference {
    let mut settled = *preference;
    let offered = || {
        let all = usable(types, u32::MAX, preference).map(|(index, flags)| format!("{index} ({flags:?})"));
        match all.collect::<Vec<_>>() {
            none if none.is_empty() => "no type that an arena can be in".to_owned(),
            all => format!("memory types {}", all.join(", ")),
        }
    };
    let refuse = |setting: &str| {
        let text = format!("{setting} cannot be done: this device offers {}; using auto", offered());
        log.line(Level::Error, &text);
    };
    let chosen = records(types, u32::MAX, &settled);
    if chosen.is_none() && preference.memory != Memory::Auto {
        refuse(&format!("memory = {}", preference.memory.name()));
        settled.memory = Memory::Auto;
    }
    if preference.control == ControlBlock::Device && control(types, u32::MAX, &settled, Property::empty()).is_err() {
        refuse("control_block = device");
        settled.control = ControlBlock::Auto;
    }
    settled
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
