//! Loads of variables of the function that have the same value.

use super::ValueFlow;
use super::memory::{Access, AccessKind};
use crate::analysis::index::typed::BlockIndex;
use crate::spv::{Id, op};
use std::collections::BTreeSet;

impl ValueFlow<'_, '_> {
    /// The access of a load of a variable of the function, with the variable.
    pub(crate) fn local_load(&self, value: Id) -> Option<(Id, &Access)> {
        let load = self.index.def(value).filter(|inst| inst.opcode() == op::Load)?;
        let variable = self.memory.variable(load.pointer())?;
        let access = self.memory.access_at(variable, load.offset)?;
        access.is_exact.then_some((variable, access))
    }

    /// Whether a value is another one, or both are loads of one variable and nothing is stored on the paths from the first to the
    /// second one.
    pub(crate) fn is_same(&self, first: Id, second: Id) -> bool {
        if first == second {
            return true;
        }
        let (Some((variable, one)), Some((other_variable, other))) = (self.local_load(first), self.local_load(second))
        else {
            return false;
        };
        if variable != other_variable || one.path != other.path || !self.precedes(one, other) {
            return false;
        }
        let accesses = self.memory.accesses(variable).iter();
        let stores =
            accesses.filter(|access| !matches!(access.kind, AccessKind::Load(_)) && access.below(&one.path).is_some());
        let stores: Vec<&Access> = stores.collect();
        if one.block == other.block {
            return !stores
                .iter()
                .any(|s| s.block == one.block && (one.offset..other.offset).contains(&s.offset));
        }
        if stores.is_empty() {
            return true;
        }
        let after = self.connected(one.block, self.next(one.block), |block| self.next(block));
        let before = self.connected(one.block, self.before(other.block), |block| self.before(block));
        !stores.iter().any(|store| match store.block {
            block if block == one.block => store.offset > one.offset,
            block if block == other.block && store.offset < other.offset => true,
            block => after.contains(&block) && before.contains(&block),
        })
    }

    fn precedes(&self, one: &Access, other: &Access) -> bool {
        match one.block == other.block {
            true => one.offset < other.offset,
            false => self.dominates(one.block, other.block),
        }
    }

    /// The blocks that lead on from some, without passing `barrier`.
    fn connected(
        &self,
        barrier: BlockIndex,
        from: Vec<BlockIndex>,
        next: impl Fn(BlockIndex) -> Vec<BlockIndex>,
    ) -> BTreeSet<BlockIndex> {
        let mut found = BTreeSet::new();
        let mut worklist = from;
        while let Some(block) = worklist.pop() {
            if block != barrier && found.insert(block) {
                worklist.extend(next(block));
            }
        }
        found
    }
}
