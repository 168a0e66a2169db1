//! Counters of loops: phis and variables that go up by a constant while they are below another one.
//!
//! ```text
//! %i = Phi %first .. %next ..      Store %i %first
//! %c = SLessThan %i %end           %v = Load %i, %c = SLessThan %v %end
//! %next = IAdd %i %step            %w = Load %i, %next = IAdd %w %step, Store %i %next
//! ```
//!
//! A counter that starts at a value that is not negative, and is only stepped below `end`, does not overflow.

use super::comparisons::mirrored;
use super::facts::facts_at;
use super::interval::Range;
use super::{MAX_DEPTH, Question};
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::value_flow::memory::AccessKind;
use crate::spv::{Id, Inst, op};

/// Limit on stores to a variable.
const MAX_STORES: usize = 4;

impl Question<'_, '_, '_> {
    /// A phi: of the values that it takes, or a counter.
    pub(super) fn of_phi(&mut self, phi: &Inst<'_>, component: Option<u32>, bits: u32, depth: u32) -> Option<Range> {
        let index = self.ranges.index;
        let mut all: Option<Range> = None;
        for (value, _) in phi.phi_pairs() {
            let next = index.def(value)?;
            let range = match next.offset < phi.offset {
                true => self.range(value, component, depth + 1),
                // It comes over a back edge.
                false => self.stepped(phi.result(), &next, self.at_point.flow.block_at(next.offset)?, bits)?,
            };
            all = Some(all.map_or(range, |all| all.join(range)));
        }
        all
    }

    /// A load of a variable of the function: of the values that are stored to it.
    pub(super) fn of_variable(&mut self, load: &Inst<'_>, bits: u32, depth: u32) -> Option<Range> {
        let flow = self.at_point.flow;
        let (variable, access) = flow.local_load(load.result())?;
        let stores = flow.memory.stores(variable);
        let mut all: Option<Range> = None;
        for (count, store) in stores
            .iter()
            .filter(|other| other.below(&access.path).is_some())
            .enumerate()
        {
            let AccessKind::Store(value) = store.kind else {
                return None;
            };
            if count >= MAX_STORES || store.path != access.path || !store.is_exact {
                return None;
            }
            let next = self.ranges.index.def(value)?;
            let stepped = match next.opcode() {
                op::IAdd => self.stepped(next.id(3), &next, store.block, bits),
                _ => None,
            };
            let is_own = next.opcode() == op::IAdd && flow.local_load(next.id(3)).is_some_and(|own| own.0 == variable);
            let range = match stepped.filter(|_| is_own) {
                Some(range) => range,
                None => self.range(value, None, MAX_DEPTH.min(depth + 3)),
            };
            all = Some(all.map_or(range, |all| all.join(range)));
        }
        all
    }

    /// The range of `next`, which adds a constant to `base`, in a block that is only reached if `base` is below a constant.
    fn stepped(&self, base: Id, next: &Inst<'_>, block: BlockIndex, bits: u32) -> Option<Range> {
        let index = self.ranges.index;
        let constant = |id| index.literal(&index.def(id).filter(|inst| inst.opcode() == op::Constant)?);
        if next.opcode() != op::IAdd || next.id(3) != base {
            return None;
        }
        let step = constant(next.id(4))?;
        let flow = self.at_point.flow;
        let facts = facts_at(index, flow, block);
        let ends = facts.iter().filter_map(|fact| {
            let comparison = index.def(fact.comparison).filter(|inst| inst.words.len() == 5)?;
            let (left, right) = (comparison.id(3), comparison.id(4));
            let (opcode, counter, end) = match (constant(left), constant(right)) {
                (None, Some(end)) => (comparison.opcode(), left, end),
                (Some(end), None) => (mirrored(comparison.opcode()), right, end),
                _ => return None,
            };
            let end = match (opcode, fact.result) {
                (op::SLessThan | op::ULessThan, true) | (op::SGreaterThanEqual | op::UGreaterThanEqual, false) => end,
                (op::SLessThanEqual | op::ULessThanEqual, true) | (op::SGreaterThan | op::UGreaterThan, false) => {
                    end.checked_add(1)?
                }
                _ => return None,
            };
            flow.is_same(counter, base).then_some(end)
        });
        let end = ends.min()?;
        let positive = Range::full(bits).max() >> 1;
        let max = end.checked_sub(1)?.checked_add(step)?;
        (end <= positive && max <= positive).then_some(Range::unsigned(step, max, bits))
    }
}
