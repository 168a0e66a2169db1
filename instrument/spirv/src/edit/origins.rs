//! Origins of the instructions of an edited module: their word offsets in an earlier form of it.
//!
//! ```text
//! kept instruction              its own origin
//! replacement                   that of the replaced instruction
//! copy (`Code::copy`)           that of the copied instruction, also where the copy replaces or follows another one
//! instruction after a mark      that of the marked instruction (`Code::mark_origin`): planted code names the guarded instruction
//! other inserted instructions   none
//! ```
//!
//! A run of 12 bytes for each stretch of kept words and each edit, however long they are.

/// Word offsets in an earlier form of a module, by word offset in its present form.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Sorted by start. `None` while both forms are the same.
    runs: Option<Vec<Run>>,
}

/// Words from `start` to the start of the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u32,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The words come from as many words at this offset.
    Kept(u32),
    /// All words come from the instruction at this offset.
    Single(u32),
    None,
}

impl Origins {
    /// The origin of the instruction at a word offset. O(log of the number of edits).
    pub fn of(&self, offset: u32) -> Option<u32> {
        let Some(runs) = &self.runs else {
            return Some(offset);
        };
        let run = runs.get(position(runs, offset)?)?;
        match run.origin {
            Origin::Kept(origin) => Some(origin + (offset - run.start)),
            Origin::Single(origin) => Some(origin),
            Origin::None => None,
        }
    }
}

/// The run that holds an offset.
fn position(runs: &[Run], offset: u32) -> Option<usize> {
    runs.partition_point(|run| run.start <= offset).checked_sub(1)
}

/// The origins of a module being written from another one, in the order of its words.
pub(super) struct OriginsBuilder<'o> {
    old: &'o Origins,
    runs: Vec<Run>,
}

impl<'o> OriginsBuilder<'o> {
    /// `old`: the origins of the module before the edits. `edits`: their number.
    pub(super) fn new(old: &'o Origins, edits: usize) -> Self {
        let runs = Vec::with_capacity(2 * edits + old.runs.as_ref().map_or(1, Vec::len));
        Self { old, runs }
    }

    /// Words at `start` are those at `from` to before `until` of the old module.
    pub(super) fn keep(&mut self, start: usize, from: usize, until: usize) {
        let (start, from, until) = (start as u32, from as u32, until as u32);
        let Some(old) = &self.old.runs else {
            return self.push(start, Origin::Kept(from));
        };
        let first = position(old, from).unwrap_or(0);
        for run in old.iter().skip(first).take_while(|run| run.start < until) {
            let skipped = from.saturating_sub(run.start);
            let origin = match run.origin {
                Origin::Kept(origin) => Origin::Kept(origin + skipped),
                other => other,
            };
            self.push(start + (run.start + skipped - from), origin);
        }
    }

    /// Words at `start` come from the instruction at `from` of the old module, or are new.
    pub(super) fn insert(&mut self, start: usize, from: Option<u32>) {
        let origin = from.and_then(|from| self.old.of(from));
        self.push(start as u32, origin.map_or(Origin::None, Origin::Single));
    }

    fn push(&mut self, start: u32, origin: Origin) {
        match self.runs.last_mut() {
            Some(last) if last.start == start => last.origin = origin,
            Some(last) if last.origin == Origin::None && origin == Origin::None => {}
            _ => self.runs.push(Run { start, origin }),
        }
    }

    pub(super) fn finish(self) -> Origins {
        Origins { runs: Some(self.runs) }
    }
}
