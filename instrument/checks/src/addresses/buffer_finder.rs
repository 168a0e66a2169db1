//! Tests that an access is in the buffer that its pointer belongs to, by the table of `vkabort_record::buffer_table`.
//!
//! ```text
//! uvec4 vkabort_find_buffer(uvec2 address)         a placeholder, which the pass `abort` makes search the table: the range of
//!     return ALL                                   addresses that the address is in, or the nearest
//! uvec4 vkabort_buffer_of(uvec2 address)
//!     if (address is not in vkabort_buffer) vkabort_buffer = vkabort_find_buffer(address)
//!     return vkabort_buffer
//! ```
//!
//! The invocation remembers the last buffer: a walk through a list searches once.

use vkabort_runtime::write_is_inside;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, Literal, op};

/// Planted functions of the test, and their private variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferFinder {
    /// The function `vkabort_buffer_of`.
    pub(crate) buffer_of: Id,
    /// The function `vkabort_find_buffer`.
    pub(crate) find_buffer: Id,
    /// The private variable `vkabort_buffer`.
    pub(crate) buffer: Id,
}

impl BufferFinder {
    /// Writes the functions into `functions`.
    pub(crate) fn new(out: &mut Emitter, functions: &mut Code) -> Self {
        let uint = out.uint();
        let [uvec2, uvec4] = [2, 4].map(|count| out.vector(uint, count));
        let [zero, one, ones, high] = [0, 1, u32::MAX, u32::MAX >> 1].map(|value| out.constant(value));
        let all = out.value(op::ConstantComposite, uvec4, (zero, zero, ones, high));
        let nothing = out.null(uvec4);
        let buffer = out.private(uvec4, nothing);
        out.name(buffer, "vkabort_buffer");
        let types: (Id, &[Id]) = (uvec4, &[uvec2]);
        let find_buffer = out.function(functions, "vkabort_find_buffer", types, |_, _, _| Some(all));
        let buffer_of = out.function(functions, "vkabort_buffer_of", types, |out, entry, parameters| {
            let [address] = *parameters else { return None };
            let [search, end, result] = [(); 3].map(|()| out.fresh());
            let last = out.emit(op::Load, uvec4, buffer);
            let is_inside = write_is_inside(out, last, address, one);
            out.branch_if(is_inside, end, search, end);
            out.label(search);
            let found = out.emit(op::FunctionCall, uvec4, (find_buffer, address));
            out.op(op::Store, (buffer, found));
            out.branch(end);
            out.label(end);
            out.phi(uvec4, result, &[(last, entry), (found, search)]);
            Some(result)
        });
        Self {
            buffer_of,
            find_buffer,
            buffer,
        }
    }
}

/// The address in a pointer, and its low and high word.
pub(crate) fn write_address(out: &mut Emitter, pointer: Id) -> (Id, [Id; 2]) {
    let uint = out.uint();
    let uvec2 = out.vector(uint, 2);
    let address = out.emit(op::Bitcast, uvec2, pointer);
    let words = [0, 1].map(|word| out.calculate(op::CompositeExtract, (address, Literal(word))));
    (address, words)
}
