//! Prints of shaders, from the memory that shaders write them to.
//!
//! `report::deliver::prints` delivers them. No work is added to the device, and nothing waits for it.

mod chunks;
mod numbers;
mod print_area;
mod tables;

use crate::arena::{Arena, Part};
use crate::device::state::{Queue, Stores, SubmitMark};
use crate::locks::lock;
use crate::settings::Settings;
use chunks::Chunks;
use print_area::PrintArea;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
pub use tables::PrintTables;
use vkabort_instrument::Options;
use vkabort_record::print::layout::CHUNKS;
use vkabort_report::{DroppedPrints, PrintLine};

/// Prints that are kept for the dump of an abort.
const HISTORY: usize = 1000;

/// The prints of a device.
pub struct Prints {
    area: PrintArea,
    /// The modules that print.
    pub tables: Mutex<PrintTables>,
    /// Held while prints are delivered, so that they arrive in their order.
    pub reader: Mutex<Reader>,
    /// Cursors when all that was reserved had been read.
    seen: [AtomicU32; CHUNKS as usize],
    /// A retired chunk waits, or a print was not complete.
    has_pending: AtomicBool,
    /// Calls that found the reader busy, which reads again for them.
    pub requests: AtomicU32,
}

/// The prints that were read so far.
#[derive(Default)]
pub struct Reader {
    chunks: Chunks<SubmitMark>,
    /// Counts of DROPPED that were delivered.
    dropped: HashMap<u32, u32>,
    history: VecDeque<PrintLine>,
    keeps_history: bool,
}

impl Prints {
    /// The prints of a new device, for which the rewriter gets `options`. `None`: the arena has no memory for them. The arena must
    /// outlive the result.
    pub fn create(arena: &mut Arena, options: &mut Options, settings: &Settings, stores: Stores) -> Option<Self> {
        let area = PrintArea::new(arena.take(Part::Prints)?);
        let skipped = stores.refused().map(|stage| stage.execution_model);
        options.prints = Some(area.options(skipped.collect()));
        let keeps_history = settings.dump_dir.is_some();
        Some(Self {
            area,
            tables: Mutex::default(),
            reader: Mutex::new(Reader {
                keeps_history,
                ..Reader::default()
            }),
            seen: Default::default(),
            has_pending: AtomicBool::new(false),
            requests: AtomicU32::new(0),
        })
    }

    /// Whether there may be new prints. Loads of mapped host memory, one for each chunk.
    pub fn has_news(&self) -> bool {
        let is_new = |(chunk, seen): (u32, &AtomicU32)| self.area.cursor(chunk) != seen.load(Ordering::Relaxed);
        self.has_pending.load(Ordering::Relaxed) || (0..).zip(&self.seen).any(is_new)
    }

    /// Reads the new prints. `queues`: those of the device.
    pub fn read(&self, reader: &mut Reader, queues: impl FnOnce() -> Vec<Arc<Queue>>) -> Vec<PrintLine> {
        let cursors: [u32; CHUNKS as usize] = std::array::from_fn(|chunk| self.area.cursor(chunk as u32));
        let (tables, mut lines) = (lock(&self.tables), Vec::new());
        let is_finished = reader.chunks.read(
            &self.area,
            SubmitMark::is_complete,
            |number| tables.shape(number),
            |record| lines.push(tables.line(&record)),
        );
        reader.chunks.switch(&self.area, || SubmitMark::new(queues()));
        self.has_pending
            .store(!is_finished || reader.chunks.has_retired(), Ordering::Relaxed);
        for (seen, cursor) in self.seen.iter().zip(cursors) {
            seen.store(cursor, Ordering::Relaxed);
        }
        reader.keep(&lines);
        lines
    }

    /// Reads all that is left, once the device's work is complete or lost, and the counts of prints without room.
    pub fn read_rest(&self, reader: &mut Reader) -> (Vec<PrintLine>, Vec<DroppedPrints>) {
        let (tables, mut lines) = (lock(&self.tables), Vec::new());
        reader.chunks.read_rest(
            &self.area,
            |number| tables.shape(number),
            |record| lines.push(tables.line(&record)),
        );
        let mut dropped = Vec::new();
        for (counter, place) in tables.counters() {
            let count = self.area.dropped(counter);
            let before = reader.dropped.insert(counter, count).unwrap_or(0);
            // Memory that was lost with the device reads as ones.
            let new = count.wrapping_sub(before);
            if new != 0 && count != u32::MAX {
                let count = new.into();
                dropped.push(DroppedPrints { place, count });
            }
        }
        reader.keep(&lines);
        (lines, dropped)
    }
}

impl Reader {
    fn keep(&mut self, lines: &[PrintLine]) {
        if self.keeps_history {
            self.history.extend(lines.iter().rev().take(HISTORY).rev().cloned());
            let excess = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..excess);
        }
    }

    /// The last prints, if they are kept.
    pub fn history(&self) -> impl Iterator<Item = &PrintLine> {
        self.history.iter()
    }
}
