//! Normalises loops in which an invocation may abort, so that it can leave them.
//!
//! ```text
//! %header: phis, code, LoopMerge %merge %continue, BranchConditional %c %a %b
//!   becomes
//! %header: phis, LoopMerge %merge %continue, Branch %body
//! %body:   code, BranchConditional %c %a %b
//! ```
//!
//! so that code after a call can be skipped and the top of every iteration can test the flag, and
//!
//! ```text
//! %header: .. LoopMerge %merge %header ..  (the loop is its own continue construct)
//!   becomes
//! %header: .. LoopMerge %merge %next ..    every back edge goes to %next
//! %next:   Branch %header
//! ```
//!
//! because no invocation can return from a continue construct (SPIR-V specification 2.11, Structured Control Flow).
//!
//! Several loops may share a block: one changes it, the others wait for the next round. `pipeline` repeats the pass until it
//! gives no edits.
//!
//! Not handled: continue constructs that are not the loop itself (`outline`).

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Block, Function, Index};
use crate::edit::phi::PhiRenames;
use crate::edit::{Edits, Ids};
use crate::spv::{Code, Id, Literal, Words, op};
use rustc_hash::FxHashSet as HashSet;

/// Rewrites every loop that needs it; no edits if none does.
pub(crate) fn normalize(index: &Index<'_>, plan: &ExitPlan) -> Edits {
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
                normalizer.split_header(block, merge, target);
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
    fn split_header(&mut self, block: &Block, merge: Id, target: Id) {
        let index = self.index;
        let body = self.ids.fresh();
        let after_phis = index
            .body(block)
            .filter(|i| i.opcode() == op::Phi)
            .last()
            .map_or(block.offset + 2, |i| i.end());
        let mut code = Code::default();
        if let Some(inst) = index.merge(block) {
            code.copy(&inst);
            self.edits.remove_inst(&inst);
        }
        code.branch(body);
        code.label(body);
        let position = index.position(block, after_phis);
        position.write(&mut code, || self.ids.fresh());
        self.edits.insert(after_phis, &code);

        // The branch that ended the header is now an ordinary selection. It needs a merge block unless one of its targets
        // leaves the loop. Where its paths meet is not analysed, so the merge block is an unreachable one.
        let branch = index.terminator(block);
        let (yes, no) = (branch.true_label(), branch.false_label());
        let leaves = |label| label == merge || label == target;
        if branch.opcode() == op::BranchConditional && !leaves(yes) && !leaves(no) && yes != no {
            let unreachable = self.ids.fresh();
            let mut selection = Code::default();
            selection.op(op::SelectionMerge, (unreachable, Literal(0)));
            self.edits.insert(branch.offset, &selection);
            let mut merge_block = Code::default();
            merge_block.label(unreachable);
            merge_block.op(op::Unreachable, ());
            self.edits.insert(block.end, &merge_block);
        }
        self.renames.moved(&index.successors(block), block.label, body);
    }

    /// Gives a loop that is its own continue construct a block as continue target.
    fn add_continue_target(&mut self, function: &Function, header: &Block) {
        let index = self.index;
        let next = self.ids.fresh();
        if let Some(merge) = index.merge(header) {
            self.edits
                .replace_by(&merge, op::LoopMerge, (merge.merge_block(), next, Words(merge.from(3))));
        }
        let mut last = header;
        for block in index.blocks_of(function) {
            // Blocks that the header dominates come after it in module order; their edges to it are back edges.
            if block.offset < header.offset || !index.successors(block).contains(&header.label) {
                continue;
            }
            let branch = index.terminator(block);
            self.edits.map_ids(&branch, index.selector_words(&branch), |id| {
                if id == header.label { next } else { id }
            });
            self.renames.edge(header.label, block.label, next);
            last = block;
        }
        let mut code = Code::default();
        code.label(next);
        code.branch(header.label);
        self.edits.insert(last.end, &code);
    }
}
