//! Barriers that all invocations execute equally often, proved from control flow.
//!
//! They are in blocks that each invocation executes once, of functions that are called in such blocks only. Conditions are not evaluated,
//! not even constant or uniform ones.

use super::super::module::ModulePlanter;
use super::super::workgroup::barrier::is_workgroup_barrier;
use vkabort_analysis::graph::FunctionGraph;
use vkabort_analysis::loop_nest::LoopNest;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, Table};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op;

/// The workgroup barriers that are not proved to be executed equally often by all invocations, as word offsets.
pub(super) fn non_uniform_barriers(module: &ModulePlanter<'_, '_>) -> Vec<usize> {
    let index = module.index;
    let barriers = |function: &Function| -> Vec<usize> {
        let insts = index.insts(function.offset, function.end);
        let barriers = insts.filter(|inst| is_workgroup_barrier(index, inst));
        barriers.map(|inst| inst.offset).collect()
    };
    let has_barrier = |number| {
        let function = index.functions.get(number);
        function.is_some_and(|function| !barriers(function).is_empty())
    };
    let reaching = module.graph.callers_closure(has_barrier, |_| true);
    let (order, _) = module.graph.callees_first();
    // Whether each call that has been seen is executed once by all invocations. Those of recursions, which no shader has, never are.
    let mut uniform: Table<FunctionIndex, bool> = index.functions.map(|_| false);
    for number in &order {
        uniform.set(*number);
    }
    let mut found = Vec::new();
    for number in order.into_iter().rev().filter(|number| reaching.is_set(*number)) {
        let is_uniform = uniform.is_set(number);
        let reach = module.graph.reach.get(number);
        let Some(function) = index
            .functions
            .get(number)
            .filter(|_| reach.is_some_and(|r| !r.entry_points.is_empty()))
        else {
            continue;
        };
        let blocks = UnconditionalBlocks::new(index, function);
        for call in module.graph.calls_in(number).iter() {
            let block = index.calls.get(call).map(|call| call.block);
            if let Some(callee) = module.graph.callee(call)
                && !(is_uniform && block.is_some_and(|block| blocks.contains(block)))
                && let Some(uniform) = uniform.get_mut(callee)
            {
                *uniform = false;
            }
        }
        let is_passed = |offset: &usize| is_uniform && blocks.contains_offset(*offset);
        found.extend(barriers(function).into_iter().filter(|offset| !is_passed(offset)));
    }
    found.sort_unstable();
    found
}

/// The blocks that each invocation that returns from a function executes once: those in no loop that dominate every return.
struct UnconditionalBlocks {
    graph: FunctionGraph,
    nest: LoopNest,
    returns: Vec<BlockIndex>,
}

impl UnconditionalBlocks {
    fn new(index: &Index<'_>, function: &Function) -> Self {
        let graph = FunctionGraph::new(index, function);
        let returns = |number: &BlockIndex| {
            let block = index.blocks.get(*number);
            let end = block.map(|block| index.terminator(block).opcode());
            graph.is_reachable(*number) && matches!(end, Some(op::Return | op::ReturnValue | op::EmitMeshTasksEXT))
        };
        Self {
            returns: function.blocks.iter().filter(returns).collect(),
            nest: LoopNest::new(index, function),
            graph,
        }
    }

    fn contains(&self, block: BlockIndex) -> bool {
        let mut returns = self.returns.iter();
        self.nest.innermost(block).is_none() && returns.all(|end| self.graph.dominates(block, *end))
    }

    fn contains_offset(&self, offset: usize) -> bool {
        self.graph.block_at(offset).is_some_and(|block| self.contains(block))
    }
}
