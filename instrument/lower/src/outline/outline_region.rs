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
use std::iter;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::{Id, Literal, op};

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
    context.out.label(blocks.first.label);
    let mut inputs = Inputs::default();
    let split_phis = split_phis(&mut context, &blocks.first, &mut inputs);
    // Phase 3.
    collect_inputs(&mut context, &blocks.ordered, blocks.last.terminator, &mut inputs)?;
    let outputs = collect_outputs(&mut context)?;
    check_limits(&context, &inputs, &outputs)?;
    // Phase 4.
    rename_outputs(&mut context, &outputs);
    // Phase 5.
    let signature = declare_signature(&mut context, &inputs, &outputs);
    let call = context.out.take_code();
    write_function(&mut context, &signature, &blocks, &split_phis, &inputs, &outputs)?;
    let function = context.out.take_code();
    // Phase 6.
    context.out.code = call;
    write_call(&mut context, &signature, &inputs, &outputs)?;
    context.out.code.copy(&index.terminator(&blocks.last));
    let call = context.out.take_code();
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
    edits.insert(index.new_functions(), &function);
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
            context.decorations.copy(context.out, id, inner);
        }
    }
}

/// Declares the types of the function and its id.
fn declare_signature(context: &mut RegionContext<'_, '_>, inputs: &Inputs<'_>, outputs: &Outputs<'_>) -> Signature {
    let out = &mut *context.out;
    let output_types: Vec<Id> = outputs.returned.iter().map(Output::returned_type).collect();
    let return_type = match output_types.as_slice() {
        [] => out.void(),
        [only] => *only,
        many => out.structure(many),
    };
    let parameters: Vec<Id> = inputs.parameters.iter().map(|parameter| parameter.ty).collect();
    let function_type = out.function_type(return_type, &parameters);
    let function = out.fresh();
    out.name(function, "vkabort_continue");
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
) -> Result<()> {
    let index = context.index;
    let RegionBlocks { ordered, first, last } = blocks;
    let entry = context.out.fresh();
    let start = context.rename(first.label);
    let (ty, result) = (signature.function_type, signature.return_type);
    context
        .out
        .op(op::Function, (result, signature.function, Literal(0), ty));
    for parameter in &inputs.parameters {
        context.out.op(op::FunctionParameter, (parameter.ty, parameter.id));
    }
    context.out.label(entry);
    for (ty, inner) in &inputs.undefined {
        context.define_undefined(*ty, *inner)?;
    }
    for input in &inputs.narrow {
        input.widening.narrow(context.out, input.parameter, input.inner);
    }
    for inst in &inputs.rematerialized {
        context.copy(inst);
    }
    context.out.branch(start);
    // A branch out of the loop needs no merge instruction, and the return in its place must not have one.
    let end = last.before_end();
    for block in ordered {
        let insts = index.insts(block.offset, block.end);
        for inst in insts.take_while(|inst| inst.offset != end) {
            if index.is_debug_info(&inst) {
                continue;
            }
            if block.label != first.label || inst.opcode() != op::Phi {
                context.copy(&inst);
            } else if let Some(split) = split_phis.iter().find(|p| p.inst.offset == inst.offset) {
                let inside = split.inside.iter();
                let inside = inside.map(|(value, from)| (context.inner_id(*value), context.inner_id(*from)));
                let pairs: Vec<(Id, Id)> = iter::once((split.parameter, entry)).chain(inside).collect();
                let inner = context.inner_id(inst.result());
                context.out.phi(inst.result_type(), inner, &pairs);
            }
        }
        if block.label == last.label {
            write_return(context, signature.return_type, &outputs.returned);
        }
    }
    context.out.op(op::FunctionEnd, ());
    Ok(())
}

fn write_return(context: &mut RegionContext<'_, '_>, return_type: Id, outputs: &[Output]) {
    let mut values = Vec::with_capacity(outputs.len());
    for output in outputs {
        let mut value = context.inner_id(output.id);
        if let Some(widening) = output.widening {
            let wide = context.out.fresh();
            widening.widen(context.out, value, wide);
            value = wide;
        }
        values.push(value);
    }
    match values.as_slice() {
        [] => context.out.op(op::Return, ()),
        [only] => context.out.op(op::ReturnValue, *only),
        many => {
            let whole = context.out.fresh();
            context.out.op(op::CompositeConstruct, (return_type, whole, many));
            context.out.op(op::ReturnValue, whole);
        }
    }
}

/// Writes the call of the new function and defines the outputs from its result.
fn write_call(
    context: &mut RegionContext<'_, '_>,
    signature: &Signature,
    inputs: &Inputs<'_>,
    outputs: &Outputs<'_>,
) -> Result<()> {
    let arguments: Vec<Id> = inputs.parameters.iter().map(|parameter| parameter.argument).collect();
    for input in &inputs.narrow {
        input.widening.widen(context.out, input.outer, input.argument);
    }
    // By output: its id as it is returned.
    let mut returned_ids = Vec::with_capacity(outputs.returned.len());
    for output in &outputs.returned {
        returned_ids.push(output.widening.map_or(output.id, |_| context.out.fresh()));
    }
    let result = match returned_ids.as_slice() {
        [only] => *only,
        _ => context.out.fresh(),
    };
    context.out.op(
        op::FunctionCall,
        (signature.return_type, result, signature.function, arguments.as_slice()),
    );
    if outputs.returned.len() > 1 {
        for (member, (ty, id)) in (0..).zip(signature.output_types.iter().zip(&returned_ids)) {
            context
                .out
                .op(op::CompositeExtract, (*ty, *id, result, Literal(member)));
        }
    }
    for (output, returned_id) in outputs.returned.iter().zip(&returned_ids) {
        if let Some(widening) = output.widening {
            widening.narrow(context.out, *returned_id, output.id);
        }
    }
    outputs
        .rematerialized
        .iter()
        .for_each(|inst| context.out.code.copy(inst));
    for (ty, id) in &outputs.undefined {
        context.define_undefined(*ty, *id)?;
    }
    Ok(())
}
