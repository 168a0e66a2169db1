//! Loops that may wait for other invocations.
//!
//! A loop whose conditions depend on memory that other invocations write may wait for an invocation that has aborted.
//! Such loops, and loops without an exit, poll the arena's ABORTED word at the top of every iteration, so that the device
//! is lost in finite time. Other loops end by themselves and stay as they are; a loop that only counts with atomics does
//! not wait.
//!
//! Atomic, volatile and coherent reads count in every condition. Shared reads in callees count only in conditions that
//! decide whether the loop is left. In loops with a barrier so do plain loads of shared memory: any loop that sorts or
//! sums in shared memory reads it.
//!
//! `memory` classifies reads, `shared_reads` summarizes them by function, `results` propagates them to callers along the
//! provenance that `dataflow` computes, and `constructs` finds the conditions that select between values.

mod constructs;
mod dataflow;
mod memory;
mod results;
mod shared_reads;
#[cfg(test)]
mod tests;

use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex, Table};
use crate::analysis::index::{Block, Index};
use crate::spv::op_sets::is_memory_object;
use crate::spv::{Id, Inst, op, operands};
use constructs::{Constructs, number_at};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use shared_reads::SharedReads;
use std::cell::OnceCell;

/// Marks every loop header.
pub(crate) fn all_headers(index: &Index<'_>) -> Table<BlockIndex, bool> {
    let is_header = |b| index.blocks.get(b).is_some_and(|b| index.loop_merge(b).is_some());
    index.blocks.map(is_header)
}

/// Whether loops may wait, by the labels of their headers.
pub(crate) type WaitingLoops = HashMap<Id, bool>;

/// Marks the headers of loops that may wait. Loops in `examined` keep their result: a pass may have moved parts of them
/// into functions since, and the result of such a function depends on everything that it does.
pub(crate) fn waiting_headers(
    index: &Index<'_>,
    graph: &CallGraph,
    examined: &WaitingLoops,
) -> Table<BlockIndex, bool> {
    let mut marks = index.blocks.map(|_| false);
    let shared = OnceCell::new();
    for (number, function) in index.functions.iter() {
        for header in function.blocks.iter() {
            let found = index.blocks.get(header).and_then(|b| Some((b, index.loop_merge(b)?)));
            let Some((block, (merge, target))) = found else {
                continue;
            };
            let waits = || {
                // The loop: blocks that the header reaches without passing the merge block.
                let blocks: Vec<&Block> = index
                    .continue_blocks(function, merge, merge, block.label)
                    .into_iter()
                    .filter_map(|b| index.blocks.get(b))
                    .collect();
                let has_exit = blocks.iter().any(|b| {
                    index.successors(b).contains(&merge)
                        || matches!(
                            index.terminator(b).opcode(),
                            op::Return | op::ReturnValue | op::Kill | op::AbortKHR | op::TerminateInvocation
                        )
                });
                let shared = || shared.get_or_init(|| SharedReads::new(index, graph)).as_ref();
                !has_exit || shared().is_some_and(|s| Loop::new(index, s, number, &blocks).waits(merge, target))
            };
            if examined.get(&block.label).copied().unwrap_or_else(waits) {
                marks.set(header);
            }
        }
    }
    marks
}

/// A loop and the stores to variables in it.
struct Loop<'a, 'w> {
    index: &'a Index<'w>,
    shared: &'a SharedReads<'a, 'w>,
    /// The function of the loop.
    function: FunctionIndex,
    /// In module order.
    blocks: &'a [&'a Block],
    /// By variable: stored values, each with the position of its block in `blocks`. A call with a pointer argument into
    /// the variable counts as a store of the call's result.
    stores: HashMap<Id, Vec<(Id, usize)>>,
    /// A callee returns the result of a shared read.
    calls_reader: bool,
    /// A callee stores the result of a shared read to a private variable.
    calls_storer: bool,
    /// There is a barrier in the loop or in a callee.
    synchronizes: bool,
    /// An instruction in the loop or in a callee is unknown: it may read shared memory and store to any variable.
    has_unknown: bool,
}

