//! `a && b` and `a || b`, which compilers turn into a branch over `b`.

use super::Writer;
use super::text::{ConditionText, Join, join, or_unknown};
use smallvec::SmallVec;
use vkabort_analysis::view::{AccessKind, Origin};
use vkabort_spirv::index::typed::{BlockIndex, DefIndex};
use vkabort_spirv::{Id, Inst, op};

impl<'w> Writer<'_, '_, 'w> {
    /// `a && b` and `a || b` as a phi of two values, of which one skips the other.
    pub(super) fn short_circuit(&mut self, phi: &Inst<'w>, was_true: bool, below: u32) -> Option<ConditionText> {
        let block = self.flow.block_at(phi.offset)?;
        let pairs: SmallVec<[(Id, Id); 3]> = phi.phi_pairs().collect();
        let &[first, second] = pairs.as_slice() else {
            return None;
        };
        self.selected(block, phi.offset, [first, second], was_true, below)
    }

    /// As [`Self::short_circuit`], for a load of a variable of which two definitions meet in its block, as Slang writes it. Slang uses one variable for
    /// several of them.
    pub(super) fn stored(&mut self, load: &Inst<'w>, was_true: bool, below: u32) -> Option<ConditionText> {
        let (index, flow) = (self.flow.index, self.flow);
        let block = flow.block_at(load.offset)?;
        let (definition, _) = flow.definition_of_load(load.result())?;
        let phi = flow.memory.definitions.get(definition)?;
        let is_phi = phi.origin == Origin::Phi && phi.block == block && load.load_access() == 0;
        let &[first, second] = phi.operands.as_slice() else {
            return None;
        };
        // Stored in the predecessor itself.
        let stored = |(from, definition): (BlockIndex, DefIndex)| {
            let found = flow.memory.definitions.get(definition).filter(|of| of.block == from)?;
            let Origin::Access(by) = found.origin else { return None };
            let store = flow.accesses.accesses.get(by)?;
            match store.kind {
                AccessKind::Store(value) => Some((value, index.blocks.get(from)?.label)),
                _ => None,
            }
        };
        let pairs = [stored(first)?, stored(second)?];
        is_phi
            .then(|| self.selected(block, load.offset, pairs, was_true, below))
            .flatten()
    }

    /// A Boolean that is one of two values by the predecessor of `block`, if one of them is constant there.
    fn selected(
        &mut self,
        block: BlockIndex,
        offset: usize,
        pairs: [(Id, Id); 2],
        was_true: bool,
        below: u32,
    ) -> Option<ConditionText> {
        let (index, flow) = (self.flow.index, self.flow);
        let before = flow.graph.immediate_dominator(block)?;
        let branch = index.terminator(index.blocks.get(before)?);
        if branch.opcode() != op::BranchConditional {
            return None;
        }
        let label = index.blocks.get(block)?.label;
        // The outcome of the branch that leads to a predecessor.
        let outcome = |predecessor: Id| {
            let from = flow.block_of_label(predecessor)?;
            let leads = |to: Id| match from == before {
                true => to == label,
                false => to != label && flow.block_of_label(to).is_some_and(|to| flow.graph.dominates(to, from)),
            };
            match (leads(branch.true_label()), leads(branch.false_label())) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            }
        };
        // glslang branches on the negated left operand of `||`.
        let condition = branch.condition();
        let negated = index.def(condition).filter(|inst| inst.opcode() == op::LogicalNot);
        let constant = |value: Id, outcome: bool| match index.opcode(value) {
            op::ConstantTrue => Some(true),
            op::ConstantFalse => Some(false),
            _ if value == condition => Some(outcome),
            _ if negated.is_some_and(|inst| inst.id(3) == value) => Some(!outcome),
            _ => None,
        };
        let is_later = |id: Id| index.def(id).is_none_or(|def| def.offset >= offset);
        let [first, second] = pairs;
        [(first, second), (second, first)]
            .into_iter()
            .find_map(|((short, around), (long, through))| {
                let skipped = outcome(around)?;
                let skips_with = constant(short, skipped)?;
                if outcome(through)? == skipped || is_later(long) || is_later(condition) {
                    return None;
                }
                let is_and = !skips_with;
                let left_is = if is_and { !skipped } else { skipped };
                let left = self.boolean(condition, left_is == was_true, below);
                // Only then has the right operand been computed.
                let was_unsure = self.is_unsure;
                self.is_unsure |= was_true != is_and;
                self.joins.push(Join {
                    block: label,
                    through,
                    around,
                });
                let right = self.boolean(long, was_true, below);
                self.joins.pop();
                self.is_unsure = was_unsure;
                Some(join(is_and == was_true, or_unknown(left), or_unknown(right)))
            })
    }
}
