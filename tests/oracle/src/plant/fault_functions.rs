//! Functions and the buffer that planted faults use.

use super::edits::Edits;
use crate::generate::FAULTS;
use crate::module::Id;
use crate::op::{self, decoration};
use crate::words::push;

/// Elements of the arrays that faults index.
pub(super) const ELEMENTS: u32 = 4;

/// Words in front of its runtime array.
pub(super) const HEAD_WORDS: u32 = ELEMENTS + 4;

/// A function that takes a word and does nothing.
pub(super) fn taking_function(edits: &mut Edits<'_>) -> Id {
    let (void, uint) = (edits.void(), edits.uint());
    let ty = edits.ty(op::TypeFunction, &[void, uint]);
    let [function, parameter, label] = [(); 3].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[uint, parameter]);
    push(code, op::Label, &[label]);
    push(code, op::Return, &[]);
    push(code, op::FunctionEnd, &[]);
    function
}

/// Appends code that reaches `OpUnreachable`, in block `bad`, if a condition is true.
pub(super) fn push_unreachable(code: &mut Vec<u32>, condition: Id, bad: Id, next: Id) {
    push(code, op::SelectionMerge, &[next, 0]);
    push(code, op::BranchConditional, &[condition, bad, next]);
    push(code, op::Label, &[bad]);
    push(code, op::Unreachable, &[]);
    push(code, op::Label, &[next]);
}

/// A function that reaches `OpUnreachable` if its argument is true, with the label of that block.
pub(super) fn unreachable_function(edits: &mut Edits<'_>) -> (Id, Id) {
    let (void, bool) = (edits.void(), edits.bool());
    let ty = edits.ty(op::TypeFunction, &[void, bool]);
    let [function, condition, label, bad, next] = [(); 5].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[bool, condition]);
    push(code, op::Label, &[label]);
    push_unreachable(code, condition, bad, next);
    push(code, op::Return, &[]);
    push(code, op::FunctionEnd, &[]);
    (function, bad)
}

/// A buffer with an array of fixed size, floats, and a runtime array.
pub(super) fn faults_buffer(edits: &mut Edits<'_>, class: u32) -> Id {
    let (uint, float) = (edits.uint(), edits.float(32));
    let (elements, floats) = (edits.constant(ELEMENTS), edits.vector(float, 2));
    let array = edits.strided_array(uint, elements, Some(4));
    let words = edits.new_type(op::TypeRuntimeArray, &[uint]);
    edits.decorate(words, decoration::ArrayStride, &[4]);
    let floats_at = 4 * (ELEMENTS + 2);
    let members = [
        (array, 0),
        (float, 4 * ELEMENTS),
        (floats, floats_at),
        (words, 4 * HEAD_WORDS),
    ];
    let block = edits.structure(&members);
    let buffer = edits.buffer(class, block, FAULTS);
    edits.interface.push(buffer);
    buffer
}
