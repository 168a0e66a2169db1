//! The points from which an invocation may come to one of some instructions: in its function, in those that it calls, and in its callers.

use crate::callgraph::CallGraph;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use vkabort_spirv::index::typed::{BlockIndex, Key, Node, Table};
use vkabort_spirv::index::{Function, Index};

/// Points of a module. The default has none.
#[derive(Debug, Default)]
pub struct PointsBefore {
    /// The last of the instructions in each block that has one, or the last call that executes one.
    last: HashMap<BlockIndex, usize>,
    /// Blocks at whose end an invocation may still come to one.
    before: HashSet<BlockIndex>,
}

impl PointsBefore {
    /// The points in front of the instructions at the word offsets `targets`. O((blocks + edges + calls) * log(targets)).
    pub fn new(index: &Index<'_>, graph: &CallGraph, targets: &BTreeSet<usize>) -> Self {
        let mut points = Self::default();
        let executes = graph.callers_closure(
            |number| {
                let function = index.functions.get(number);
                function.is_some_and(|function| targets.range(function.offset..function.end).next().is_some())
            },
            |_| true,
        );
        let (callees_first, recursive) = graph.callees_first();
        let mut continues = index.functions.map(|_| false);
        // Callers first. Functions that call themselves have no order.
        for number in &recursive {
            continues.set(*number);
        }
        for number in recursive.into_iter().chain(callees_first.into_iter().rev()) {
            let Some(function) = index.functions.get(number) else {
                continue;
            };
            let calls = || graph.calls_in(number).iter();
            let of_callees = calls().filter(|call| graph.callee(*call).is_some_and(|callee| executes.is_set(callee)));
            let of_callees = of_callees.filter_map(|call| Some(index.calls.get(call)?.offset));
            if continues.is_set(number) {
                points.before.extend(function.blocks.iter());
            } else if executes.is_set(number) {
                let own = targets.range(function.offset..function.end).copied();
                points.add(index, function, own.chain(of_callees));
            }
            for call in calls() {
                let Some((place, callee)) = index.calls.get(call).zip(graph.callee(call)) else {
                    continue;
                };
                if points.contains(place.block, place.offset + 1) {
                    continues.set(callee);
                }
            }
        }
        points
    }

    /// Whether an invocation may come to one of the instructions from a word offset of a block, at or behind it.
    pub fn contains(&self, block: BlockIndex, offset: usize) -> bool {
        self.before.contains(&block) || self.last.get(&block).is_some_and(|last| *last >= offset)
    }

    /// Adds the points of a function in front of instructions in it.
    fn add(&mut self, index: &Index<'_>, function: &Function, targets: impl Iterator<Item = usize>) {
        let predecessors = index.successor_nodes(function).reversed();
        let mut worklist = Vec::new();
        for target in targets {
            let Some(node) = index.node_at(function, target) else {
                continue;
            };
            let Some(block) = function.blocks.at(node.to_usize()) else {
                continue;
            };
            let last = self.last.entry(block).or_default();
            *last = target.max(*last);
            worklist.push(node);
        }
        let mut before: Table<Node, bool> = predecessors.map(|_| false);
        while let Some(node) = worklist.pop() {
            for from in predecessors.get(node).into_iter().flatten() {
                if before.set(*from) {
                    worklist.push(*from);
                }
            }
        }
        let blocks = function.blocks.iter().zip(before.values());
        self.before
            .extend(blocks.filter_map(|(block, is_before)| is_before.then_some(block)));
    }
}
