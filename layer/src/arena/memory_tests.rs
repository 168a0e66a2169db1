use super::*;
use crate::report::log::Format;

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

const WISH: MemoryPreference = MemoryPreference {
    memory: Memory::Auto,
    control: ControlBlock::Auto,
    discrete: true,
    device_coherent: false,
};

/// A discrete GPU of AMD's with resizable BAR: each type a second time, as one that the device does not cache.
fn amd() -> Types {
    let plain = [LOCAL, LOCAL | VISIBLE, VISIBLE, VISIBLE | CACHED];
    let all: Vec<Property> = plain.into_iter().chain(plain.map(|kind| kind | UNCACHED)).collect();
    types(&all)
}

fn index(choice: Option<Choice>) -> Option<u32> {
    choice.map(|choice| choice.index)
}

#[test]
fn records_go_to_coherent_cached_host_memory_if_there_is_any() {
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
        assert_eq!(index(records(&types, allowed, &WISH)), expected, "{allowed:b}");
    }
    let coherent = MemoryPreference {
        device_coherent: true,
        ..WISH
    };
    assert_eq!(index(records(&types, u32::MAX, &coherent)), Some(4));
}

#[test]
fn memory_that_the_device_does_not_cache_is_best_where_it_may_be_used() {
    let coherent = MemoryPreference {
        device_coherent: true,
        ..WISH
    };
    assert_eq!(index(records(&amd(), u32::MAX, &WISH)), Some(3));
    assert_eq!(index(records(&amd(), u32::MAX, &coherent)), Some(7));
    assert_eq!(control(&amd(), u32::MAX, &WISH, VISIBLE).map(|c| c.index), Ok(1));
    assert_eq!(control(&amd(), u32::MAX, &coherent, VISIBLE).map(|c| c.index), Ok(5));
    assert!(wants_device_coherent(&amd(), &WISH));
    let ordinary = types(&[LOCAL, LOCAL | VISIBLE, VISIBLE | CACHED]);
    assert!(!wants_device_coherent(&ordinary, &WISH));
    // Uncached memory of the GPU's own is not worth a feature when neither part of the arena goes there.
    let far = types(&[VISIBLE, LOCAL | VISIBLE, LOCAL | VISIBLE | UNCACHED]);
    let host = MemoryPreference {
        control: ControlBlock::Host,
        ..WISH
    };
    assert!(!wants_device_coherent(&far, &host) && wants_device_coherent(&far, &WISH));
}

#[test]
fn the_control_block_is_apart_only_where_a_bus_is_saved() {
    let discrete = types(&[LOCAL, LOCAL | VISIBLE, VISIBLE | CACHED]);
    let found = control(&discrete, u32::MAX, &WISH, VISIBLE | CACHED);
    assert_eq!(found.map(|c| c.index), Ok(1));
    let integrated = MemoryPreference {
        discrete: false,
        ..WISH
    };
    assert!(control(&discrete, u32::MAX, &integrated, VISIBLE).is_err());
    assert!(
        control(&discrete, u32::MAX, &WISH, LOCAL | VISIBLE).is_err(),
        "beside records in device memory"
    );
    assert!(
        control(&discrete, 0b101, &WISH, VISIBLE).is_err(),
        "a type that buffers cannot be in"
    );
    assert!(control(&types(&[LOCAL, VISIBLE]), u32::MAX, &WISH, VISIBLE).is_err());
    let forced = MemoryPreference {
        control: ControlBlock::Device,
        ..integrated
    };
    assert_eq!(control(&discrete, u32::MAX, &forced, VISIBLE).map(|c| c.index), Ok(1));
}

#[test]
fn the_setting_takes_what_it_names() {
    let of = |memory| {
        let preference = MemoryPreference {
            memory,
            device_coherent: true,
            ..WISH
        };
        index(records(&amd(), u32::MAX, &preference))
    };
    let all = [Memory::Cached, Memory::Uncached, Memory::DeviceCoherent, Memory::Device].map(of);
    assert_eq!(all, [Some(3), Some(2), Some(7), Some(1)]);
}

#[test]
fn a_wish_that_the_device_cannot_grant_is_taken_back() {
    let log = Log::new(Level::Off, Format::Text, None);
    let poor = types(&[LOCAL, VISIBLE]);
    for memory in [Memory::Cached, Memory::DeviceCoherent, Memory::Device] {
        let preference = MemoryPreference {
            memory,
            control: ControlBlock::Device,
            ..WISH
        };
        assert_eq!(settle(&poor, &preference, &log), WISH, "{memory:?}");
    }
    let granted = MemoryPreference {
        memory: Memory::Uncached,
        control: ControlBlock::Host,
        ..WISH
    };
    assert_eq!(settle(&poor, &granted, &log), granted);
}
