//! Tests whether a variable is in scope at an abort and its last definition is the current one.

use super::candidate::Point;
use super::condition::left_loop;
use super::resolver::Resolver;
use rustc_hash::FxHashSet;
use vkabort_analysis::loop_nest::Loop;
use vkabort_analysis::view::MemoryUse;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, DefIndex};

impl Resolver<'_, '_, '_, '_> {
    /// Whether a variable that is defined in a block is in scope: a loop that has the block but not the abort may have declared it.
    /// Scopes decide if debug information has lexical blocks; otherwise a use behind the loop does.
    pub(super) fn is_live(&self, defined: BlockIndex, is_used_outside: impl FnOnce(&Loop) -> bool) -> bool {
        let is_scoped = self.debug.has_lexical_blocks && self.point.flow.index.has_debug_info();
        is_scoped || left_loop(self.point.flow, defined, self.point.block).is_none_or(is_used_outside)
    }

    /// Whether a value is used where the abort is not taken, or by the abort. `spirv-opt` removes the assignments, with their
    /// descriptions, of variables that are not used any more: the last value that is left is then not the current one.
    pub(super) fn is_used_behind(&self, value: Id) -> bool {
        let Point { flow, block, .. } = *self.point;
        let above = flow.graph.immediate_dominator(block);
        let is_behind =
            |at: BlockIndex| at == block || above.is_none_or(|above| at != above && flow.graph.dominates(above, at));
        flow.uses.of(value).any(|at| is_behind(at.block))
    }

    pub(super) fn is_used_outside(&self, value: Id, left: &Loop) -> bool {
        let mut uses = self.point.flow.uses.of(value);
        uses.any(|at| !left.blocks.contains(&at.block))
    }

    /// Whether a definition of memory is read outside a loop.
    pub(super) fn is_read_outside(&self, definition: DefIndex, left: &Loop) -> bool {
        let flow = self.point.flow;
        let mut seen = FxHashSet::default();
        let mut worklist = vec![definition];
        while let Some(number) = worklist.pop() {
            if !seen.insert(number) {
                continue;
            }
            for by in flow.memory.uses(number) {
                match by {
                    MemoryUse::Read(by) => {
                        let access = flow.accesses.accesses.get(by);
                        if access.is_some_and(|access| !left.blocks.contains(&access.block)) {
                            return true;
                        }
                    }
                    MemoryUse::Seen(event) if !left.blocks.contains(&event.block) => return true,
                    MemoryUse::Seen(_) => {}
                    MemoryUse::Phi(next, _) | MemoryUse::Changed(next) => {
                        let at = flow.memory.definitions.get(next).map(|found| found.block);
                        if at.is_some_and(|at| !left.blocks.contains(&at)) {
                            worklist.push(next);
                        }
                    }
                }
            }
        }
        false
    }
}
