//! Brings loops in which an invocation may abort into a form in which it can leave them.
//!
//! ```text
//! %header: phis, code, LoopMerge %merge %continue, BranchConditional %c %a %b
//!   becomes
//! %header: phis, LoopMerge %merge %continue, Branch %body
//! %body:   code, BranchConditional %c %a %b
//! ```
//!
//! so that the code after a call can be branched around and something can be tested at the top of every iteration, and
//!
//! ```text
//! %header: .. LoopMerge %merge %header ..  (the loop is its own continue construct)
//!   becomes
//! %header: .. LoopMerge %merge %next ..    every back edge goes to %next
//! %next:   Branch %header
//! ```
//!
//! since no invocation can return from a continue construct. Continue constructs of their own are the task of the pass
//! `outline`.

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Block, Function, Index};
use crate::analysis::loops;
use crate::edit::phi::PhiRenames;
use crate::edit::{Edits, Ids};
use crate::error::Result;
use crate::spv::{Code, Id, op};
use rustc_hash::FxHashSet as HashSet;

/// Rewrites every loop that needs it. Gives no edits if none does.
pub(crate) fn normalize(index: &Index<'_>, plan: &ExitPlan) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut ids = Ids::new(index.bound);
    for (number, function) in plan.touched(index) {
        let mut renames = PhiRenames::default();
        // Several loops may share a block: one changes it, the others wait for the next round.
        let mut changed = HashSet::default();
        for header in function.blocks.iter() {
            let Some(block) = index.blocks.get(header) else {
                continue;
            };
            let Some((merge, target)) = loops::loop_merge(index, block) else {
                continue;
            };
            let continues = loops::continue_blocks(index, function, block.label, merge, target);
            let dirty = |b: &BlockIndex| plan.may_abort(index, number, *b);
            if target == block.label {
                if continues.iter().any(dirty) && continues.iter().all(|b| changed.insert(*b)) {
                    give_continue_target(index, function, block, &mut renames, &mut edits, &mut ids);
                }
            } else if (dirty(&header) || plan.polled(header) || continues.iter().any(dirty))
                && !is_bare(index, block)
                && changed.insert(header)
            {
                split_header(index, block, merge, target, &mut renames, &mut edits, &mut ids);
            }
        }
        renames.apply(index, function, &mut edits);
    }
    edits.take_ids(&ids);
    Ok(edits)
}

/// Whether a header holds nothing but phis and ends in a plain branch.
pub(crate) fn is_bare(index: &Index<'_>, block: &Block) -> bool {
    let bare = |opcode| matches!(opcode, op::Phi | op::Line | op::NoLine);
    index.terminator(block).opcode() == op::Branch
        && index.body(block).all(|i| bare(i.opcode()) || index.is_debug_info(&i))
}

fn split_header(
    index: &Index<'_>,
    block: &Block,
    merge: Id,
    target: Id,
    renames: &mut PhiRenames,
    edits: &mut Edits,
    ids: &mut Ids,
) {
    let body = ids.fresh();
    let after_phis = index
        .body(block)
        .filter(|i| i.opcode() == op::Phi)
        .last()
        .map_or(block.offset + 2, |i| i.end());
    let mut code = Code::default();
    if let Some(inst) = index.merge(block) {
        code.copy(&inst);
        edits.remove(inst.offset, inst.words.len());
    }
    code.branch(body);
    code.label(body);
    let position = index.position(block, after_phis);
    position.write(&mut code, || ids.fresh());
    edits.insert(after_phis, &code.words);

    // The branch that ended the header is a selection now. One of whose targets leaves the loop, or a plain branch,
    // needs no merge block; any other gets one that is never reached, since where its ways meet is not known.
    let end = index.terminator(block);
    let (yes, no) = (end.word(2), end.word(3));
    let leaves = |label| label == merge || label == target;
    if end.opcode() == op::BranchConditional && !leaves(yes) && !leaves(no) && yes != no {
        let never = ids.fresh();
        let mut selection = Code::default();
        selection.op(op::SelectionMerge, &[never, 0]);
        edits.insert(end.offset, &selection.words);
        let mut unreachable = Code::default();
        unreachable.label(never);
        unreachable.op(op::Unreachable, &[]);
        edits.insert(block.end, &unreachable.words);
    }
    renames.moved(&index.successors(block), block.label, body);
}

fn give_continue_target(
    index: &Index<'_>,
    function: &Function,
    header: &Block,
    renames: &mut PhiRenames,
    edits: &mut Edits,
    ids: &mut Ids,
) {
    let next = ids.fresh();
    if let Some(inst) = index.merge(header) {
        let mut code = Code::default();
        code.copy(&inst);
        if let Some(word) = code.words.get_mut(2) {
            *word = next;
        }
        edits.replace(inst.offset, inst.words.len(), &code.words);
    }
    let mut last = header;
    for block in index.blocks_of(function) {
        // Edges into the header from blocks that it dominates are back edges: those that come after it in block order.
        if block.offset < header.offset || !index.successors(block).contains(&header.label) {
            continue;
        }
        let end = index.terminator(block);
        let width = index.selector_words(&end);
        let mut code = Code::default();
        code.copy_mapped(&end, width, |id| if id == header.label { next } else { id });
        edits.replace(end.offset, end.words.len(), &code.words);
        renames.edge(header.label, block.label, next);
        last = block;
    }
    let mut code = Code::default();
    code.label(next);
    code.branch(header.label);
    edits.insert(last.end, &code.words);
}
