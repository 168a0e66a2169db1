//! Which loops watch for aborts of other invocations.
//!
//! A loop whose conditions depend on memory which other invocations write may wait for one that has aborted. Such loops,
//! and loops without an exit of their own, test the arena's ABORTED word at the top of every iteration, so that the device
//! is lost in finite time; other loops end by themselves and stay as they are. A loop that only counts with atomics is not
//! one that waits.
//!
//! Reads that say themselves that they see what others write count in every condition. What functions read counts only in
//! conditions that decide whether the loop is left, and in loops with a barrier so do plain loads of shared memory: any
//! loop that sorts or sums in shared memory looks at it.
//!
//! `memory` knows which reads see what others write, `shared` which functions have any, `results` which of them give it to
//! their callers, by what `origins` says their values are made of, and `constructs` which selections choose.

mod constructs;
mod dataflow;
mod memory;
mod results;
mod shared_reads;

use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::function::Block;
use crate::analysis::loops;
use crate::spv::{Id, Inst, op, operands};
use constructs::{Constructs, number_at};
use memory::base;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use shared_reads::SharedReads;
use std::cell::OnceCell;

/// Marks every loop header.
pub(crate) fn all_headers(index: &Index<'_>) -> Vec<bool> {
    index
        .blocks
        .iter()
        .map(|b| loops::loop_merge(index, b).is_some())
        .collect()
}

/// Whether loops may wait, by the labels of their headers.
pub(crate) type WaitingLoops = HashMap<Id, bool>;

/// Marks the headers of loops that may wait. Those that were in `waiting_loops` before a pass moved parts of them into functions are
/// not examined again: what such a function gives back depends on all that it does.
pub(crate) fn waiting_headers(index: &Index<'_>, graph: &CallGraph, waiting_loops: &WaitingLoops) -> Vec<bool> {
    let mut marks = vec![false; index.blocks.len()];
    let shared = OnceCell::new();
    for (number, function) in index.functions.iter().enumerate() {
        for header in function.blocks.clone() {
            let Some(block) = index.blocks.get(header) else {
                continue;
            };
            let Some((merge, target)) = loops::loop_merge(index, block) else {
                continue;
            };
            if let (Some(mark), Some(waits)) = (marks.get_mut(header), waiting_loops.get(&block.label)) {
                *mark = *waits;
                continue;
            }
            // Those that the header reaches without passing the merge block.
            let blocks: Vec<&Block> = loops::continue_blocks(index, function, merge, merge, block.label)
                .into_iter()
                .filter_map(|b| index.blocks.get(b))
                .collect();
            let exits = blocks.iter().any(|b| {
                index.successors(b).contains(&merge)
                    || matches!(
                        index.terminator(b).opcode(),
                        op::Return | op::ReturnValue | op::Kill | op::AbortKHR | op::TerminateInvocation
                    )
            });
            let waits = || {
                let shared = shared.get_or_init(|| SharedReads::new(index, graph)).as_ref()?;
                Some(Loop::new(index, shared, number, &blocks).waits(merge, target))
            };
            if let Some(mark) = marks.get_mut(header) {
                *mark = !exits || waits() == Some(true);
            }
        }
    }
    marks
}

/// A loop and what happens in it to variables.
struct Loop<'a, 'w> {
    index: &'a Index<'w>,
    shared: &'a SharedReads<'a, 'w>,
    /// The function that it is in.
    function: usize,
    /// In module order.
    blocks: &'a [&'a Block],
    /// By variable: what is stored to it, and in which block of the loop. A call that gets a pointer into it stores its
    /// result.
    stores: HashMap<Id, Vec<(Id, usize)>>,
    /// Whether a function is called that gives back what others write.
    calls_reader: bool,
    /// Whether one is called that keeps it in a private variable.
    calls_storer: bool,
    /// Whether there is a barrier.
    synchronizes: bool,
}

impl<'a, 'w> Loop<'a, 'w> {
    fn new(index: &'a Index<'w>, shared: &'a SharedReads<'a, 'w>, function: usize, blocks: &'a [&'a Block]) -> Self {
        let mut all = Self {
            index,
            shared,
            function,
            blocks,
            stores: HashMap::default(),
            calls_reader: false,
            calls_storer: false,
            synchronizes: false,
        };
        for (number, block) in blocks.iter().enumerate() {
            for inst in index.body(block) {
                all.synchronizes |= shared.synchronizes(&inst);
                match inst.opcode() {
                    op::Store => {
                        let variable = base(index, inst.word(1));
                        all.stores.entry(variable).or_default().push((inst.word(2), number));
                    }
                    op::FunctionCall => {
                        all.calls_reader |= shared.calls_reader(&inst);
                        all.calls_storer |= shared.calls_storer(&inst);
                        for argument in inst.from(4) {
                            let variable = base(index, *argument);
                            if is_variable(index.opcode(variable)) {
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
        if self.depends(conditions.map(|i| i.word(1)).collect(), None) {
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
    /// stored to in the loop. With `constructs`, what functions read counts, and behind barriers plain loads; and so does
    /// what chooses between the operands of a phi and whether something is stored.
    fn depends(&self, mut open: Vec<Id>, constructs: Option<&Constructs>) -> bool {
        let index = self.index;
        let is_read = |inst: &Inst<'_>| {
            self.shared.reads_itself(inst)
                || constructs.is_some()
                    && (self.shared.calls_reader(inst) || self.synchronizes && self.shared.loads(inst))
        };
        let mut seen = HashSet::default();
        let mut reached = HashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if is_variable(index.opcode(id)) {
                for (value, block) in self.stores.get(&id).into_iter().flatten() {
                    open.push(*value);
                    if let Some(constructs) = constructs {
                        constructs.around(*block, &mut reached, &mut open);
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
                constructs.choosing(index, self.blocks, (&inst, block), &mut reached, &mut open);
            }
            operands::visit_ids(&inst, 1, |i| {
                let operand = inst.word(i);
                open.push(operand);
                if matches!(inst.opcode(), op::Load | op::FunctionCall) {
                    open.push(base(index, operand));
                }
            });
        }
        false
    }

    /// The instruction that makes a value, and the number of its block, if it is in the loop.
    fn inside(&self, id: Id) -> Option<(usize, Inst<'w>)> {
        let inst = self.index.def(id)?;
        Some((number_at(self.blocks, inst.offset)?, inst))
    }
}

fn is_variable(opcode: u16) -> bool {
    matches!(opcode, op::Variable | op::UntypedVariableKHR | op::FunctionParameter)
}
