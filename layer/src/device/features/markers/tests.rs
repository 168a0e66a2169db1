//! Tests of slots and of the progress that markers show.

use super::*;

#[test]
fn checkpoints_of_a_queue_are_progress_of_their_recordings() {
    let at = |top, bottom| Checkpoints { top, bottom };
    let progress = |begun, ended| Progress { begun, ended };
    let begin = |number| checkpoint(3, number, Side::Begin);
    let end = |number| checkpoint(3, number, Side::End);
    assert_eq!(at(begin(5), end(2)).progress(3), progress(5, 2));
    assert_eq!(at(begin(5), begin(5)).progress(3), progress(5, 4));
    assert_eq!(at(end(5), end(5)).progress(3), progress(5, 5));
    assert_eq!(at(begin(1), begin(1)).progress(3), progress(1, 0));
    assert_eq!(at(begin(5), end(2)).progress(2), progress(0, 0));
    assert_eq!(at(0, 0).progress(0), progress(0, 0));
}

#[test]
fn words_in_memory_are_progress_of_their_recordings() {
    unsafe extern "system" fn write(_: vk::CommandBuffer, _: Stage, _: vk::Buffer, _: u64, _: u32) {}
    static WORDS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
    let words = &WORDS;
    let memory = MappedBuffer {
        buffer: vk::Buffer::null(),
        memory: vk::DeviceMemory::null(),
        base: std::ptr::NonNull::from(words).cast(),
        address: 0,
        choice: None,
        mapping: None,
    };
    let markers = Markers::in_memory(write, memory);
    let slots = [markers.slot(), markers.slot()].map(|slot| slot.expect("a slot"));
    let read = |words_of_slot: [u32; 2]| {
        words[2].store(words_of_slot[0], Ordering::Relaxed);
        words[3].store(words_of_slot[1], Ordering::Relaxed);
        let progress = markers.progress(&slots[1], 5, Checkpoints::default());
        (progress.begun, progress.ended)
    };
    assert_eq!(read([4, 2]), (4, 2));
    assert_eq!(read([1, 3]), (3, 3), "an earlier execution has ended more");
    assert_eq!(read([u32::MAX; 2]), (0, 0), "the memory is lost");
    assert_eq!(read([6, 2]), (0, 0));
    read([4, 2]);
    markers.reset(&slots[1]);
    assert_eq!(words.each_ref().map(|word| word.load(Ordering::Relaxed)), [0; 4]);
}

#[test]
fn slots_are_reused_and_limited() {
    let slots = |count| {
        Arc::new(Slots {
            unused: Mutex::default(),
            count,
        })
    };
    unsafe extern "system" fn set(_: vk::CommandBuffer, _: *const c_void) {}
    unsafe extern "system" fn get(_: vk::Queue, _: *mut u32, _: *mut vk::CheckpointDataNV<'_>) {}
    let mut markers = Markers::of_driver(set, get);
    markers.slots = slots(2);
    let (first, second) = (markers.slot(), markers.slot());
    assert_eq!(
        (first.map(|s| s.index()), second.as_ref().map(Slot::index)),
        (Some(0), Some(1))
    );
    // The first is free again.
    let third = markers.slot();
    assert!(third.as_ref().is_some_and(|slot| slot.index() == 0) && markers.slot().is_none());
}
