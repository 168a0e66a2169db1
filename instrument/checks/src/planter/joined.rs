//! Joins adjacent tests into one branch: it leaves if one of them fails, and the block behind it determines which.
//!
//! ```text
//! %first = .., %second = ..
//! %any = Select %first true %second
//! SelectionMerge %go, BranchConditional %any %failed %go
//! %failed: SelectionMerge %other, BranchConditional %first %one %other
//! %one:    AbortKHR ..
//! %other:  AbortKHR ..
//! %go:
//! ```
//!
//! Drivers for CPUs keep a mask of the invocations that have left, and Mesa updates it at each exit of a loop.
//!
//! Joined are tests at one place, and those of a block with nothing but computations and reads between them ([`EffectFreeRange`]). A test of a
//! computation waits for the next one; one of an access cannot, so the next one is hoisted ([`hoist`](super::hoist)). The report is the
//! same: the values of an abort are those that its operation saw, and nothing is stored between.
//!
//! A test that joins others is made where they may have failed, so it must be defined for all operands, and its result counts only if none
//! of them has: `Select`, since a test of an undefined value is undefined.

use super::Planter;
use super::block_split::{BlockSplit, Test};
use super::effect_free_range::EffectFreeRange;
use super::hoist::{MAX_COPIES, instructions_to_repeat};
use crate::message::Message;
use crate::place::Place;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::iter::Peekable;
use std::mem;
use std::ops::Range;
use std::vec::IntoIter;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::rematerialize_handles::Split;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::words::Insts;
use vkabort_spirv::{Code, Id, op, op_sets};

type BlockSplits<'w> = Peekable<IntoIter<BlockSplit<'w>>>;
type Offsets = SmallVec<[usize; MAX_COPIES]>;

