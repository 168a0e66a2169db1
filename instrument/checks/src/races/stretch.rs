//! Stretches of code whose accesses are recorded together, in front of the last one.
//!
//! Between two of them, no invocation can learn of the first one, leave, or go on to another block: nothing is there but computations,
//! loads and stores. So an invocation that races executes a few instructions more; those leave the memory that they leave without the
//! check.

use super::super::place::Place;
use super::super::workgroup::shadow_location::ShadowLocation;
use super::accesses::SharedAccess;
use super::log::MAX_SCALARS;
use super::records::RecordedAccess;
use std::mem;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op, op_sets};

/// Least accesses to one element behind the other, of one site, that are recorded as one: programs copy arrays so.
const MIN_RUN: usize = 8;

/// Accesses that are recorded as one.
pub(super) struct Entry<'w> {
    /// In front of this instruction.
    pub(super) place: Place<'w>,
    pub(super) recorded: RecordedAccess,
    /// The pointer or variable that its message names.
    pub(super) named: Id,
}

/// Accesses of a stretch whose shadow is at one location.
pub(super) type Entries<'w> = Vec<Entry<'w>>;

/// Divides the accesses of a function, which come in its order, into stretches.
pub(super) struct Stretches<'i, 'w> {
    index: &'i Index<'w>,
    most: usize,
    /// The offset of the last access.
    last: Option<usize>,
    open: [(ShadowLocation, Entries<'w>); 2],
    done: Vec<Entries<'w>>,
}

impl<'i, 'w> Stretches<'i, 'w> {
    /// `most`: accesses of a stretch.
    pub(super) fn new(index: &'i Index<'w>, most: u32) -> Self {
        Self {
            index,
            most: most.max(1) as usize,
            last: None,
            open: [ShadowLocation::Shared, ShadowLocation::Block].map(|location| (location, Vec::new())),
            done: Vec::new(),
        }
    }

    /// Adds an access. Amortised O(instructions since the one before).
    pub(super) fn add(&mut self, place: Place<'w>, recorded: RecordedAccess) {
        let index = self.index;
        if !self.last.is_some_and(|last| continues(index, last, place.offset)) {
            self.end();
        }
        self.last = Some(place.offset);
        if let Some((_, entries)) = self
            .open
            .iter_mut()
            .find(|(location, _)| *location == recorded.location)
        {
            let named = recorded.access.pointer;
            entries.push(Entry { place, recorded, named });
        }
    }

    /// All stretches.
    pub(super) fn finish(mut self) -> Vec<Entries<'w>> {
        self.end();
        self.done
    }

    fn end(&mut self) {
        for (_, entries) in &mut self.open {
            let mut stretch = Vec::new();
            for entry in join_runs(mem::take(entries)) {
                stretch.push(entry);
                if stretch.len() == self.most {
                    self.done.push(mem::take(&mut stretch));
                }
            }
            if !stretch.is_empty() {
                self.done.push(stretch);
            }
        }
    }
}

/// Makes one entry of accesses to one element behind the other.
fn join_runs(entries: Entries<'_>) -> Entries<'_> {
    let mut joined = Vec::with_capacity(entries.len());
    let mut run: Entries<'_> = Vec::new();
    for entry in entries {
        if !run.last().is_some_and(|last| follows(&last.recorded, &entry.recorded)) {
            end_run(&mut run, &mut joined);
        }
        run.push(entry);
    }
    end_run(&mut run, &mut joined);
    joined
}

fn end_run<'w>(run: &mut Entries<'w>, joined: &mut Entries<'w>) {
    if run.len() < MIN_RUN {
        joined.append(run);
        return;
    }
    let all = mem::take(run);
    let scalars = all.iter().map(|entry| entry.recorded.access.scalars).sum::<u32>();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return;
    };
    // As many as an entry has room for.
    for part in (0..scalars).step_by(MAX_SCALARS as usize) {
        let access = SharedAccess {
            first: first.recorded.access.first + part,
            scalars: (scalars - part).min(MAX_SCALARS),
            ..first.recorded.access.clone()
        };
        joined.push(Entry {
            place: last.place,
            recorded: RecordedAccess {
                access,
                ..first.recorded.clone()
            },
            named: first.recorded.access.variable,
        });
    }
}

/// Whether an access is like another one, to the scalars behind it.
fn follows(one: &RecordedAccess, next: &RecordedAccess) -> bool {
    let (before, after) = (&one.access, &next.access);
    before.variable == after.variable
        && one.site == next.site
        && before.steps.is_empty()
        && after.steps.is_empty()
        && before.first.checked_add(before.scalars) == Some(after.first)
}

/// Whether accesses at two offsets may be recorded together.
pub(super) fn continues(index: &Index<'_>, before: usize, after: usize) -> bool {
    before <= after && index.insts(before, after).all(|inst| passes(&inst))
}

/// Whether the accesses around an instruction may be recorded together.
fn passes(inst: &Inst<'_>) -> bool {
    let opcode = inst.opcode();
    op_sets::writes_no_memory(opcode)
        || matches!(
            opcode,
            op::Store | op::CopyMemory | op::ExtInst | op::SampledImage..=op::ImageQuerySamples
        )
}
