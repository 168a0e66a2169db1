//! Functions that abort where no invocation can leave: in continue constructs (SPIR-V specification 2.11).
//!
//! ```text
//! %guard = Function %void None (%bool %failed, %type %value ..)
//!          SelectionMerge %go, BranchConditional %failed %fail %go
//!          %fail: AbortKHR ..
//!          %go:   Return
//! ```

use super::barriers::counters::Barriers;
use super::message::{Message, MessageWriter};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, Literal, op};

/// A guard, and the operands of its calls.
pub(super) struct Guard {
    pub(super) function: Id,
    pub(super) arguments: Vec<Id>,
    /// The message of its abort.
    pub(super) message: Id,
}

/// Writes a function that aborts with `message` if its first argument, `failed`, is true.
pub(super) fn write_guard(
    index: &Index<'_>,
    out: &mut Emitter,
    (messages, barriers): (&mut MessageWriter, &Barriers),
    failed: Id,
    mut message: Message,
    guarded: &Inst<'_>,
) -> Guard {
    let (void, bool) = (out.void(), out.bool());
    let mut arguments = vec![failed];
    let mut parameters = vec![(bool, out.fresh())];
    for value in message.variable_values() {
        arguments.push(value.id);
        value.id = out.fresh();
        parameters.push((value.ty, value.id));
    }
    let types: Vec<Id> = parameters.iter().map(|(ty, _)| *ty).collect();
    let function_type = out.function_type(void, &types);
    let [function, entry, fail, go] = [(); 4].map(|()| out.fresh());
    out.op(op::Function, (void, function, Literal(0), function_type));
    for (ty, parameter) in &parameters {
        out.op(op::FunctionParameter, (*ty, *parameter));
    }
    out.label(entry);
    if let Some((_, failed)) = parameters.first() {
        out.branch_if(*failed, fail, go, go);
    }
    out.label(fail);
    barriers.write_end(out);
    let (ty, id) = messages.write(index, out, &message);
    out.code.mark_origin(guarded);
    out.op(op::AbortKHR, (ty, id));
    out.label(go);
    out.op(op::Return, ());
    out.op(op::FunctionEnd, ());
    Guard {
        function,
        arguments,
        message: id,
    }
}
