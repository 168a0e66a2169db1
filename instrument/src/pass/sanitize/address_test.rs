//! The test whether an address is in a live buffer, by the table of `vkabort_record::buffer_table`.
//!
//! ```text
//! uvec4 vkabort_find_buffer(uvec2 address, uint bytes)     a placeholder, which the pass `abort` makes search the table: the range
//!     return ALL                                           of addresses that has them, or zeros
//! bool vkabort_is_outside(uvec2 address, uint bytes)
//!     if (address .. address + bytes is in vkabort_buffer) return false
//!     found = vkabort_find_buffer(address, bytes)
//!     if (found has no end) return true
//!     vkabort_buffer = found
//!     return false
//! ```
//!
//! The invocation remembers the last buffer in `vkabort_buffer`: most accesses load nothing from the table.

use crate::edit::emitter::Emitter;
use crate::runtime::write_is_inside;
use crate::spv::{Code, Id, Literal, op};

/// What the test consists of.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressTest {
    /// The function `vkabort_is_outside`.
    pub(super) is_outside: Id,
    /// The function `vkabort_find_buffer`.
    pub(super) find_buffer: Id,
    /// The private variable `vkabort_buffer`.
    pub(super) buffer: Id,
}

impl AddressTest {
    /// Writes the functions into `functions`.
    pub(super) fn new(out: &mut Emitter, functions: &mut Code) -> Self {
        let (uint, bool) = (out.uint(), out.bool());
        let [uvec2, uvec4] = [2, 4].map(|count| out.vector(uint, count));
        let [zero, ones, high] = [0, u32::MAX, u32::MAX >> 1].map(|value| out.constant(value));
        let all = out.value(op::ConstantComposite, uvec4, (zero, zero, ones, high));
        let nothing = out.null(uvec4);
        let buffer = out.private(uvec4, nothing);
        let finder_type = out.function_type(uvec4, &[uvec2, uint]);
        let test_type = out.function_type(bool, &[uvec2, uint]);
        let [find_buffer, is_outside] = [(); 2].map(|()| out.fresh());
        out.name(buffer, "vkabort_buffer");
        out.name(find_buffer, "vkabort_find_buffer");
        out.name(is_outside, "vkabort_is_outside");
        let [no, yes] = [op::ConstantFalse, op::ConstantTrue].map(|opcode| out.value(opcode, bool, ()));
        out.continue_code(functions, |out| {
            out.op(op::Function, (uvec4, find_buffer, Literal(0), finder_type));
            out.emit(op::FunctionParameter, uvec2, ());
            out.emit(op::FunctionParameter, uint, ());
            let entry = out.fresh();
            out.label(entry);
            out.op(op::ReturnValue, all);
            out.op(op::FunctionEnd, ());

            out.op(op::Function, (bool, is_outside, Literal(0), test_type));
            let address = out.emit(op::FunctionParameter, uvec2, ());
            let bytes = out.emit(op::FunctionParameter, uint, ());
            let [entry, search, keep, kept, end, result, failed] = [(); 7].map(|()| out.fresh());
            out.label(entry);
            let last = out.emit(op::Load, uvec4, buffer);
            let is_inside = write_is_inside(out, last, address, bytes);
            out.branch_if(is_inside, end, search, end);
            out.label(search);
            let found = out.emit(op::FunctionCall, uvec4, (find_buffer, address, bytes));
            let end_of_found = out.calculate(op::CompositeExtract, (found, Literal(2)));
            let end_high = out.calculate(op::CompositeExtract, (found, Literal(3)));
            let any = out.calculate(op::BitwiseOr, (end_of_found, end_high));
            let is_found = out.emit(op::INotEqual, bool, (any, zero));
            out.branch_if(is_found, keep, kept, kept);
            out.label(keep);
            out.op(op::Store, (buffer, found));
            out.branch(kept);
            out.label(kept);
            out.phi(bool, failed, &[(yes, search), (no, keep)]);
            out.branch(end);
            out.label(end);
            out.phi(bool, result, &[(no, entry), (failed, kept)]);
            out.op(op::ReturnValue, result);
            out.op(op::FunctionEnd, ());
        });
        Self {
            is_outside,
            find_buffer,
            buffer,
        }
    }
}
