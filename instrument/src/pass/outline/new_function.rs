//! Writes the function that a region becomes.
//!
//! ```text
//! %vkabort_continue = Function %outputs %inputs ..
//! %entry: undefined values, narrow inputs, rematerialised instructions, Branch %start
//! %start: the blocks of the region, with the outputs returned in place of the back edge
//! ```

use super::context::RegionContext;
use super::inputs::{Inputs, SplitPhi};
use super::outputs::{Output, Outputs};
use super::region::RegionBlocks;
use crate::edit::phi::phi;
use crate::error::Result;
use crate::spv::{Code, Id, op};
use std::iter;

/// The interface of the new function.
pub(super) struct Signature {
    pub(super) function: Id,
    function_type: Id,
    pub(super) return_type: Id,
    /// Types of the outputs, as they are returned.
    pub(super) output_types: Vec<Id>,
}

/// Declares the types of the function and its id.
pub(super) fn declare_signature(
    context: &mut RegionContext<'_, '_>,
    inputs: &Inputs<'_>,
    outputs: &Outputs<'_>,
) -> Signature {
    let globals = &mut *context.globals;
    let output_types: Vec<Id> = outputs.returned.iter().map(Output::returned_type).collect();
    let return_type = match output_types.as_slice() {
        [] => globals.void(),
        [only] => *only,
        many => globals.structure(many),
    };
    let parameters: Vec<Id> = inputs.parameters.iter().map(|parameter| parameter.ty).collect();
    let function_type = globals.function_type(return_type, &parameters);
    let function = globals.fresh();
    globals.name(function, "vkabort_continue");
    Signature {
        function,
        function_type,
        return_type,
        output_types,
    }
}

/// Writes the function.
///
/// # Errors
///
/// Those of [`choose_widening`](super::widening::choose_widening).
pub(super) fn write_function(
    context: &mut RegionContext<'_, '_>,
    signature: &Signature,
    blocks: &RegionBlocks,
    split_phis: &[SplitPhi<'_>],
    inputs: &Inputs<'_>,
    outputs: &Outputs<'_>,
) -> Result<Code> {
    let index = context.index;
    let RegionBlocks { ordered, first, last } = blocks;
    let entry = context.globals.fresh();
    let start = context.rename(first.label);
    let mut code = Code::default();
    code.op(
        op::Function,
        &[signature.return_type, signature.function, 0, signature.function_type],
    );
    for parameter in &inputs.parameters {
        code.op(op::FunctionParameter, &[parameter.ty, parameter.id]);
    }
    code.label(entry);
    for (ty, inner) in &inputs.undefined {
        context.define_undefined(&mut code, *ty, *inner)?;
    }
    for input in &inputs.narrow {
        input.widening.narrow(&mut code, input.parameter, input.inner);
    }
    for inst in &inputs.rematerialized {
        context.copy(&mut code, inst);
    }
    code.branch(start);
    // A branch out of the loop needs no merge instruction, and the return in its place must not have one.
    let end = if last.merge == 0 { last.terminator } else { last.merge };
    for block in ordered {
        for inst in index
            .insts(block.offset, block.end)
            .take_while(|inst| inst.offset != end)
        {
            if index.is_debug_info(&inst) {
                continue;
            }
            if block.label != first.label || inst.opcode() != op::Phi {
                context.copy(&mut code, &inst);
            } else if let Some(split) = split_phis.iter().find(|p| p.inst.offset == inst.offset) {
                let inside = split.inside.iter();
                let inside = inside.map(|(value, from)| (context.inner_id(*value), context.inner_id(*from)));
                let pairs: Vec<(Id, Id)> = iter::once((split.parameter, entry)).chain(inside).collect();
                phi(&mut code, inst.result_type(), context.inner_id(inst.result()), &pairs);
            }
        }
        if block.label == last.label {
            write_return(context, signature.return_type, &outputs.returned, &mut code);
        }
    }
    code.op(op::FunctionEnd, &[]);
    Ok(code)
}

fn write_return(context: &mut RegionContext<'_, '_>, return_type: Id, outputs: &[Output], code: &mut Code) {
    let mut values = Vec::with_capacity(outputs.len());
    for output in outputs {
        let mut value = context.inner_id(output.id);
        if let Some(widening) = output.widening {
            let wide = context.globals.fresh();
            widening.widen(code, value, wide);
            value = wide;
        }
        values.push(value);
    }
    match values.as_slice() {
        [] => code.op(op::Return, &[]),
        [only] => code.op(op::ReturnValue, &[*only]),
        many => {
            let whole = context.globals.fresh();
            code.op2(op::CompositeConstruct, &[return_type, whole], many);
            code.op(op::ReturnValue, &[whole]);
        }
    }
}
