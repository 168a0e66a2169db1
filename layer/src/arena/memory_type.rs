//! Chooses the memory types of an arena by their properties and the user's settings.
//!
//! Records prefer, in this order:
//! 1. host memory: the records are read after a reset of the GPU, which may clear the GPU's own memory;
//! 2. memory that the device does not cache (`DEVICE_COHERENT_AMD`): after a fault "device caches cannot be flushed"
//!    (`SPV_KHR_abort`), so cached data never arrives. Other devices offer no choice;
//! 3. memory that the host caches, since a report reads every record word by word.
//!
//! The control block is a few words that invocations add to and that waiting loops poll. On a discrete GPU each access would
//! cross the bus, so the block is placed in GPU memory if that is host-visible. A loss may clear it; the data that the host
//! needs is in the records' buffer (see [`vkabort_record::layout`]).

use crate::log::{Level, Log};
use crate::settings::{Choice as _, ControlBlock, Memory};
use ash::vk::{self, MemoryPropertyFlags as Property};
use std::cmp::Reverse;

/// The inputs for choosing a memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPreference {
    /// The setting `memory`.
    pub memory: Memory,
    /// The setting `control_block`.
    pub control: ControlBlock,
    /// The GPU has memory of its own across a bus.
    pub discrete: bool,
    /// `deviceCoherentMemory` is enabled: types with `DEVICE_COHERENT_AMD` may be used.
    pub device_coherent: bool,
}

/// A memory type and the reason for choosing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryChoice {
    /// Memory type index.
    pub index: u32,
    /// Its properties.
    pub flags: Property,
    /// The reason, for people.
    pub reason: &'static str,
}

type Types = vk::PhysicalDeviceMemoryProperties;

const UNCACHED: Property =
    Property::from_raw(Property::DEVICE_COHERENT_AMD.as_raw() | Property::DEVICE_UNCACHED_AMD.as_raw());

/// The types in the bit mask `allowed` that are host-visible, coherent and permitted.
fn usable(types: &Types, allowed: u32, preference: &MemoryPreference) -> impl Iterator<Item = (u32, Property)> {
    let required = Property::HOST_VISIBLE | Property::HOST_COHERENT;
    let mut excluded = Property::PROTECTED | Property::LAZILY_ALLOCATED;
    if !preference.device_coherent {
        excluded |= UNCACHED;
    }
    let all = types.memory_types_as_slice().iter().map(|kind| kind.property_flags);
    (0..)
        .zip(all)
        .filter(move |(index, _)| allowed.checked_shr(*index).unwrap_or(0) & 1 == 1)
        .filter(move |(_, flags)| flags.contains(required) && !flags.intersects(excluded))
}

fn matches_setting(memory: Memory, flags: Property) -> bool {
    let (local, cached) = (Property::DEVICE_LOCAL, Property::HOST_CACHED);
    match memory {
        Memory::Auto => true,
        Memory::Cached => flags.contains(cached) && !flags.intersects(local | UNCACHED),
        Memory::Uncached => !flags.intersects(local | cached | UNCACHED),
        Memory::DeviceCoherent => flags.intersects(UNCACHED),
        Memory::Device => flags.contains(local) && !flags.intersects(UNCACHED),
    }
}

/// Chooses the type for the records, among those in the bit mask `allowed`. `None`: no usable type matches the setting.
pub fn for_records(types: &Types, allowed: u32, preference: &MemoryPreference) -> Option<MemoryChoice> {
    let rank = |(index, flags): &(u32, Property)| {
        (
            !flags.contains(Property::DEVICE_LOCAL),
            flags.intersects(UNCACHED),
            flags.contains(Property::HOST_CACHED),
            Reverse(*index),
        )
    };
    let candidates = usable(types, allowed, preference).filter(|(_, flags)| matches_setting(preference.memory, *flags));
    let (index, flags) = candidates.max_by_key(rank)?;
    let reason = if preference.memory != Memory::Auto {
        "selected by the setting `memory`"
    } else if flags.contains(Property::DEVICE_LOCAL) {
        "no other memory is host-visible and coherent"
    } else if flags.intersects(UNCACHED) {
        "host memory that the device does not cache: survives faults and resets"
    } else {
        "host memory: survives a reset of the device"
    };
    Some(MemoryChoice { index, flags, reason })
}

/// Chooses the type for a separate control block, among those in the bit mask `allowed`. `records` are the properties of the
/// records' type.
///
/// # Errors
/// The reason for using the control block before the records.
pub fn for_control_block(
    types: &Types,
    allowed: u32,
    preference: &MemoryPreference,
    records: Property,
) -> Result<MemoryChoice, &'static str> {
    let reason = match preference.control {
        ControlBlock::Host => return Err("selected by the setting `control_block`"),
        ControlBlock::Device => "selected by the setting `control_block`",
        ControlBlock::Auto if !preference.discrete => return Err("the device is not a discrete GPU"),
        ControlBlock::Auto if records.contains(Property::DEVICE_LOCAL) => {
            return Err("the messages are in device memory");
        }
        ControlBlock::Auto => "atomics do not cross the bus",
    };
    let local = usable(types, allowed, preference).filter(|(_, flags)| flags.contains(Property::DEVICE_LOCAL));
    let rank = |(index, flags): &(u32, Property)| (flags.intersects(UNCACHED), Reverse(*index));
    let (index, flags) = local
        .max_by_key(rank)
        .ok_or("no device memory is host-visible and coherent")?;
    Ok(MemoryChoice { index, flags, reason })
}

/// Whether the control block has its own buffer, provided that the driver creates it.
pub fn wants_separate_control(types: &Types, preference: &MemoryPreference) -> bool {
    let records = for_records(types, u32::MAX, preference);
    records.is_some_and(|records| for_control_block(types, u32::MAX, preference, records.flags).is_ok())
}

/// Whether an arena on this device would use memory that requires `deviceCoherentMemory`.
pub fn wants_device_coherent(types: &Types, preference: &MemoryPreference) -> bool {
    let preference = MemoryPreference {
        device_coherent: true,
        ..*preference
    };
    let records = for_records(types, u32::MAX, &preference);
    let flags = records.map_or(Property::empty(), |choice| choice.flags);
    let control = for_control_block(types, u32::MAX, &preference, flags);
    flags.intersects(UNCACHED) || control.is_ok_and(|choice| choice.flags.intersects(UNCACHED))
}

/// Drops memory settings that the device cannot satisfy and logs why.
pub fn drop_unsatisfiable(types: &Types, preference: &MemoryPreference, log: &Log) -> MemoryPreference {
    let mut satisfiable = *preference;
    let reject = |setting: &str| {
        let usable = usable(types, u32::MAX, preference).map(|(index, flags)| format!("{index} ({flags:?})"));
        let available = match usable.collect::<Vec<_>>() {
            none if none.is_empty() => "no host-visible, coherent memory type".to_owned(),
            all => format!("memory types {}", all.join(", ")),
        };
        let text = format!("{setting} is not possible: this device has {available}; using auto");
        log.line(Level::Error, &text);
    };
    if preference.memory != Memory::Auto && for_records(types, u32::MAX, preference).is_none() {
        reject(&format!("memory = {}", preference.memory.name()));
        satisfiable.memory = Memory::Auto;
    }
    if preference.control == ControlBlock::Device
        && for_control_block(types, u32::MAX, &satisfiable, Property::empty()).is_err()
    {
        reject("control_block = device");
        satisfiable.control = ControlBlock::Auto;
    }
    satisfiable
}

#[cfg(test)]
#[path = "memory_type_tests.rs"]
mod tests;
