//! The versions of the table of buffers, in the memory where shaders read them (`vkabort_record::buffer_table`).
//!
//! A shader that has read CURRENT may search that version until its submission ends. So the memory of a version is used again only
//! when all work that was submitted while it was current is known to be complete, which its mark tells. Nothing waits for that: without
//! room for another version none is current, and addresses are not tested.

use crate::arena::MappedWords;
use std::sync::atomic::{Ordering, fence};
use vkabort_record::buffer_table::{FIRST_VERSION, MAX_TAIL, Range, TAIL_OFFSET, unit, version_bytes};
use vkabort_record::layout::UNIT_BYTES;

/// Byte offset of CURRENT.
const CURRENT: u32 = 0;

/// The versions in an area. `M`: marks the work that was submitted before a version was replaced.
pub struct Versions<M> {
    area: MappedWords,
    current: Option<Version>,
    retired: Vec<(Version, M)>,
}

#[derive(Clone, Copy)]
struct Version {
    offset: u32,
    bytes: u32,
    count: u32,
    tail: u32,
}

impl<M> Versions<M> {
    /// No version is current.
    pub fn new(area: MappedWords) -> Self {
        area.store(CURRENT, 0);
        Self {
            area,
            current: None,
            retired: Vec::new(),
        }
    }

    /// Makes a version with these ranges, sorted, the current one. `mark`: called afterwards. False if there is no room: then none is
    /// current.
    pub fn publish(&mut self, ranges: &[Range], is_complete: impl Fn(&M) -> bool, mark: impl FnOnce() -> M) -> bool {
        self.retired.retain(|(_, mark)| !is_complete(mark));
        let new = self.room(ranges.len());
        if let Some(new) = new {
            self.write(new.offset, [new.count, 0, 0, 0]);
            let offsets = (new.offset..).step_by(UNIT_BYTES as usize).skip(1);
            for (offset, range) in offsets.zip(ranges) {
                self.write(offset, unit(*range));
            }
        }
        self.area.store(CURRENT, new.map_or(0, |new| new.offset));
        // Submissions that are counted from here on read the new value.
        fence(Ordering::SeqCst);
        if let Some(old) = std::mem::replace(&mut self.current, new) {
            self.retired.push((old, mark()));
        }
        new.is_some()
    }

    /// No version is current from now on.
    pub fn withdraw(&self) {
        self.area.store(CURRENT, 0);
    }

    /// Adds a range to the tail of the current version. False if it has no room for it.
    pub fn append(&mut self, range: Range) -> bool {
        let Some(version) = self.current.filter(|version| version.tail < MAX_TAIL) else {
            return self.current.is_none();
        };
        let at = version.offset + (1 + version.count + version.tail) * UNIT_BYTES;
        self.write(at, unit(range));
        let tail = version.tail + 1;
        self.area.store(version.offset + TAIL_OFFSET, tail);
        self.current = Some(Version { tail, ..version });
        true
    }

    fn write(&self, offset: u32, unit: [u32; 4]) {
        for (offset, word) in (offset..).step_by(4).zip(unit) {
            if let Some(place) = self.area.word(offset) {
                place.store(word, Ordering::Relaxed);
            }
        }
    }

    /// The first room for `count` ranges between the versions that may be in use.
    fn room(&self, count: usize) -> Option<Version> {
        let count = u32::try_from(count).ok()?;
        let bytes = u32::try_from(version_bytes(count)).ok()?;
        let used = || self.retired.iter().map(|(version, _)| version).chain(&self.current);
        let starts = std::iter::once(FIRST_VERSION).chain(used().map(|version| version.offset + version.bytes));
        let fits = |start: &u32| {
            let end = start.checked_add(bytes).filter(|end| *end <= self.area.bytes());
            end.is_some_and(|end| used().all(|other| end <= other.offset || other.offset + other.bytes <= *start))
        };
        let offset = starts.filter(fits).min()?;
        let tail = 0;
        Some(Version {
            offset,
            bytes,
            count,
            tail,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::testing::mapped_words;

    /// Versions in an area with room for two versions of two ranges, which lives as long as the process.
    fn versions() -> Versions<u32> {
        let bytes = FIRST_VERSION + 2 * version_bytes(2) as u32;
        Versions::new(mapped_words(bytes, 7).0)
    }

    /// The ranges that a shader reads: those of the version, and its tail.
    fn read(versions: &Versions<u32>) -> Option<(Vec<Range>, usize)> {
        let load = |offset: u32| versions.area.load(offset);
        let current = Some(load(CURRENT)).filter(|current| *current != 0)?;
        let (count, tail) = (load(current), load(current + TAIL_OFFSET));
        let units = (1..=count + tail).map(|number| current + number * UNIT_BYTES);
        let long = |offset: u32| u64::from(load(offset)) | u64::from(load(offset + 4)) << 32;
        Some((units.map(|at| (long(at), long(at + 8))).collect(), tail as usize))
    }

    #[test]
    fn shaders_read_the_version_that_was_published_last() {
        let mut versions = versions();
        assert_eq!(read(&versions), None);
        assert!(versions.append((1, 2)), "the next version has it");
        let ranges = [(0x1_0000_0000, 0x1_0000_0100), (0x2_0000_0000, 0x2_8000_0000)];
        assert!(versions.publish(&ranges, |_| false, || 1));
        assert_eq!(read(&versions), Some((ranges.to_vec(), 0)));
        assert!(versions.publish(&[], |_| false, || 1));
        assert_eq!(read(&versions), Some((vec![], 0)));
    }

    #[test]
    fn a_version_is_not_written_before_its_work_is_complete() {
        let mut versions = versions();
        let ranges = |number| [(number, number + 1), (number + 2, number + 3)];
        assert!(versions.publish(&ranges(10), |_| false, || 1));
        assert!(versions.publish(&ranges(20), |_| false, || 1));
        let second = read(&versions);
        assert!(!versions.publish(&ranges(30), |_| false, || 2), "both may be in use");
        assert_eq!(read(&versions), None, "nothing is tested");
        assert!(versions.publish(&ranges(40), |mark| *mark <= 1, || 3));
        assert_eq!(read(&versions), Some((ranges(40).to_vec(), 0)));
        assert_eq!(second, Some((ranges(20).to_vec(), 0)));
    }

    #[test]
    fn new_buffers_join_the_tail_until_it_is_full() {
        let mut versions = versions();
        assert!(versions.publish(&[(10, 20)], |_| false, || 1));
        for number in 0..u64::from(MAX_TAIL) {
            assert!(versions.append((number, number + 1)));
        }
        assert!(!versions.append((0, 1)));
        let (ranges, tail) = read(&versions).expect("a version");
        assert_eq!((ranges.len(), tail), (1 + MAX_TAIL as usize, MAX_TAIL as usize));
        assert_eq!((ranges[0], ranges[1], ranges[32]), ((10, 20), (0, 1), (31, 32)));
    }
}
