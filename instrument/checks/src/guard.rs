//! Functions that abort where no invocation can leave: in continue constructs (SPIR-V specification 2.11).
//!
//! ```text
//! %guard = Function %void None (%bool %failed, %type %value ..)
//!          SelectionMerge %go, BranchConditional %failed %fail %go
//!          %fail: AbortKHR ..
//!          %go:   Return
//! ```

use super::message::{Message, MessageWriter};
use super::workgroup::ended::EndedInvocations;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

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
    (messages, ended): (&mut MessageWriter, &EndedInvocations),
    failed: Id,
    mut message: Message,
    guarded: &Inst<'_>,
) -> Guard {
    let (void, bool) = (out.void(), out.bool());
    let values = message.variable_values();
    let types: Vec<Id> = std::iter::once(bool).chain(values.map(|value| value.ty)).collect();
    let function = out.fresh();
    let (parameters, _) = out.begin_function(function, (void, &types));
    let mut arguments = vec![failed];
    for (value, parameter) in message.variable_values().zip(parameters.iter().skip(1)) {
        arguments.push(value.id);
        value.id = *parameter;
    }
    let [fail, go] = [(); 2].map(|()| out.fresh());
    if let Some(failed) = parameters.first() {
        out.branch_if(*failed, fail, go, go);
    }
    out.label(fail);
    ended.write_end(out);
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
