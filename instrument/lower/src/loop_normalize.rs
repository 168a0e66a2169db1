//! Normalises loops in which an invocation may abort, so that it can leave them.
//!
//! A header gets the form `phis, LoopMerge, Branch`, so that code after a call can be skipped and the top of every iteration can
//! test the flag; a loop that is its own continue construct gets a continue target (`edit::loop_header`).
//!
//! Several loops may share a block: one changes it, the others wait for the next round. `pipeline` repeats the pass until it
//! gives no edits.
//!
//! Not handled: continue constructs that are not the loop itself (`outline`).

use rustc_hash::FxHashSet as HashSet;
use vkabort_analysis::exit_plan::ExitPlan;
use vkabort_spirv::edit::loop_header::{redirect_back_edges, split_header};
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::edit::{Edits, Ids};
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, Words, op};

/// Rewrites every loop that needs it; no edits if none does.
pub fn normalize(index: &Index<'_>, plan: &ExitPlan) -> Edits {
    let mut normalizer = Normalizer {
        index,
        edits: Edits::default(),
        ids: Ids::new(index.bound),
        renames: PhiRenames::default(),
    };
    for (number, function) in plan.functions_with_exits(index) {
        // Blocks changed in this round.
        let mut changed = HashSet::default();
        for header in function.blocks.iter() {
            let found = index.blocks.get(header).and_then(|b| Some((b, index.loop_merge(b)?)));
            let Some((block, (merge, target))) = found else {
                continue;
            };
            let continues = index.continue_blocks(function, block.label, merge, target);
            let may_abort = |b: &BlockIndex| plan.may_abort(index, number, *b);
            if target == block.label {
                if continues.iter().any(may_abort) && continues.iter().all(|b| changed.insert(*b)) {
                    normalizer.add_continue_target(function, block);
                }
            } else if (may_abort(&header) || continues.iter().any(may_abort))
                && !is_bare(index, block)
                && changed.insert(header)
            {
                normalizer.split_header(block, target);
            }
        }
        let renames = std::mem::take(&mut normalizer.renames);
        renames.apply(index, function, &mut normalizer.edits);
    }
    normalizer.edits.take_ids(&normalizer.ids);
    normalizer.edits
}

/// Whether a header holds only phis and ends in an unconditional branch.
fn is_bare(index: &Index<'_>, block: &Block) -> bool {
    let is_allowed = |opcode| matches!(opcode, op::Phi | op::Line | op::NoLine);
    index.terminator(block).opcode() == op::Branch
        && index
            .body(block)
            .all(|i| is_allowed(i.opcode()) || index.is_debug_info(&i))
}

struct Normalizer<'a, 'w> {
    index: &'a Index<'w>,
    edits: Edits,
    ids: Ids,
    /// Of the function at hand.
    renames: PhiRenames,
}

impl Normalizer<'_, '_> {
    /// Moves the code of a header behind its phis into a block of its own.
    fn split_header(&mut self, block: &Block, target: Id) {
        let merge = self.index.merge(block);
        let control = merge.as_ref().map_or(&[][..], |merge| merge.from(3));
        let split = split_header(self.index, block, (target, control), &mut self.edits, &mut || {
            self.ids.fresh()
        });
        self.edits.insert(split.offset, &split.code);
        let body = split.code.last_label().unwrap_or(block.label);
        self.renames.moved(&self.index.successors(block), block.label, body);
    }

    /// Gives a loop that is its own continue construct a block as continue target.
    fn add_continue_target(&mut self, function: &Function, header: &Block) {
        let (index, next) = (self.index, self.ids.fresh());
        if let Some(merge) = index.merge(header) {
            self.edits
                .replace_by(&merge, op::LoopMerge, (merge.merge_block(), next, Words(merge.from(3))));
        }
        redirect_back_edges(index, function, header, next, &mut self.edits, &mut self.renames);
    }
}
