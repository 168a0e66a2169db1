//! Loads of variables of the function that have the same value.

use super::ValueFlow;
use super::memory::{Access, in_block};
use crate::analysis::index::typed::BlockIndex;
use crate::spv::{Id, op};
use std::collections::BTreeSet;
use std::ops::Range;

/// Limit on blocks between two loads.
const MAX_BLOCKS: usize = 256;

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
        let stores = self.memory.stores(variable);
        let concerns = |access: &&Access| access.below(&one.path).is_some();
        let stored = |block, within: Range<usize>| {
            let mut here = in_block(&stores, block).iter().filter(concerns);
            here.any(|store| within.contains(&store.offset))
        };
        if one.block == other.block {
            return !stored(one.block, one.offset..other.offset);
        }
        if !stores.iter().any(|store| concerns(&store)) {
            return true;
        }
        if stored(one.block, one.offset..usize::MAX) || stored(other.block, 0..other.offset) {
            return false;
        }
        let between = self.leading_to(other.block, one.block);
        between.is_some_and(|between| !between.iter().any(|block| stored(*block, 0..usize::MAX)))
    }

    fn precedes(&self, one: &Access, other: &Access) -> bool {
        match one.block == other.block {
            true => one.offset < other.offset,
            false => self.dominates(one.block, other.block),
        }
    }

    /// The blocks from which a path leads to `end` that does not pass `start`, which dominates `end`: those between the two. `None`
    /// if they are many.
    fn leading_to(&self, end: BlockIndex, start: BlockIndex) -> Option<BTreeSet<BlockIndex>> {
        let mut found = BTreeSet::new();
        let mut worklist = self.before(end);
        while let Some(block) = worklist.pop() {
            if found.len() >= MAX_BLOCKS {
                return None;
            }
            if block != start && found.insert(block) {
                worklist.extend(self.before(block));
            }
        }
        Some(found)
    }
}
