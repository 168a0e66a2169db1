//! `a && b` and `a || b`, which compilers turn into a branch over `b`.

use super::Writer;
use super::text::{Join, Written, join, or_unknown};
use crate::analysis::index::typed::Node;
use crate::analysis::variable_uses::Store;
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;

impl<'w> Writer<'_, '_, 'w> {
    /// `a && b` and `a || b` as a phi of two values, of which one skips the other.
    pub(super) fn short_circuit(&mut self, phi: &Inst<'w>, held: bool, below: u32) -> Option<Written> {
        let block = self.flow.node_at(phi.offset)?;
        let pairs: SmallVec<[(Id, Id); 3]> = phi.phi_pairs().collect();
        let &[first, second] = pairs.as_slice() else {
            return None;
        };
        self.selected(block, phi.offset, [first, second], held, below)
    }

    /// The same as a load of a variable to which both predecessors of its block have stored, as Slang writes it. Slang uses
    /// one variable for several of them.
    pub(super) fn stored(&mut self, load: &Inst<'w>, held: bool, below: u32) -> Option<Written> {
        let (index, flow) = (self.flow.index, self.flow);
        let block = flow.node_at(load.offset)?;
        let &[first, second] = flow.predecessors(block) else {
            return None;
        };
        if load.load_access() != 0 {
            return None;
        }
        let stores: SmallVec<[(Id, &Store); 4]> = (flow.uses.stores(load.pointer())?)
            .filter_map(|store| Some((index.blocks.get(store.block)?.label, store)))
            .collect();
        let label = flow.block(block)?.label;
        if stores
            .iter()
            .any(|(of, store)| *of == label && store.offset < load.offset)
        {
            return None;
        }
        let last = |node: Node| {
            let predecessor = flow.block(node)?.label;
            let last = stores.iter().rfind(|(of, _)| *of == predecessor);
            last.map(|(_, store)| (store.value, predecessor))
        };
        let pairs = [last(first)?, last(second)?];
        self.selected(block, load.offset, pairs, held, below)
    }

    /// A Boolean that is one of two values by the predecessor of `block`, if one of them is constant there.
    fn selected(
        &mut self,
        block: Node,
        offset: usize,
        pairs: [(Id, Id); 2],
        held: bool,
        below: u32,
    ) -> Option<Written> {
        let (index, flow) = (self.flow.index, self.flow);
        let before = flow.dominators.parent(block)?;
        let branch = index.terminator(flow.block(before)?);
        if branch.opcode() != op::BranchConditional {
            return None;
        }
        let label = flow.block(block)?.label;
        // The outcome of the branch that leads to a predecessor.
        let outcome = |predecessor: Id| {
            let node = flow.node_of_label(predecessor)?;
            let leads = |to: Id| match node == before {
                true => to == label,
                false => {
                    to != label
                        && flow
                            .node_of_label(to)
                            .is_some_and(|to| flow.dominators.dominates(to, node))
                }
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
                let left = self.boolean(condition, left_is == held, below);
                // Only then has the right operand been computed.
                let was_unsure = self.is_unsure;
                self.is_unsure |= held != is_and;
                self.joins.push(Join {
                    block: label,
                    through,
                    around,
                });
                let right = self.boolean(long, held, below);
                self.joins.pop();
                self.is_unsure = was_unsure;
                Some(join(is_and == held, or_unknown(left), or_unknown(right)))
            })
    }
}
