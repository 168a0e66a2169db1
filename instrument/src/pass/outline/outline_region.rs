//! Moves one region into a function, in seven phases:
//!
//! 1. Order the region's blocks and find the back-edge block.
//! 2. Split the phis of the continue target: operands for edges from outside are merged outside.
//! 3. Collect inputs and outputs (`inputs`, `outputs`).
//! 4. Give every id that the rest of the function redefines another id inside.
//! 5. Write the new function.
//! 6. Write the block that calls it, in place of the region.
//! 7. Edit the module.

use super::context::RegionContext;
use super::inputs::{Inputs, SplitPhi, collect_inputs, split_phis};
use super::outputs::{Output, Outputs, collect_outputs};
use super::region::{PASS, RegionBlocks};
use crate::edit::Edits;
use crate::edit::phi::{PhiRenames, phi};
use crate::error::{Error, ErrorKind, Result};
use crate::spv::{Code, Id, Literal, op};
use std::iter;

/// Most parameters of a function and members of a structure (SPIR-V specification 2.17, Universal Limits).
const MAX_PARAMETERS: usize = 255;
const MAX_MEMBERS: usize = 16_383;

/// The interface of the new function.
struct Signature {
    function: Id,
    function_type: Id,
    return_type: Id,
    /// Types of the outputs, as they are returned.
    output_types: Vec<Id>,
}

/// Moves the region of `context` into a new function and returns its id.
///
/// # Errors
///
/// Invalid control flow, too many inputs or outputs, or values that cannot cross the border.
pub(super) fn outline_region<'w>(
    mut context: RegionContext<'_, 'w>,
    renames: &mut PhiRenames,
    edits: &mut Edits,
) -> Result<Id> {
    let index = context.index;
    // Phase 1.
    let blocks = context.region.order_blocks(index)?;
    if let Some(offset) = context.uses.side_entry {
        let message =
            "an unreachable block branches into the middle of a continue construct in which an invocation may abort";
        return Err(Error::new(ErrorKind::Unsupported, PASS, offset as u32, message));
    }
    // Phase 2.
    let mut call = Code::default();
    call.label(blocks.first.label);
    let mut inputs = Inputs::default();
    let split_phis = split_phis(&mut context, &blocks.first, &mut inputs, &mut call);
    // Phase 3.
    collect_inputs(&mut context, &blocks.ordered, blocks.last.terminator, &mut inputs)?;
    let outputs = collect_outputs(&mut context)?;
    check_limits(&context, &inputs, &outputs)?;
    // Phase 4.
    rename_outputs(&mut context, &outputs);
    // Phase 5.
    let signature = declare_signature(&mut context, &inputs, &outputs);
    let function = write_function(&mut context, &signature, &blocks, &split_phis, &inputs, &outputs)?;
    // Phase 6.
    write_call(&mut context, &signature, &inputs, &outputs, &mut call)?;
    call.copy(&index.terminator(&blocks.last));
    // Phase 7.
    for id in outputs.redefined() {
        context.decorations.remove_arithmetic(id, edits);
    }
    for block in &blocks.ordered {
        edits.remove(block.offset, block.end - block.offset);
    }
    for inst in &outputs.orphaned {
        edits.remove_inst(inst);
    }
    edits.insert(blocks.first.offset, &call);
    edits.insert(index.words.len(), &function);
    for target in [context.region.header, context.region.merge] {
        renames.edge(target, blocks.last.label, blocks.first.label);
    }
    Ok(signature.function)
}

fn check_limits(context: &RegionContext<'_, '_>, inputs: &Inputs<'_>, outputs: &Outputs<'_>) -> Result<()> {
    let (inputs, outputs) = (inputs.parameters.len(), outputs.returned.len());
    if inputs <= MAX_PARAMETERS && outputs <= MAX_MEMBERS {
        return Ok(());
    }
    Err(context.region.error(
        context.index,
        ErrorKind::Limit,
        format!(
            "a continue construct in which an invocation may abort uses {inputs} values of its function and defines \
             {outputs} for it; the limits are {MAX_PARAMETERS} and {MAX_MEMBERS}"
        ),
    ))
}

fn rename_outputs(context: &mut RegionContext<'_, '_>, outputs: &Outputs<'_>) {
    let returned = outputs.returned.iter().map(|output| output.id);
    let rematerialized = outputs.rematerialized.iter().map(|inst| inst.result());
    let undefined = outputs.undefined.iter().map(|(_, id)| *id);
    for id in returned.chain(rematerialized).chain(undefined) {
        if !context.inner_ids.contains_key(&id) {
            let inner = context.rename(id);
            context.decorations.copy(context.globals, id, inner);
        }
    }
}

/// Declares the types of the function and its id.
fn declare_signature(context: &mut RegionContext<'_, '_>, inputs: &Inputs<'_>, outputs: &Outputs<'_>) -> Signature {
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

/// Writes the function: undefined values, narrow inputs and rematerialised instructions, then the blocks of the region, with
/// the outputs returned in place of the back edge.
fn write_function(
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
        (
            signature.return_type,
            signature.function,
            Literal(0),
            signature.function_type,
        ),
    );
    for parameter in &inputs.parameters {
        code.op(op::FunctionParameter, (parameter.ty, parameter.id));
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
    code.op(op::FunctionEnd, ());
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
        [] => code.op(op::Return, ()),
        [only] => code.op(op::ReturnValue, *only),
        many => {
            let whole = context.globals.fresh();
            code.op(op::CompositeConstruct, (return_type, whole, many));
            code.op(op::ReturnValue, whole);
        }
    }
}

/// Writes the call of the new function and defines the outputs from its result.
fn write_call(
    context: &mut RegionContext<'_, '_>,
    signature: &Signature,
    inputs: &Inputs<'_>,
    outputs: &Outputs<'_>,
    code: &mut Code,
) -> Result<()> {
    let arguments: Vec<Id> = inputs.parameters.iter().map(|parameter| parameter.argument).collect();
    for input in &inputs.narrow {
        input.widening.widen(code, input.outer, input.argument);
    }
    // By output: its id as it is returned.
    let mut returned_ids = Vec::with_capacity(outputs.returned.len());
    for output in &outputs.returned {
        returned_ids.push(output.widening.map_or(output.id, |_| context.globals.fresh()));
    }
    let result = match returned_ids.as_slice() {
        [only] => *only,
        _ => context.globals.fresh(),
    };
    code.op(
        op::FunctionCall,
        (signature.return_type, result, signature.function, arguments.as_slice()),
    );
    if outputs.returned.len() > 1 {
        for (member, (ty, id)) in (0..).zip(signature.output_types.iter().zip(&returned_ids)) {
            code.op(op::CompositeExtract, (*ty, *id, result, Literal(member)));
        }
    }
    for (output, returned_id) in outputs.returned.iter().zip(&returned_ids) {
        if let Some(widening) = output.widening {
            widening.narrow(code, *returned_id, output.id);
        }
    }
    outputs.rematerialized.iter().for_each(|inst| code.copy(inst));
    for (ty, id) in &outputs.undefined {
        context.define_undefined(code, *ty, *id)?;
    }
    Ok(())
}
