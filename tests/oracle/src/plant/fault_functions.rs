//! Functions and the buffer that planted faults use.

use super::edits::Edits;
use crate::generate::FAULTS;
use crate::module::Id;
use crate::op::{self, decoration, storage_class};
use crate::words::push;

/// Elements of the arrays that faults index.
pub(super) const ELEMENTS: u32 = 4;

/// Words in front of its runtime array.
pub(super) const HEAD_WORDS: u32 = ELEMENTS + 4;

/// A function that takes a word and branches on it: an effect that changes no memory.
pub(super) fn taking_function(edits: &mut Edits<'_>) -> Id {
    let (void, uint, bool) = (edits.void(), edits.uint(), edits.bool());
    let ty = edits.ty(op::TypeFunction, &[void, uint]);
    let zero = edits.constant(0);
    let [function, parameter, label, is_zero, then, next] = [(); 6].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[uint, parameter]);
    push(code, op::Label, &[label]);
    push(code, op::IEqual, &[bool, is_zero, parameter, zero]);
    push(code, op::SelectionMerge, &[next, 0]);
    push(code, op::BranchConditional, &[is_zero, then, next]);
    push(code, op::Label, &[then]);
    push(code, op::Branch, &[next]);
    push(code, op::Label, &[next]);
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

/// A function that loads a word that it has not stored if its first argument is true, and passes it to `taking`; with the result of the
/// load.
pub(super) fn unstored_function(edits: &mut Edits<'_>, taking: Id) -> (Id, Id) {
    let (void, uint, bool) = (edits.void(), edits.uint(), edits.bool());
    let ty = edits.ty(op::TypeFunction, &[void, bool]);
    let (pointer, seven) = (edits.pointer(storage_class::Function, uint), edits.constant(7));
    let [function, condition, label, stores, next, variable, loaded, result] = [(); 8].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[bool, condition]);
    push(code, op::Label, &[label]);
    push(code, op::Variable, &[pointer, variable, storage_class::Function]);
    push(code, op::SelectionMerge, &[next, 0]);
    push(code, op::BranchConditional, &[condition, next, stores]);
    push(code, op::Label, &[stores]);
    push(code, op::Store, &[variable, seven]);
    push(code, op::Branch, &[next]);
    push(code, op::Label, &[next]);
    push(code, op::Load, &[uint, loaded, variable]);
    push(code, op::FunctionCall, &[void, result, taking, loaded]);
    push(code, op::Return, &[]);
    push(code, op::FunctionEnd, &[]);
    (function, loaded)
}

/// The same of the element of an array that the second argument selects.
pub(super) fn unstored_element_function(edits: &mut Edits<'_>, taking: Id) -> (Id, Id) {
    let (void, uint, bool) = (edits.void(), edits.uint(), edits.bool());
    let ty = edits.ty(op::TypeFunction, &[void, bool, uint]);
    let array = edits.array(uint, ELEMENTS);
    let array = edits.pointer(storage_class::Function, array);
    let (pointer, one, mask) = (
        edits.pointer(storage_class::Function, uint),
        edits.constant(1),
        edits.constant(ELEMENTS - 1),
    );
    let [function, condition, number, label, variable] = [(); 5].map(|()| edits.fresh());
    let [next, other, stored, to, from, loaded, result] = [(); 7].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[bool, condition]);
    push(code, op::FunctionParameter, &[uint, number]);
    push(code, op::Label, &[label]);
    push(code, op::Variable, &[array, variable, storage_class::Function]);
    push(code, op::IAdd, &[uint, next, number, one]);
    push(code, op::BitwiseAnd, &[uint, other, next, mask]);
    push(code, op::Select, &[uint, stored, condition, other, number]);
    push(code, op::AccessChain, &[pointer, to, variable, stored]);
    push(code, op::Store, &[to, number]);
    push(code, op::AccessChain, &[pointer, from, variable, number]);
    push(code, op::Load, &[uint, loaded, from]);
    push(code, op::FunctionCall, &[void, result, taking, loaded]);
    push(code, op::Return, &[]);
    push(code, op::FunctionEnd, &[]);
    (function, loaded)
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
