//! Calls of the planted function that counts invocations that end.
//!
//! Drivers for CPUs compile each count to a loop. Where a section contains no barrier behind its exits, its one exit counts for all of them:
//! others wait for what an invocation would do only at barriers.

use super::division::Division;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_spirv::index::typed::Node;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::{Id, Inst, op};

/// The function that counts, and those in which invocations may come to a barrier.
pub(super) struct CountedEnds {
    end: Id,
    with_barriers: HashSet<Id>,
}

impl CountedEnds {
    /// O(words of the module + calls). `end`: the function.
    pub(super) fn new(index: &Index<'_>, end: Id) -> Self {
        let functions = index.functions.values().iter();
        let with_own = functions.filter(|function| {
            let blocks = index.blocks_of(function).iter();
            let mut insts = blocks.flat_map(|block| index.insts(block.offset, block.end));
            insts.any(|inst| inst.opcode() == op::ControlBarrier)
        });
        let mut with_barriers: HashSet<Id> = with_own.map(|function| function.id).collect();
        let mut callers: HashMap<Id, Vec<Id>> = HashMap::default();
        for call in index.calls.values() {
            let caller = index.functions.get(call.caller).map(|caller| caller.id);
            callers.entry(call.callee).or_default().extend(caller);
        }
        let mut worklist: Vec<Id> = with_barriers.iter().copied().collect();
        while let Some(callee) = worklist.pop() {
            let callers = callers.get(&callee).into_iter().flatten().copied();
            worklist.extend(callers.filter(|caller| with_barriers.insert(*caller)));
        }
        Self { end, with_barriers }
    }

    /// Whether invocations may come to a barrier in a block.
    pub(super) fn has_barrier(&self, index: &Index<'_>, block: &Block) -> bool {
        let mut insts = index.body(block);
        insts.any(|inst| match inst.opcode() {
            op::ControlBarrier => true,
            op::FunctionCall => self.with_barriers.contains(&inst.callee()),
            _ => false,
        })
    }

    /// The calls on the ways to the exits of each section, if the exit of the section may make them instead.
    pub(super) fn movable<'w>(&self, division: &Division<'_, 'w>) -> Vec<Vec<Inst<'w>>> {
        let index = division.index;
        let mut calls: Vec<Vec<Inst<'w>>> = vec![Vec::new(); division.count()];
        let mut has_barrier = vec![false; division.count()];
        let only_exits = only_exits(division);
        for (position, block) in index.blocks_of(division.function).iter().enumerate() {
            let node = Node::from_usize(position);
            let Some(section) = division.section(node).filter(|section| *section < division.count()) else {
                continue;
            };
            // The block of a border is executed before all others of its section.
            if division.border(node).is_none() && self.has_barrier(index, block) {
                has_barrier.get_mut(section).into_iter().for_each(|mark| *mark = true);
            }
            let is_counting = |inst: &Inst<'_>| inst.opcode() == op::FunctionCall && inst.callee() == self.end;
            let counts = index.body(block).filter(is_counting);
            let counts = counts.filter(|_| only_exits.contains(&block.label));
            if let Some(calls) = calls.get_mut(section) {
                calls.extend(counts);
            }
        }
        for (calls, has_barrier) in calls.iter_mut().zip(has_barrier) {
            if has_barrier {
                calls.clear();
            }
        }
        calls
    }
}

/// The labels of blocks that lead to exits of sections only. An exit in a loop is none of a section.
fn only_exits(division: &Division<'_, '_>) -> HashSet<Id> {
    let index = division.index;
    let mut found = HashSet::default();
    let blocks = index.blocks_of(division.function).iter().enumerate();
    // Blocks come behind those that dominate them.
    for (position, block) in blocks.rev() {
        let successors = index.successors(block);
        let leads_to_exits = !successors.is_empty() && successors.iter().all(|label| found.contains(label));
        if leads_to_exits || division.exits.contains(&Node::from_usize(position)) {
            found.insert(block.label);
        }
    }
    found
}
