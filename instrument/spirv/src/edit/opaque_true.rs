//! A function that returns true without the compiler's knowledge (`RuntimeHooks::holds`).

use super::Edits;
use super::emitter::Emitter;
use crate::index::Index;
use crate::{Code, Id, op};

/// Adds a function that returns true. The pass `abort` makes it compare a word of the arena, which no compiler knows.
pub fn write_holds(index: &Index<'_>, out: &mut Emitter, edits: &mut Edits) -> Id {
    let bool = out.bool();
    out.function_type(bool, &[]);
    let yes = out.value(op::ConstantTrue, bool, ());
    let mut code = Code::default();
    let function = out.function(&mut code, "vkabort_holds", (bool, &[]), |_, _, _| Some(yes));
    edits.insert(index.new_functions(), &code);
    function
}
