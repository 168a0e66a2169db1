//! Values that a region uses and the rest of its function defines.

use super::context::RegionContext;
use super::decorations::decorate_parameter;
use super::region::PASS;
use super::widening::Widening;
use vkabort_spirv::edit::phi::predecessor;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Block;
use vkabort_spirv::op_sets::is_memory_object;
use vkabort_spirv::{Id, Inst, op, operands};

/// A parameter of the new function.
pub(super) struct Parameter {
    pub(super) ty: Id,
    pub(super) argument: Id,
    pub(super) id: Id,
}

/// A narrow value that a parameter carries in its wide form.
pub(super) struct NarrowInput {
    pub(super) widening: Widening,
    /// The value outside.
    pub(super) outer: Id,
    /// The wide argument.
    pub(super) argument: Id,
    /// The wide parameter.
    pub(super) parameter: Id,
    /// The value inside.
    pub(super) inner: Id,
}

/// Values that the new function needs from its caller's function.
#[derive(Default)]
pub(super) struct Inputs<'w> {
    pub(super) parameters: Vec<Parameter>,
    /// The narrow values among them.
    pub(super) narrow: Vec<NarrowInput>,
    /// Instructions to repeat at the start of the new function, operands first.
    pub(super) rematerialized: Vec<Inst<'w>>,
    /// Values used only by unreachable code: (type, id inside).
    pub(super) undefined: Vec<(Id, Id)>,
}

/// A phi of the continue target with edges from inside and outside the region. It moves into the new function, where a
/// parameter replaces the operands for edges from outside.
pub(super) struct SplitPhi<'w> {
    pub(super) inst: Inst<'w>,
    pub(super) parameter: Id,
    /// (value, predecessor) pairs for edges from inside.
    pub(super) inside: Vec<(Id, Id)>,
}

/// A step of making a value available inside.
enum Step<'w> {
    Provide(Id),
    /// To be repeated once its operands are available.
    Rematerialize(Inst<'w>),
}

/// Writes the phis that stay outside; returns those that also move inside.
pub(super) fn split_phis<'w>(
    context: &mut RegionContext<'_, 'w>,
    first: &Block,
    inputs: &mut Inputs<'w>,
) -> Vec<SplitPhi<'w>> {
    let index = context.index;
    let mut split_phis = Vec::new();
    for inst in index.body(first).filter(|i| i.opcode() == op::Phi) {
        let (ty, id) = (inst.result_type(), inst.result());
        let (inside, outside): (Vec<_>, Vec<_>) =
            inst.phi_pairs().partition(|(_, from)| context.is_region_label(*from));
        let stays_outside = inside.is_empty();
        let merged = if stays_outside { id } else { context.out.fresh() };
        context.out.phi(ty, merged, &outside);
        let parameter = context.out.fresh();
        inputs.parameters.push(Parameter {
            ty,
            argument: merged,
            id: parameter,
        });
        decorate_parameter(index, context.out, ty, id, parameter);
        context.out.inherit_non_uniform(index, id, &[parameter]);
        if stays_outside {
            context.inner_ids.insert(id, parameter);
        } else {
            split_phis.push(SplitPhi {
                inst,
                parameter,
                inside,
            });
        }
    }
    split_phis
}

/// Collects the inputs of the region with `blocks`, up to the terminator at offset `end`, and gives them ids inside.
///
/// # Errors
///
/// An instruction with unknown operands, or a value that cannot cross the border.
pub(super) fn collect_inputs<'w>(
    context: &mut RegionContext<'_, 'w>,
    blocks: &[Block],
    end: usize,
    inputs: &mut Inputs<'w>,
) -> Result<()> {
    let index = context.index;
    let mut unreachable = Vec::new();
    for block in blocks {
        let Some(number) = index.block_of_label(context.function, block.label) else {
            continue;
        };
        for inst in index.insts(block.offset, block.end).skip(1).filter(|i| i.offset != end) {
            if index.is_debug_info(&inst) {
                continue;
            }
            // Operands of the continue target's phis for edges from outside stay outside.
            let is_split = block.label == context.region.target && inst.opcode() == op::Phi;
            let mut used = Vec::new();
            let has_known_operands = operands::visit_ids(&inst, index.selector_words(&inst), |i| {
                if !is_split || predecessor(&inst, i).is_some_and(|from| context.is_region_label(from)) {
                    let can_evaluate = context
                        .reachable
                        .can_evaluate(index, context.function, number, &inst, i);
                    used.push((inst.id(i), can_evaluate));
                }
            });
            if !has_known_operands {
                let message = format!(
                    "a continue construct in which an invocation may abort contains the unknown opcode {}",
                    inst.opcode()
                );
                return Err(Error::new(ErrorKind::Unsupported, PASS, inst.offset as u32, message));
            }
            for (id, can_evaluate) in used {
                match can_evaluate {
                    true => provide(context, id, inputs)?,
                    false => unreachable.push(id),
                }
            }
        }
    }
    for id in unreachable {
        let Some(inst) = missing_definition(context, id) else {
            continue;
        };
        if is_memory_object(inst.opcode()) {
            // They dominate every use, and some instructions accept no other operand.
            provide(context, id, inputs)?;
        } else {
            let inner = context.rename(id);
            inputs.undefined.push((inst.result_type(), inner));
        }
    }
    Ok(())
}

/// The definition of an id outside the region that has no id inside yet.
fn missing_definition<'w>(context: &RegionContext<'_, 'w>, id: Id) -> Option<Inst<'w>> {
    let is_available = context.inner_ids.contains_key(&id) || context.is_defined_in_region(id) != Some(false);
    context
        .index
        .def(id)
        .filter(|i| !is_available && i.opcode() != op::Label)
}

/// Makes an id available inside, after the ids that it depends on. The chain may have any length, so this does not recurse.
fn provide<'w>(context: &mut RegionContext<'_, 'w>, id: Id, inputs: &mut Inputs<'w>) -> Result<()> {
    let mut stack = vec![Step::Provide(id)];
    while let Some(step) = stack.pop() {
        let id = match step {
            Step::Provide(id) => id,
            Step::Rematerialize(inst) => {
                inputs.rematerialized.push(inst);
                continue;
            }
        };
        let Some(inst) = missing_definition(context, id) else {
            continue;
        };
        let (index, ty) = (context.index, inst.result_type());
        let inner = context.rename(id);
        context.out.inherit_non_uniform(index, id, &[inner]);
        if context.must_rematerialize(&inst) {
            stack.push(Step::Rematerialize(inst));
            let operands = stack.len();
            operands::visit_ids(&inst, 1, |i| stack.push(Step::Provide(inst.id(i))));
            if let Some(operands) = stack.get_mut(operands..) {
                operands.reverse();
            }
        } else if let Some(widening) = context.widening(ty, inst.offset)? {
            let (argument, parameter) = (context.out.fresh(), context.out.fresh());
            inputs.parameters.push(Parameter {
                ty: widening.wide_type,
                argument,
                id: parameter,
            });
            inputs.narrow.push(NarrowInput {
                widening,
                outer: id,
                argument,
                parameter,
                inner,
            });
        } else {
            inputs.parameters.push(Parameter {
                ty,
                argument: id,
                id: inner,
            });
            decorate_parameter(index, context.out, ty, id, inner);
        }
    }
    Ok(())
}
