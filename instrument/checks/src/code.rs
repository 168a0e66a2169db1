//! Functions and loops of planted code.

use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, Literal, op};

/// Writes a function with these types of result and parameters into `functions`. `write` gets the label of its first block, which is
/// open, and the parameters, and returns the result.
pub(super) fn write_function(
    out: &mut Emitter,
    functions: &mut Code,
    name: &str,
    (result, parameters): (Id, &[Id]),
    write: impl FnOnce(&mut Emitter, Id, &[Id]) -> Option<Id>,
) -> Id {
    let ty = out.function_type(result, parameters);
    let function = out.fresh();
    out.name(function, name);
    out.continue_code(functions, |out| {
        out.op(op::Function, (result, function, Literal(0), ty));
        let parameters: Vec<Id> = parameters
            .iter()
            .map(|ty| out.emit(op::FunctionParameter, *ty, ()))
            .collect();
        let entry = out.fresh();
        out.label(entry);
        match write(out, entry, &parameters) {
            Some(value) => out.op(op::ReturnValue, value),
            None => out.op(op::Return, ()),
        }
        out.op(op::FunctionEnd, ());
    });
    function
}

/// Writes a loop over the numbers from `first` on that are below `end`, `step` apart; only over `first` without a step. The code before
/// it ends in the block `before`.
pub(super) fn write_loop(
    out: &mut Emitter,
    before: Id,
    (first, end, step): (Id, Id, Option<Id>),
    body_of: impl FnOnce(&mut Emitter, Id),
) {
    let (bool, uint) = (out.bool(), out.uint());
    let [header, body, next, behind] = [(); 4].map(|()| out.fresh());
    let mut number = first;
    let mut following = Id::NONE;
    if step.is_some() {
        (number, following) = (out.fresh(), out.fresh());
        out.branch(header);
        out.label(header);
        out.phi(uint, number, &[(first, before), (following, next)]);
        let is_below = out.emit(op::ULessThan, bool, (number, end));
        out.op(op::LoopMerge, (behind, next, Literal(0)));
        out.op(op::BranchConditional, (is_below, body, behind));
    } else {
        let is_below = out.emit(op::ULessThan, bool, (number, end));
        out.branch_if(is_below, body, behind, behind);
    }
    out.label(body);
    body_of(out, number);
    if let Some(step) = step {
        out.branch(next);
        out.label(next);
        out.op(op::IAdd, (uint, following, number, step));
        out.branch(header);
    } else {
        out.branch(behind);
    }
    out.label(behind);
}
