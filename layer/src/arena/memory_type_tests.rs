use super::*;
use crate::log::Format;

const VISIBLE: Property = Property::from_raw(Property::HOST_VISIBLE.as_raw() | Property::HOST_COHERENT.as_raw());
const LOCAL: Property = Property::DEVICE_LOCAL;
const CACHED: Property = Property::HOST_CACHED;

fn types(kinds: &[Property]) -> Types {
    let mut types = Types::default();
    for (to, from) in types.memory_types.iter_mut().zip(kinds) {
        to.property_flags = *from;
    }
    types.memory_type_count = kinds.len() as u32;
    types
}

const PREFERENCE: MemoryPreference = MemoryPreference {
    memory: Memory::Auto,
    control: ControlBlock::Auto,
    discrete: true,
    device_coherent: false,
};

/// An AMD GPU with resizable BAR: each type exists a second time without device caching.
fn amd() -> Types {
    let plain = [LOCAL, LOCAL | VISIBLE, VISIBLE, VISIBLE | CACHED];
    let all: Vec<Property> = plain.into_iter().chain(plain.map(|kind| kind | UNCACHED)).collect();
    types(&all)
}

fn index(choice: Option<MemoryChoice>) -> Option<u32> {
    choice.map(|choice| choice.index)
}

#[test]
fn records_prefer_coherent_cached_host_memory() {
    let kinds = [
        LOCAL,
        LOCAL | VISIBLE,
        VISIBLE,
        VISIBLE | CACHED,
        VISIBLE | CACHED | Property::DEVICE_COHERENT_AMD,
        Property::HOST_VISIBLE | CACHED,
        VISIBLE | CACHED | Property::PROTECTED,
    ];
    let types = types(&kinds);
    for (allowed, expected) in [
        (u32::MAX, Some(3)),
        (0b111, Some(2)),
        (0b11, Some(1)),
        (0b110_0001, None),
    ] {
        assert_eq!(
            index(for_records(&types, allowed, &PREFERENCE)),
            expected,
            "{allowed:b}"
        );
    }
    let coherent = MemoryPreference {
        device_coherent: true,
        ..PREFERENCE
    };
    assert_eq!(index(for_records(&types, u32::MAX, &coherent)), Some(4));
}

#[test]
fn memory_without_device_caching_is_preferred_if_enabled() {
    let coherent = MemoryPreference {
        device_coherent: true,
        ..PREFERENCE
    };
    assert_eq!(index(for_records(&amd(), u32::MAX, &PREFERENCE)), Some(3));
    assert_eq!(index(for_records(&amd(), u32::MAX, &coherent)), Some(7));
    assert_eq!(
        for_control_block(&amd(), u32::MAX, &PREFERENCE, VISIBLE).map(|c| c.index),
        Ok(1)
    );
    assert_eq!(
        for_control_block(&amd(), u32::MAX, &coherent, VISIBLE).map(|c| c.index),
        Ok(5)
    );
    assert!(wants_device_coherent(&amd(), &PREFERENCE));
    let ordinary = types(&[LOCAL, LOCAL | VISIBLE, VISIBLE | CACHED]);
    assert!(!wants_device_coherent(&ordinary, &PREFERENCE));
    // The feature is not enabled for memory that neither part of the arena uses.
    let far = types(&[VISIBLE, LOCAL | VISIBLE, LOCAL | VISIBLE | UNCACHED]);
    let host = MemoryPreference {
        control: ControlBlock::Host,
        ..PREFERENCE
    };
    assert!(!wants_device_coherent(&far, &host) && wants_device_coherent(&far, &PREFERENCE));
}

#[test]
fn a_separate_control_block_requires_a_bus() {
    let discrete = types(&[LOCAL, LOCAL | VISIBLE, VISIBLE | CACHED]);
    let choice = for_control_block(&discrete, u32::MAX, &PREFERENCE, VISIBLE | CACHED);
    assert_eq!(choice.map(|c| c.index), Ok(1));
    let integrated = MemoryPreference {
        discrete: false,
        ..PREFERENCE
    };
    assert!(for_control_block(&discrete, u32::MAX, &integrated, VISIBLE).is_err());
    assert!(
        for_control_block(&discrete, u32::MAX, &PREFERENCE, LOCAL | VISIBLE).is_err(),
        "the records are in device memory"
    );
    assert!(
        for_control_block(&discrete, 0b101, &PREFERENCE, VISIBLE).is_err(),
        "the type is not allowed for the buffer"
    );
    assert!(for_control_block(&types(&[LOCAL, VISIBLE]), u32::MAX, &PREFERENCE, VISIBLE).is_err());
    let forced = MemoryPreference {
        control: ControlBlock::Device,
        ..integrated
    };
    assert_eq!(
        for_control_block(&discrete, u32::MAX, &forced, VISIBLE).map(|c| c.index),
        Ok(1)
    );
}

#[test]
fn the_setting_selects_the_memory_that_it_names() {
    let of = |memory| {
        let preference = MemoryPreference {
            memory,
            device_coherent: true,
            ..PREFERENCE
        };
        index(for_records(&amd(), u32::MAX, &preference))
    };
    let all = [Memory::Cached, Memory::Uncached, Memory::DeviceCoherent, Memory::Device].map(of);
    assert_eq!(all, [Some(3), Some(2), Some(7), Some(1)]);
}

#[test]
fn settings_that_the_device_cannot_satisfy_are_dropped() {
    let log = Log::new(Level::Off, Format::Text, None);
    let poor = types(&[LOCAL, VISIBLE]);
    for memory in [Memory::Cached, Memory::DeviceCoherent, Memory::Device] {
        let preference = MemoryPreference {
            memory,
            control: ControlBlock::Device,
            ..PREFERENCE
        };
        assert_eq!(drop_unsatisfiable(&poor, &preference, &log), PREFERENCE, "{memory:?}");
    }
    let satisfiable = MemoryPreference {
        memory: Memory::Uncached,
        control: ControlBlock::Host,
        ..PREFERENCE
    };
    assert_eq!(drop_unsatisfiable(&poor, &satisfiable, &log), satisfiable);
}
