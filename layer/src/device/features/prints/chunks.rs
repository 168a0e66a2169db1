//! The chunks of a print area: selects the one that shaders print to, reads them, and empties those that no shader uses any more.
//!
//! ```text
//! free -> current -> retired -> free       retired once it is more than half full and another one is free
//! ```
//!
//! A shader that has read CURRENT before a chunk was retired may still print to it. So the chunk is emptied only when all work that
//! was submitted before is known to be complete, which its mark tells. Nothing waits for that: without a free chunk, the current one
//! stays until it is full.

use super::print_area::PrintArea;
use vkabort_record::print::layout::{CHUNKS, FIRST_SLOT};
use vkabort_record::print::record::{PrintRecord, PrintShape, read_prints};

/// The chunks of an area. `M`: marks the work that was submitted before a chunk was retired.
pub struct Chunks<M> {
    /// The retired ones from the oldest on, then the current one.
    used: Vec<Chunk<M>>,
    free: Vec<u32>,
}

struct Chunk<M> {
    number: u32,
    /// The slot behind the last that was read.
    read: u32,
    retired: Option<M>,
}

impl<M> Default for Chunks<M> {
    fn default() -> Self {
        Self {
            used: vec![Chunk::new(0)],
            free: (1..CHUNKS).collect(),
        }
    }
}

impl<M> Chunk<M> {
    fn new(number: u32) -> Self {
        Self {
            number,
            read: FIRST_SLOT,
            retired: None,
        }
    }
}

impl<M> Chunks<M> {
    /// Reads the complete prints in the order of their reservation, up to the first that is not complete, and empties the retired
    /// chunks whose work is. `shape`: of the records of a number. Returns whether it has reached the end.
    pub fn read(
        &mut self,
        area: &PrintArea,
        is_complete: impl Fn(&M) -> bool,
        shape: impl Fn(u32) -> Option<PrintShape>,
        mut each: impl FnMut(PrintRecord),
    ) -> bool {
        let mut index = 0;
        while let Some(chunk) = self.used.get_mut(index) {
            // In this order: nothing is reserved once the work is complete.
            let is_final = chunk.retired.as_ref().is_some_and(&is_complete);
            let reserved = area.reserved(chunk.number);
            chunk.read_to((area, reserved), is_final, &shape, &mut each);
            if is_final {
                area.empty(chunk.number);
                self.free.push(chunk.number);
                self.used.remove(index);
            } else if chunk.read < reserved {
                return false;
            } else {
                index += 1;
            }
        }
        true
    }

    /// Reads all that is left, of work that is complete or lost: incomplete records are skipped, and a cursor may be lost.
    pub fn read_rest(
        &mut self,
        area: &PrintArea,
        shape: impl Fn(u32) -> Option<PrintShape>,
        mut each: impl FnMut(PrintRecord),
    ) {
        for chunk in &mut self.used {
            chunk.read_to((area, area.slots()), true, &shape, &mut each);
        }
    }

    /// Makes a free chunk the current one if that is more than half full. `mark`: called afterwards.
    pub fn switch(&mut self, area: &PrintArea, mark: impl FnOnce() -> M) {
        let Some(current) = self.used.last_mut() else { return };
        if area.reserved(current.number) <= (area.slots() + FIRST_SLOT) / 2 {
            return;
        }
        if let Some(next) = self.free.pop() {
            area.set_current(next);
            current.retired = Some(mark());
            self.used.push(Chunk::new(next));
        }
    }

    /// Whether some chunk waits for work to complete.
    pub fn has_retired(&self) -> bool {
        self.used.len() > 1
    }
}

