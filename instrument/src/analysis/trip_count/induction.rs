//! Values that change by a constant in each iteration of a loop.

use super::TripCounts;
use crate::analysis::index::constant::wrapped;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::loop_nest::Loop;
use crate::spv::{Id, Inst, op};

/// Limit on blocks before a loop that are searched for the first value of a variable.
const MAX_BLOCKS_BEFORE: usize = 16;

/// A value that changes by a constant in each iteration of a loop, modulo 2 to the power of `bits`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Induction {
    /// Its value in the first iteration.
    pub(super) first: u64,
    pub(super) step: u64,
    pub(super) bits: u32,
}

impl Induction {
    fn new(first: u64, step: u64, is_stepped: bool, bits: u32) -> Self {
        let first = if is_stepped { first.wrapping_add(step) } else { first };
        Self {
            first: wrapped(first, bits),
            step,
            bits,
        }
    }
}

impl<'w> TripCounts<'_, 'w> {
    pub(super) fn constant(&self, id: Id) -> Option<u64> {
        let inst = self.index.def(id)?;
        match inst.opcode() {
            op::Constant => self.index.literal(&inst),
            op::ConstantNull => self.bits(id).map(|_| 0),
            _ => None,
        }
    }

    fn bits(&self, value: Id) -> Option<u32> {
        let ty = self.index.def(self.index.type_of(value))?;
        (ty.opcode() == op::TypeInt && (1..=64).contains(&ty.width())).then(|| ty.width())
    }

    /// How a value changes over the iterations of a loop.
    pub(super) fn induction(&self, l: &Loop, back: BlockIndex, value: Id) -> Option<Induction> {
        let inst = self.index.def(value)?;
        self.of_phi(l, back, &inst).or_else(|| self.of_variable(l, back, &inst))
    }

    /// The value that `inst` adds to, and what it adds.
    fn step(&self, inst: &Inst<'_>) -> Option<(Id, u64)> {
        let (left, right) = (inst.id(3), inst.id(4));
        match (inst.opcode(), self.constant(left), self.constant(right)) {
            (op::IAdd, None, Some(step)) => Some((left, step)),
            (op::IAdd, Some(step), None) => Some((right, step)),
            (op::ISub, None, Some(step)) => Some((left, step.wrapping_neg())),
            _ => None,
        }
    }

    /// `value`: a phi of the header, or that phi after its step.
    fn of_phi(&self, l: &Loop, back: BlockIndex, value: &Inst<'w>) -> Option<Induction> {
        let (phi, is_stepped) = match value.opcode() {
            op::Phi => (*value, false),
            _ => (self.index.def(self.step(value)?.0)?, true),
        };
        let header = self.index.blocks.get(l.header)?;
        let is_in_header = (header.offset..header.end).contains(&phi.offset);
        let back = self.index.blocks.get(back)?.label;
        if phi.opcode() != op::Phi || !is_in_header {
            return None;
        }
        let mut pairs = phi.phi_pairs();
        let (one, other) = (pairs.next()?, pairs.next()?);
        let (first, next) = match (one.1 == back, other.1 == back) {
            (false, true) => (one.0, other.0),
            (true, false) => (other.0, one.0),
            _ => return None,
        };
        let stepped = self.index.def(next)?;
        let (base, step) = self.step(&stepped)?;
        if pairs.next().is_some() || base != phi.result() || is_stepped && stepped.result() != value.result() {
            return None;
        }
        Some(Induction::new(
            self.constant(first)?,
            step,
            is_stepped,
            self.bits(phi.result())?,
        ))
    }

    /// `value`: a variable of the function that the loop stores to once in each iteration, loaded before or after that store,
    /// or the stored value.
    fn of_variable(&self, l: &Loop, back: BlockIndex, value: &Inst<'w>) -> Option<Induction> {
        let load = match value.opcode() {
            op::Load => *value,
            _ => self.index.def(self.step(value)?.0).filter(|i| i.opcode() == op::Load)?,
        };
        let variable = load.pointer();
        let mut stores = self
            .variables
            .stores(variable)?
            .filter(|store| l.blocks.contains(&store.block));
        let store = stores.next().filter(|_| stores.next().is_none())?;
        let own = self.nest.innermost(l.header);
        if self.nest.innermost(store.block) != own || !self.dominates(store.block, back) {
            return None;
        }
        let stepped = self.index.def(store.value)?;
        let (base, step) = self.step(&stepped)?;
        // The load comes before the store in every iteration, since its value is used there.
        let base = self
            .index
            .def(base)
            .filter(|i| i.opcode() == op::Load && i.pointer() == variable)?;
        self.block_in(l, &base)?;
        let loaded_in = self.block_in(l, &load)?;
        let is_stepped = match (value.result() == stepped.result(), loaded_in == store.block) {
            (true, _) => true,
            _ if value.opcode() != op::Load => return None,
            (_, true) => load.offset > store.offset,
            _ if self.dominates(store.block, loaded_in) => true,
            _ if self.dominates(loaded_in, store.block) => false,
            _ => return None,
        };
        Some(Induction::new(
            self.value_before(l, variable)?,
            step,
            is_stepped,
            self.bits(load.result())?,
        ))
    }

    /// The block of a loop that has an instruction.
    fn block_in(&self, l: &Loop, inst: &Inst<'_>) -> Option<BlockIndex> {
        let blocks = self.index.blocks_of(self.function);
        let after = blocks.partition_point(|block| block.offset <= inst.offset);
        let block = self.function.blocks.at(after.checked_sub(1)?)?;
        l.blocks.contains(&block).then_some(block)
    }

    /// The constant that a variable holds when a loop is entered.
    fn value_before(&self, l: &Loop, variable: Id) -> Option<u64> {
        let initializer = || self.constant(self.index.def(variable)?.id(4));
        if self.variables.stores(variable)?.count() == 1 && l.parent.is_none() {
            return initializer();
        }
        let mut at = l.header;
        for _ in 0..MAX_BLOCKS_BEFORE {
            let mut before = self.function.blocks.iter().filter(|b| {
                let block = self.index.blocks.get(*b);
                let is_back_edge = at == l.header && l.blocks.contains(b);
                let label = self.index.blocks.get(at).map(|block| block.label);
                !is_back_edge
                    && block.is_some_and(|block| self.index.successors(block).into_iter().any(|to| Some(to) == label))
            });
            match (before.next(), before.next()) {
                (Some(only), None) => at = only,
                // The first block of the function.
                (None, _) if Some(at) == self.function.blocks.iter().next() => {
                    return initializer();
                }
                _ => return None,
            }
            let last = self
                .variables
                .stores(variable)?
                .filter(|store| store.block == at)
                .last();
            if let Some(store) = last {
                return self.constant(store.value);
            }
        }
        None
    }
}
