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
use super::inputs::{Inputs, collect_inputs, split_phis};
use super::new_function::{Signature, declare_signature, write_function};
use super::outputs::{Outputs, collect_outputs};
use super::region::PASS;
use crate::edit::Edits;
use crate::edit::phi::PhiRenames;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::{Code, Id, op};

/// Most parameters of a function and members of a structure (SPIR-V specification 2.17, Universal Limits).
const MAX_PARAMETERS: usize = 255;
const MAX_MEMBERS: usize = 16_383;

/// Moves the region of `context` into a new function and returns its id.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] if the region is not a continue construct of valid control flow, [`ErrorKind::Limit`] if the
/// function would have too many inputs or outputs, [`ErrorKind::Unsupported`] for values that cannot cross the border.
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
    edits.insert(blocks.first.offset, &call.words);
    edits.insert(index.words.len(), &function.words);
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
    code.op2(
        op::FunctionCall,
        &[signature.return_type, result, signature.function],
        &arguments,
    );
    if outputs.returned.len() > 1 {
        for (member, (ty, id)) in (0..).zip(signature.output_types.iter().zip(&returned_ids)) {
            code.op(op::CompositeExtract, &[*ty, *id, result, member]);
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
