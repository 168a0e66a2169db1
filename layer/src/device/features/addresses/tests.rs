//! Tests of buffers from their creation to their end.

use super::*;
use crate::arena::testing::mapped_words;
use std::sync::atomic::AtomicU32;
use vkabort_record::buffer_table::{FIRST_VERSION, version_bytes};

/// Addresses with room for three versions of three buffers.
fn addresses() -> (Addresses, &'static [AtomicU32]) {
    let bytes = FIRST_VERSION + 3 * version_bytes(3) as u32;
    let (area, words) = mapped_words(bytes, 0);
    (Addresses::new(area, AddressApi::Khr), words)
}

fn buffer(number: u64) -> vk::Buffer {
    vk::Buffer::from_raw(number)
}

#[test]
fn buffers_are_known_from_their_memory_to_their_end() {
    let (addresses, words) = addresses();
    let current = || words[0].load(std::sync::atomic::Ordering::Relaxed) as usize / 4;
    let count = || words[current()].load(std::sync::atomic::Ordering::Relaxed);
    let memory = vk::DeviceMemory::from_raw(9);
    for number in 1..=3 {
        addresses.add(buffer(number), 256);
        addresses.set_name(buffer(number), &format!("buffer {number}"));
    }
    assert_eq!(current(), 0, "nothing is published before a submission");
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(count(), 0);
    for number in 1..=3 {
        assert_eq!(addresses.bind(buffer(number), memory, number << 20, Vec::new), Ok(()));
    }
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(count(), 3);
    let version = current();
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(current(), version, "nothing has changed");
    addresses.remove(buffer(2));
    let text = "16 bytes into `buffer 2` (256 bytes), which was destroyed";
    assert_eq!(addresses.describe((2 << 20) + 16, 4), text);
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(count(), 2);
    addresses.free(memory);
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(count(), 0);
}

#[test]
fn without_an_address_nothing_is_tested() {
    let (addresses, words) = addresses();
    let current = || words[0].load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_ne!(current(), 0);
    addresses.add(buffer(1), 256);
    let bind = || addresses.bind(buffer(1), vk::DeviceMemory::null(), 0, Vec::new);
    assert_eq!(bind(), Err(Untested::Unknown));
    assert_eq!(bind(), Ok(()), "reported once");
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
    assert_eq!(current(), 0);
}

#[test]
fn buffers_without_room_are_not_tested_until_there_is_room() {
    let (addresses, _) = addresses();
    for number in 1..=200 {
        addresses.add(buffer(number), 256);
        let bound = addresses.bind(buffer(number), vk::DeviceMemory::null(), number << 20, Vec::new);
        assert_eq!(bound, Ok(()));
    }
    assert_eq!(addresses.try_publish(Vec::new), Err(Untested::NoRoom(200)));
    (4..=200).for_each(|number| addresses.remove(buffer(number)));
    assert_eq!(addresses.try_publish(Vec::new), Ok(()));
}