impl<'a, 'w> Loop<'a, 'w> {
    fn new(
        index: &'a Index<'w>,
        shared: &'a SharedReads<'a, 'w>,
        function: FunctionIndex,
        blocks: &'a [&'a Block],
    ) -> Self {
        let mut all = Self {
            index,
            shared,
            function,
            blocks,
            stores: HashMap::default(),
            calls_reader: false,
            calls_storer: false,
            synchronizes: false,
            has_unknown: false,
        };
        for (number, block) in blocks.iter().enumerate() {
            for inst in index.body(block) {
                all.synchronizes |= shared.synchronizes(&inst);
                all.has_unknown |= shared.has_unknown(&inst);
                match inst.opcode() {
                    op::Store => {
                        let variable = shared.base(inst.pointer());
                        all.stores
                            .entry(variable)
                            .or_default()
                            .push((inst.stored_value(), number));
                    }
                    op::FunctionCall => {
                        all.calls_reader |= shared.calls_reader(&inst);
                        all.calls_storer |= shared.calls_storer(&inst);
                        for argument in inst.ids(4) {
                            let variable = shared.base(argument);
                            if is_memory_object(index.opcode(variable)) {
                                all.stores.entry(variable).or_default().push((inst.result(), number));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        all
    }

    fn waits(&self, merge: Id, target: Id) -> bool {
        let conditions = self.blocks.iter().map(|b| self.index.terminator(b));
        let conditions = conditions.filter(|i| matches!(i.opcode(), op::BranchConditional | op::Switch));
        if self.has_unknown || self.depends(conditions.map(|i| i.condition()).collect(), None) {
            return true;
        }
        if !self.synchronizes && !self.calls_reader && !self.calls_storer {
            return false;
        }
        let constructs = Constructs::new(self.index, self.blocks);
        let deciding = constructs.deciding(self.index, self.blocks, merge, target);
        self.depends(deciding, Some(&constructs))
    }

    /// Whether values depend on memory that other invocations write: directly, through phis, or through variables that are
    /// stored to in the loop. With `constructs`, reads in callees count too, plain loads if there is a barrier, and the
    /// conditions that select a phi's operand or guard a store.
    fn depends(&self, mut worklist: Vec<Id>, constructs: Option<&Constructs>) -> bool {
        let index = self.index;
        let is_read = |inst: &Inst<'_>| {
            self.shared.reads_itself(inst)
                || constructs.is_some()
                    && (self.shared.calls_reader(inst) || self.synchronizes && self.shared.loads(inst))
        };
        let mut seen = HashSet::default();
        let mut reached = HashSet::default();
        while let Some(id) = worklist.pop() {
            if !seen.insert(id) {
                continue;
            }
            if is_memory_object(index.opcode(id)) {
                for (value, block) in self.stores.get(&id).into_iter().flatten() {
                    worklist.push(*value);
                    if let Some(constructs) = constructs {
                        constructs.around(*block, &mut reached, &mut worklist);
                    }
                }
                if constructs.is_some() && self.calls_storer && self.shared.is_stored_to_outside(id, self.function) {
                    return true;
                }
                continue;
            }
            let Some((block, inst)) = self.inside(id) else { continue };
            if is_read(&inst) {
                return true;
            }
            if inst.opcode() == op::Phi
                && let Some(constructs) = constructs
            {
                constructs.selecting(index, self.blocks, (&inst, block), &mut reached, &mut worklist);
            }
            let is_visited = operands::visit_ids(&inst, 1, |i| {
                let operand = inst.id(i);
                worklist.push(operand);
                if matches!(inst.opcode(), op::Load | op::FunctionCall) {
                    worklist.push(self.shared.base(operand));
                }
            });
            if !is_visited {
                return true;
            }
        }
        false
    }

    /// The definition of a value and the position of its block, if it is in the loop.
    fn inside(&self, id: Id) -> Option<(usize, Inst<'w>)> {
        let inst = self.index.def(id)?;
        Some((number_at(self.blocks, inst.offset)?, inst))
    }
}
