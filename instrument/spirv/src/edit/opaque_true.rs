//! A function that returns true without the compiler's knowledge (`RuntimeHooks::holds`).

use super::Edits;
use super::emitter::Emitter;
use crate::index::Index;
use crate::{Id, Literal, op};

/// Adds a function that returns true. The pass `abort` makes it compare a word of the arena, which no compiler knows.
pub fn write_holds(index: &Index<'_>, out: &mut Emitter, edits: &mut Edits) -> Id {
    let bool = out.bool();
    let (ty, yes) = (out.function_type(bool, &[]), out.value(op::ConstantTrue, bool, ()));
    let [function, start] = [(); 2].map(|()| out.fresh());
    out.name(function, "vkabort_holds");
    out.op(op::Function, (bool, function, Literal(0), ty));
    out.label(start);
    out.op(op::ReturnValue, yes);
    out.op(op::FunctionEnd, ());
    out.place(|code| edits.insert(index.new_functions(), code));
    function
}
