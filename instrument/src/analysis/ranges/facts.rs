//! Comparisons that hold in a block, since every path to it passes a branch that made them.

use crate::analysis::index::Index;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::value_flow::{Condition, Test, ValueFlow};
use crate::spv::{Id, op};

/// Limits on branches and comparisons that are considered for one block.
const MAX_BRANCHES: usize = 64;
const MAX_FACTS: usize = 128;

/// A comparison with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) comparison: Id,
    /// The component of a vector.
    pub(crate) component: Option<u32>,
    pub(crate) result: bool,
}

/// The comparisons of the branches that every path to a block has taken.
pub(super) fn facts_at(index: &Index<'_>, flow: &ValueFlow<'_, '_>, block: BlockIndex) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut at = block;
    for _ in 0..MAX_BRANCHES {
        let Some(parent) = flow.parent(at) else { break };
        let branch = index.blocks.get(parent).map(|parent| index.terminator(parent));
        if let Some(branch) = branch.filter(|branch| branch.opcode() == op::BranchConditional) {
            let label = index.blocks.get(at).map_or(Id::NONE, |block| block.label);
            let targets = [branch.true_label(), branch.false_label()];
            // Back edges come from blocks that the branch dominates too.
            if targets.contains(&label) && targets[0] != targets[1] && is_entered_from(flow, at, parent) {
                add(index, &mut facts, branch.condition(), None, targets[0] == label);
            }
        }
        at = parent;
    }
    facts
}

/// The comparisons that conditions consist of.
pub(super) fn of_conditions(index: &Index<'_>, conditions: &[Condition]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for condition in conditions.iter().filter(|condition| condition.test != Test::NonZero) {
        let result = condition.test == Test::True;
        add(index, &mut facts, condition.value, condition.component, result);
    }
    facts
}

/// Whether a block is entered from one block only, but for back edges.
fn is_entered_from(flow: &ValueFlow<'_, '_>, block: BlockIndex, parent: BlockIndex) -> bool {
    let before = flow.before(block);
    before
        .into_iter()
        .all(|from| from == parent || flow.dominates(block, from))
}

/// Adds the comparisons that must all have their results for a condition to have its result.
fn add(index: &Index<'_>, facts: &mut Vec<Fact>, condition: Id, component: Option<u32>, result: bool) {
    let mut worklist = vec![(condition, result)];
    while let Some((id, result)) = worklist.pop() {
        if facts.len() + worklist.len() >= MAX_FACTS {
            return;
        }
        let Some(inst) = index.def(id) else { continue };
        match inst.opcode() {
            op::LogicalNot => worklist.push((inst.first_operand(), !result)),
            op::LogicalAnd if result => worklist.extend(inst.ids(3).map(|id| (id, result))),
            op::LogicalOr if !result => worklist.extend(inst.ids(3).map(|id| (id, result))),
            _ => facts.push(Fact {
                comparison: id,
                component,
                result,
            }),
        }
    }
}
