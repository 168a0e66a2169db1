//! Nesting depth of conditions in drivers. Mesa turns each early return outside of loops into one more level, around all that
//! follows (`nir_lower_returns`), and inlines calls; its compiler for CPUs ignores conditions at more than 80 levels.

use crate::callgraph::CallGraph;
use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::index::typed::{FunctionIndex, Node, Table};
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, op};

/// Constructs around a block.
#[derive(Clone, Copy, Debug, Default)]
struct EnclosingConstructs {
    selections: usize,
    /// Header of the outermost loop.
    outermost_loop: Option<Id>,
}

/// A function that nests too deep because of its early returns.
pub struct DeepFunction<'i> {
    pub function: &'i Function,
    /// Its last return outside of loops, in as few selections as possible. `None`: it returns only from loops.
    pub outer_return: Option<&'i Block>,
    /// Returns outside of loops, and loops with returns, without the last one.
    pub early_returns: usize,
}

/// The returns and the selections of a function.
struct Shape<'i> {
    /// Returns outside of loops, and loops with returns, without the last one.
    early_returns: usize,
    outer_return: Option<&'i Block>,
    /// Most selections around a block.
    selections: usize,
    /// By block. `None` for blocks that structured control flow does not reach.
    around: Table<Node, Option<EnclosingConstructs>>,
}

/// Blocks in the order of their function, which is one of dominance (SPIR-V specification, 2.16.1). O(blocks * log(blocks)).
fn shape<'i>(index: &'i Index<'_>, function: &Function) -> Shape<'i> {
    let blocks = index.blocks_of(function);
    let mut around: Table<Node, Option<EnclosingConstructs>> = vec![None; blocks.len()].into();
    let set = |around: &mut Table<Node, Option<EnclosingConstructs>>, label, value| {
        let slot = index.node_of(function, label).and_then(|node| around.get_mut(node));
        slot.map(|slot| slot.get_or_insert(value));
    };
    let (mut returns, mut selections) = (0, 0);
    let mut outer_return: Option<(usize, &Block)> = None;
    let mut loops_with_returns = HashSet::default();
    for (position, block) in blocks.iter().enumerate() {
        if position == 0 {
            set(&mut around, block.label, EnclosingConstructs::default());
        }
        let Some(mut inside) = around.get(Node::from_usize(position)).copied().flatten() else {
            continue;
        };
        if let Some(merge) = index.merge(block) {
            set(&mut around, merge.merge_block(), inside);
            if merge.opcode() == op::LoopMerge {
                inside.outermost_loop.get_or_insert(block.label);
                set(&mut around, merge.continue_target(), inside);
            } else {
                inside.selections += 1;
            }
        }
        selections = selections.max(inside.selections);
        if is_return(index, block) {
            let counts = inside
                .outermost_loop
                .is_none_or(|header| loops_with_returns.insert(header));
            returns += usize::from(counts);
            let is_outer =
                inside.outermost_loop.is_none() && outer_return.is_none_or(|(around, _)| inside.selections <= around);
            if is_outer {
                outer_return = Some((inside.selections, block));
            }
        }
        for next in index.successors(block) {
            set(&mut around, next, inside);
        }
    }
    Shape {
        early_returns: returns.saturating_sub(1),
        outer_return: outer_return.map(|(_, block)| block),
        selections,
        around,
    }
}

fn is_return(index: &Index<'_>, block: &Block) -> bool {
    matches!(index.terminator(block).opcode(), op::Return | op::ReturnValue)
}

/// Whether all conditions and returns together are no more than `limit`: then no function nests deeper. O(blocks).
fn is_flat(index: &Index<'_>, limit: usize) -> bool {
    let blocks = index
        .functions
        .iter()
        .flat_map(|(_, function)| index.blocks_of(function));
    let nests = |block: &&Block| {
        is_return(index, block)
            || index
                .merge(block)
                .is_some_and(|merge| merge.opcode() == op::SelectionMerge)
    };
    blocks.filter(nests).nth(limit).is_none()
}

/// The functions that nest too deep because of their early returns, callees first, among those that `may_change`. Each that
/// has an outer return is taken for one without early returns in its callers.
pub fn deep_functions<'i>(
    index: &'i Index<'_>,
    limit: usize,
    may_change: impl Fn(FunctionIndex) -> bool,
) -> Vec<DeepFunction<'i>> {
    if is_flat(index, limit) {
        return Vec::new();
    }
    let graph = CallGraph::new(index);
    let mut deep = Vec::new();
    // Levels of each function, with its callees.
    let mut levels: Table<FunctionIndex, usize> = index.functions.map(|_| 0);
    for number in callees_first(index, &graph) {
        let Some(function) = index.functions.get(number) else {
            continue;
        };
        let shape = shape(index, function);
        let at_calls = graph.calls_in(number).iter().filter_map(|call| {
            let callee = levels.get(graph.callee(call)?)?;
            let node = function.blocks.offset_of(index.calls.get(call)?.block)?;
            let around = shape.around.get(Node::from_usize(node))?.unwrap_or_default();
            Some(around.selections + callee)
        });
        let below = at_calls.max().unwrap_or(0).max(shape.selections);
        let nested = below + shape.early_returns;
        let is_deep = nested > limit && shape.early_returns > 1 && may_change(number);
        if is_deep {
            deep.push(DeepFunction {
                function,
                outer_return: shape.outer_return,
                early_returns: shape.early_returns,
            });
        }
        if let Some(levels) = levels.get_mut(number) {
            *levels = if is_deep && shape.outer_return.is_some() {
                below
            } else {
                nested
            };
        }
    }
    deep
}

/// Every function after those that it calls. Recursive ones, which SPIR-V forbids, are left out.
fn callees_first(index: &Index<'_>, graph: &CallGraph) -> Vec<FunctionIndex> {
    let mut callers: Table<FunctionIndex, Vec<FunctionIndex>> = index.functions.map(|_| Vec::new());
    let mut open_calls = index.functions.map(|caller| graph.callees_in(caller).count());
    for caller in index.functions.keys() {
        for callee in graph.callees_in(caller) {
            callers.get_mut(callee).into_iter().for_each(|list| list.push(caller));
        }
    }
    let mut order: Vec<FunctionIndex> = open_calls.keys().filter(|f| open_calls.get(*f) == Some(&0)).collect();
    let mut done = 0;
    while let Some(callee) = order.get(done).copied() {
        done += 1;
        for caller in callers.get(callee).into_iter().flatten() {
            if let Some(open) = open_calls.get_mut(*caller) {
                *open -= 1;
                if *open == 0 {
                    order.push(*caller);
                }
            }
        }
    }
    order
}