/// Tests with one branch, at a word offset.
struct JoinedTests<'w> {
    offset: usize,
    behind: Position<'w>,
    excludes_helpers: bool,
    is_of_fault: bool,
    /// The tests, and the instructions that are repeated for each.
    tests: SmallVec<[(Test<'w>, Offsets); 4]>,
}

impl<'w> Planter<'_, '_, 'w> {
    /// Plants a test and its abort into a block that invocations can leave.
    pub(super) fn plant_test<T>(
        &mut self,
        check: Check,
        place: &Place<'w>,
        write_condition: impl FnOnce(&mut Emitter) -> (Id, T),
        write_message: impl FnOnce(&mut Emitter, T) -> Message,
    ) {
        let behind = self.position(place.block, place.offset);
        mem::swap(&mut self.module.out.code, &mut self.tests);
        let out = &mut self.module.out;
        let start = out.code.words.len();
        let (failed, rest) = write_condition(out);
        let middle = out.code.words.len();
        let labels = [(); 2].map(|()| out.fresh());
        self.write_end(check, place, |out| write_message(out, rest));
        mem::swap(&mut self.module.out.code, &mut self.tests);
        let end = middle..self.tests.words.len();
        let condition = start..middle;
        let test = Test {
            offset: place.offset,
            guarded: place.guarded,
            is_total: is_total(&self.tests, condition.clone()),
            is_of_fault: place.is_of_fault,
            reads_values: !place.is_of_fault && self.properties(check).is_hoisted,
            condition,
            failed,
            end,
            labels,
            excludes_helpers: self.module.helpers.are_excluded(&self.reach, self.properties(check)),
            counts_end: self.is_counted(check, place),
            behind,
        };
        self.block_splits
            .entry(place.block)
            .or_default()
            .push(BlockSplit::Test(test));
    }

    /// Writes the splits of a block, in the order of their places. Those at one place keep theirs.
    pub(super) fn write_block_splits(&mut self, mut block_splits: Vec<BlockSplit<'w>>, glsl: &[Id]) -> Vec<Split> {
        block_splits.sort_by_key(BlockSplit::offset);
        let mut splits = Vec::with_capacity(block_splits.len());
        let mut block_splits = block_splits.into_iter().peekable();
        while let Some(block_split) = block_splits.next() {
            match block_split {
                BlockSplit::Code(split) => splits.push(split),
                BlockSplit::Test(first) => {
                    let tests = self.take_joined(first, &mut block_splits, glsl);
                    splits.extend(self.write_together(&tests));
                }
            }
        }
        splits
    }

    /// A test, and those behind it that share its branch.
    fn take_joined(&self, first: Test<'w>, block_splits: &mut BlockSplits<'w>, glsl: &[Id]) -> JoinedTests<'w> {
        let mut may_wait = first.may_wait(glsl);
        // With the operation itself, whose result may be undefined.
        let start = if may_wait { first.guarded.offset } else { first.offset };
        let mut stretch = EffectFreeRange::new(self.index, glsl, start);
        let mut joined = JoinedTests {
            offset: first.offset,
            behind: first.behind,
            excludes_helpers: first.excludes_helpers,
            is_of_fault: first.is_of_fault,
            tests: SmallVec::new(),
        };
        joined.tests.push((first, SmallVec::new()));
        while let Some(BlockSplit::Test(next)) = block_splits.peek() {
            // Those of the faults that a value may have are alternatives, of which one fails.
            let are_of_fault = joined.is_of_fault && next.is_of_fault && next.offset == joined.offset;
            let may_join = (self.options().sanitize.joins_tests || are_of_fault) && next.is_total;
            if !may_join || next.excludes_helpers != joined.excludes_helpers {
                break;
            }
            let mut repeated = SmallVec::new();
            if next.offset != joined.offset {
                if !stretch.extend(next.offset) {
                    break;
                }
                may_wait &= stretch.is_harmless();
                if may_wait {
                    joined.offset = next.offset;
                    joined.behind = next.behind;
                } else if let Some(offsets) = self.early(next, joined.offset) {
                    repeated = offsets;
                } else {
                    break;
                }
            }
            let Some(BlockSplit::Test(test)) = block_splits.next() else {
                break;
            };
            may_wait &= test.may_wait(glsl);
            joined.tests.push((test, repeated));
        }
        joined
    }

    /// The word offsets of the instructions to repeat for a test that is made early, at word offset `start`. `None`: it cannot be.
    fn early(&self, test: &Test<'w>, start: usize) -> Option<Offsets> {
        let code = [&test.condition, &test.end].map(|part| self.tests.words.get(part.clone()).unwrap_or_default());
        let range = (start, test.offset);
        instructions_to_repeat(self.index, code, range).filter(|_| test.reads_values)
    }

    /// Writes tests with one branch. `None` if there is no test.
    fn write_together(&mut self, joined: &JoinedTests<'w>) -> Option<Split> {
        let (first, rest) = joined.tests.split_first()?;
        let [failed, go] = first.0.labels;
        let index = self.index;
        let out = &mut self.module.out;
        let mut copies: HashMap<Id, Id> = HashMap::default();
        let mut any = Id::NONE;
        for (test, repeated) in &joined.tests {
            for inst in repeated.iter().map(|offset| index.inst(*offset)) {
                if let Entry::Vacant(copy) = copies.entry(inst.result()) {
                    copy.insert(out.fresh());
                    out.code.copy_mapped(&inst, 1, |id| copy_of(&copies, id));
                }
            }
            let map = |id| copy_of(&copies, id);
            out.code.append_mapped(&self.tests, test.condition.clone(), map);
            any = match any.is_some() {
                true => {
                    let bool = out.bool();
                    let yes = out.value(op::ConstantTrue, bool, ());
                    out.emit(op::Select, bool, (any, yes, test.failed))
                }
                false => test.failed,
            };
        }
        let counts_end = joined.tests.iter().any(|(test, _)| test.counts_end);
        let any = self.write_failed((joined.excludes_helpers, counts_end), any);
        let out = &mut self.module.out;
        out.branch_if(any, failed, go, go);
        out.label(failed);
        self.write_count(counts_end);
        let out = &mut self.module.out;
        let mut last = &first.0;
        for (test, _) in rest {
            let [other, one] = test.labels;
            out.branch_if(last.failed, one, other, other);
            out.label(one);
            out.code
                .append_mapped(&self.tests, last.end.clone(), |id| copy_of(&copies, id));
            out.label(other);
            last = test;
        }
        out.code
            .append_mapped(&self.tests, last.end.clone(), |id| copy_of(&copies, id));
        out.label(go);
        out.write_position(&joined.behind);
        Some(Split {
            offset: joined.offset,
            code: out.take_code(),
        })
    }
}

fn copy_of(copies: &HashMap<Id, Id>, id: Id) -> Id {
    copies.get(&id).copied().unwrap_or(id)
}

/// Whether code is defined for all operands and has no effect.
fn is_total(code: &Code, part: Range<usize>) -> bool {
    let words = code.words.get(part).unwrap_or_default();
    Insts::new(words, 0).all(|inst| op_sets::is_total(inst.opcode()) || inst.opcode() == op::ArrayLength)
}
