//! Finds uses of a loop's value behind the loop, without a phi or a variable. Some drivers then give invocations that left the loop
//! earlier a value of those that stayed.

use crate::module::{Function, Id, Module};
use crate::op;
use std::collections::{HashMap, HashSet};

/// Whether an instruction behind a loop uses a value that one in the loop computes. A phi uses a value where its edge comes from. The
/// loops are those that the original has too: a loop around a body, which is never repeated, does no harm.
pub(super) fn uses_values_behind_loops(module: &Module, original: &Module) -> bool {
    let blocks = original.functions.iter().flat_map(|function| &function.blocks);
    let headers = blocks.filter(|block| block.merge().is_some_and(|merge| merge.op == op::LoopMerge));
    let headers: HashSet<Id> = headers.map(|block| block.label).collect();
    module.functions.iter().any(|function| uses_behind(function, &headers))
}

fn uses_behind(function: &Function, headers: &HashSet<Id>) -> bool {
    let loops: Vec<HashSet<Id>> = function
        .blocks
        .iter()
        .filter(|block| headers.contains(&block.label))
        .filter_map(|block| {
            let merge = block.merge().filter(|merge| merge.op == op::LoopMerge)?;
            Some(blocks_of_loop(function, block.label, merge.word(0)))
        })
        .collect();
    let mut defined: HashMap<Id, Id> = HashMap::new();
    for block in &function.blocks {
        let values = block.insts.iter().filter(|inst| op::has_result(inst.op));
        // Pointers to variables are the same in every iteration.
        let values = values.filter(|inst| !matches!(inst.op, op::Variable | op::AccessChain | op::InBoundsAccessChain));
        defined.extend(values.map(|inst| (inst.word(1), block.label)));
    }
    let is_behind = |from: Id, to: Id| {
        loops
            .iter()
            .any(|blocks| blocks.contains(&from) && !blocks.contains(&to))
    };
    function.blocks.iter().any(|block| {
        block.insts.iter().any(|inst| match inst.op {
            op::Phi => inst
                .operands_from(2)
                .chunks_exact(2)
                .any(|edge| defined.get(&edge[0]).is_some_and(|from| is_behind(*from, edge[1]))),
            // Literals of these may equal an id.
            op::LoopMerge | op::SelectionMerge | op::Branch | op::Switch => false,
            op::BranchConditional => defined
                .get(&inst.word(0))
                .is_some_and(|from| is_behind(*from, block.label)),
            op::CompositeExtract => defined
                .get(&inst.word(2))
                .is_some_and(|from| is_behind(*from, block.label)),
            _ => inst
                .operands_from(0)
                .iter()
                .any(|id| defined.get(id).is_some_and(|from| is_behind(*from, block.label))),
        })
    })
}

/// The blocks that are reached from the header of a loop, and from which its back edge is reached or that it encloses: those that its
/// merge block does not follow.
fn blocks_of_loop(function: &Function, header: Id, merge: Id) -> HashSet<Id> {
    let mut outside = reached(function, merge, header);
    let inside = reached(function, header, merge);
    outside.insert(merge);
    inside.difference(&outside).copied().collect()
}

/// The blocks that are reached from one without passing another.
fn reached(function: &Function, from: Id, without: Id) -> HashSet<Id> {
    let (mut found, mut open) = (HashSet::from([from]), vec![from]);
    while let Some(label) = open.pop() {
        let block = function.block(label).and_then(|at| function.blocks.get(at));
        for next in block.map(crate::module::Block::successors).unwrap_or_default() {
            if next != without && found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}
