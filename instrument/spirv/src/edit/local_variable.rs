//! Adds variables of a function.

use super::emitter::Emitter;
use super::{Edits, Rank};
use crate::index::{Function, Index};
use crate::op::storage_class;
use crate::{Code, Id, Literal, op};

/// Adds a variable of type `ty` to a function.
pub fn local_variable(
    index: &Index<'_>,
    function: &Function,
    (out, edits): (&mut Emitter, &mut Edits),
    (ty, initializer): (Id, Option<Id>),
) -> Id {
    let pointer = out.pointer(storage_class::Function, ty);
    let variable = out.fresh();
    let mut code = Code::default();
    code.op(
        op::Variable,
        (pointer, variable, Literal(storage_class::Function), initializer),
    );
    if let Some(first) = index.blocks_of(function).first() {
        edits.insert_ranked(first.offset + 2, Rank::Variables, &code);
    }
    variable
}