impl<M> Chunk<M> {
    fn read_to(
        &mut self,
        (area, to): (&PrintArea, u32),
        is_final: bool,
        shape: impl Fn(u32) -> Option<PrintShape>,
        each: impl FnMut(PrintRecord),
    ) {
        let words = area.copy(self.number, self.read, to);
        let slot = area.first_slot(self.number) + self.read;
        self.read += read_prints(&words, slot, is_final, shape, each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::features::prints::print_area::testing::{area, shape};
    use vkabort_record::print::layout::SHARED_COUNTER;

    /// Records of a chunk.
    const RECORDS: u32 = 8;

    fn read(chunks: &mut Chunks<u32>, area: &PrintArea, completed: u32) -> Vec<u32> {
        let mut sites = Vec::new();
        chunks.read(area, |mark| *mark <= completed, shape, |record| sites.push(record.site));
        sites
    }

    #[test]
    fn prints_of_frames_in_flight_all_arrive_once_and_in_order() {
        let (area, mut chunks) = (area(RECORDS), Chunks::default());
        let mut next = 0..;
        let mut arrived = Vec::new();
        for frame in 0..100u32 {
            for _ in 0..3 {
                let unit = area.reserve().expect("room");
                area.commit(unit, next.next().expect("a number"));
            }
            // Two frames are in flight.
            arrived.extend(read(&mut chunks, &area, frame.saturating_sub(2)));
            chunks.switch(&area, || frame + 1);
        }
        assert_eq!(arrived, (0..300).collect::<Vec<_>>());
        assert_eq!(area.dropped(SHARED_COUNTER), 0);
    }

    #[test]
    fn a_chunk_is_not_used_again_before_its_work_is_complete() {
        let (area, mut chunks) = (area(RECORDS), Chunks::default());
        let mut dropped = 0;
        for number in 0..100 {
            match area.reserve() {
                Some(unit) => area.commit(unit, number),
                None => dropped += 1,
            }
            chunks.switch(&area, || 1);
        }
        // Three chunks were retired when they were more than half full, and the last one is full.
        let kept = 3 * (RECORDS / 2 + 1) + RECORDS;
        assert_eq!(read(&mut chunks, &area, 0), (0..kept).collect::<Vec<_>>());
        assert_eq!((area.dropped(SHARED_COUNTER), dropped), (100 - kept, 100 - kept));
        assert_eq!(read(&mut chunks, &area, 0), [0; 0], "once");
        read(&mut chunks, &area, 1);
        chunks.switch(&area, || 2);
        let unit = area.reserve().expect("there is room again");
        area.commit(unit, 7);
        assert_eq!(read(&mut chunks, &area, 1), [7]);
    }

    #[test]
    fn a_late_print_to_a_retired_chunk_arrives() {
        let (area, mut chunks) = (area(RECORDS), Chunks::default());
        let units: Vec<u32> = (0..6).map(|_| area.reserve().expect("room")).collect();
        for (site, unit) in (0..).zip(&units).skip(1) {
            area.commit(*unit, site);
        }
        assert_eq!(read(&mut chunks, &area, 0), [0; 0], "the first is not complete");
        chunks.switch(&area, || 1);
        let unit = area.reserve().expect("room");
        area.commit(unit, 6);
        assert_eq!(read(&mut chunks, &area, 0), [0; 0]);
        area.commit(units[0], 0);
        assert_eq!(read(&mut chunks, &area, 0), [0, 1, 2, 3, 4, 5, 6]);
        assert!(chunks.has_retired());
        assert_eq!(read(&mut chunks, &area, 1), [0; 0]);
        assert!(!chunks.has_retired());
    }

    #[test]
    fn incomplete_prints_do_not_delay_those_behind_them_at_the_end() {
        let (area, mut chunks) = (area(RECORDS), Chunks::<u32>::default());
        let units: Vec<u32> = (0..3).map(|_| area.reserve().expect("room")).collect();
        area.commit(units[0], 0);
        area.commit(units[2], 2);
        let mut sites = Vec::new();
        chunks.read_rest(&area, shape, |record| sites.push(record.site));
        chunks.read_rest(&area, shape, |record| sites.push(record.site));
        assert_eq!(sites, [0, 2]);
    }
}
