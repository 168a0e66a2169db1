//! Gives loop headers a form that code can be inserted into.
//!
//! ```text
//! %header: phis, code, LoopMerge %merge %continue, BranchConditional %c %a %b
//!   becomes
//! %header: phis, LoopMerge %merge %continue, Branch %body
//! %body:   code, BranchConditional %c %a %b
//! ```
//!
//! and a loop that is its own continue construct gets a block as continue target, to which its back edge leads:
//!
//! ```text
//! %header: .. LoopMerge %merge %header ..
//!   becomes
//! %header: .. LoopMerge %merge %next ..
//! %next:   Branch %header
//! ```
//!
//! because no invocation can return from a continue construct (SPIR-V specification 2.11, Structured Control Flow).

use super::Edits;
use super::phi::PhiRenames;
use super::rematerialize_handles::Split;
use crate::index::{Block, Function, Index};
use crate::op::loop_control;
use crate::{Code, Id, Literal, Words, op};
use smallvec::SmallVec;

/// The control of a loop, the operands of its merge behind the labels, once a planted counter can end the loop. It keeps what is
/// about dependences, and the request not to unroll. The other bits ask to unroll or peel, or state the number of iterations, which
/// the counter changes: Mesa 22.3 and 26.2 obey `Unroll` by unrolling up to the counter's end, with gigabytes of memory.
pub fn control_with_counter(control: &[u32]) -> SmallVec<[u32; 2]> {
    const KEPT: u32 = loop_control::DONT_UNROLL | loop_control::DEPENDENCY_INFINITE | loop_control::DEPENDENCY_LENGTH;
    let bits = control.first().map_or(0, |bits| bits & KEPT);
    // Operands are in the order of their bits, and the lower bits have none.
    let length = control.get(1).filter(|_| bits & loop_control::DEPENDENCY_LENGTH != 0);
    std::iter::once(bits).chain(length.copied()).collect()
}

/// Word offset at which the code of a loop header begins: behind its phis.
pub fn after_phis(index: &Index<'_>, header: &Block) -> usize {
    let phis = index.body(header).filter(|inst| inst.opcode() == op::Phi);
    phis.last().map_or(header.offset + 2, |inst| inst.end())
}

/// Splits the header of a loop whose continue target is, or becomes, `target`. The caller inserts the code, which ends with a
/// new label, and renames the predecessors in the phis of the header's successors. `control`: the operands of the loop merge
/// behind its labels.
pub fn split_header(
    index: &Index<'_>,
    header: &Block,
    (target, control): (Id, &[u32]),
    edits: &mut Edits,
    fresh: &mut dyn FnMut() -> Id,
) -> Split {
    let body = fresh();
    let offset = after_phis(index, header);
    let mut code = Code::default();
    let (merge, old_target) = index.loop_merge(header).unwrap_or_default();
    if let Some(inst) = index.merge(header) {
        code.mark_origin(&inst);
        code.op(op::LoopMerge, (merge, target, Words(control)));
        edits.remove_inst(&inst);
    }
    code.branch(body);
    code.label(body);
    let position = index.position(header, offset);
    position.write(&mut code, &mut *fresh);

    // The branch that ended the header is now an ordinary selection. It needs a merge block unless one of its targets
    // leaves the loop. Where its paths meet is not analysed, so the merge block is an unreachable one.
    let branch = index.terminator(header);
    let (yes, no) = (branch.true_label(), branch.false_label());
    let leaves = |label| label == merge || label == old_target;
    if branch.opcode() == op::BranchConditional && !leaves(yes) && !leaves(no) && yes != no {
        let unreachable = fresh();
        let mut selection = Code::default();
        selection.op(op::SelectionMerge, (unreachable, Literal(0)));
        edits.insert(branch.offset, &selection);
        let mut merge_block = Code::default();
        merge_block.label(unreachable);
        merge_block.op(op::Unreachable, ());
        edits.insert(header.end, &merge_block);
    }
    Split { offset, code }
}

/// Leads the back edges of a loop to the new block `next`, which goes to the header.
pub fn redirect_back_edges(
    index: &Index<'_>,
    function: &Function,
    header: &Block,
    next: Id,
    edits: &mut Edits,
    renames: &mut PhiRenames,
) {
    let mut last = header;
    for block in index.blocks_of(function) {
        // Blocks that the header dominates come after it in module order; their edges to it are back edges.
        if block.offset < header.offset || !index.successors(block).contains(&header.label) {
            continue;
        }
        let branch = index.terminator(block);
        edits.map_ids(&branch, index.selector_words(&branch), |id| {
            if id == header.label { next } else { id }
        });
        renames.edge(header.label, block.label, next);
        last = block;
    }
    let mut code = Code::default();
    code.label(next);
    code.branch(header.label);
    edits.insert(last.end, &code);
}
