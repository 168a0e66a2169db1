//! Values that a region defines and the rest of its function uses.

use super::context::RegionContext;
use super::region::PASS;
use super::widening::Widening;
use std::collections::BTreeSet;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::words::inst_at;
use vkabort_spirv::{Id, Inst, op, operands};

/// A value that the new function returns.
pub(super) struct Output {
    pub(super) ty: Id,
    /// Its id outside.
    pub(super) id: Id,
    /// Set if the value is narrow.
    pub(super) widening: Option<Widening>,
}

impl Output {
    /// The type that the function returns.
    pub(super) fn returned_type(&self) -> Id {
        self.widening.map_or(self.ty, |widening| widening.wide_type)
    }
}

/// Values that the rest of the function needs from the new function.
#[derive(Default)]
pub(super) struct Outputs<'w> {
    /// In module order.
    pub(super) returned: Vec<Output>,
    /// Instructions to repeat outside, in module order.
    pub(super) rematerialized: Vec<Inst<'w>>,
    /// Values used only by unreachable code: (type, id).
    pub(super) undefined: Vec<(Id, Id)>,
    /// Debug instructions outside that use other values of the region.
    pub(super) orphaned: Vec<Inst<'w>>,
}

impl Outputs<'_> {
    /// Ids that the code outside defines in place of the region, except repeated instructions.
    pub(super) fn redefined(&self) -> impl Iterator<Item = Id> {
        let returned = self.returned.iter().map(|output| output.id);
        returned.chain(self.undefined.iter().map(|(_, id)| *id))
    }
}

/// Collects the outputs of the region.
///
/// # Errors
///
/// A value that can neither be returned nor repeated outside.
pub(super) fn collect_outputs<'w>(context: &mut RegionContext<'_, 'w>) -> Result<Outputs<'w>> {
    let index = context.index;
    // A phi of the continue target that stays outside as a whole has an id inside already: no other value of the region has.
    let is_inner = |id: &Id| context.is_defined_in_region(*id) == Some(true) && !context.inner_ids.contains_key(id);
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut worklist: Vec<Id> = context.uses.values.clone();
    while let Some(id) = worklist.pop() {
        let Some(inst) = index.def(id).filter(|i| i.opcode() != op::Label) else {
            continue;
        };
        if !is_inner(&id) || !needed.insert(inst.offset) {
            continue;
        }
        if context.must_rematerialize(&inst) {
            operands::visit_ids(&inst, 1, |i| worklist.push(inst.id(i)));
        } else {
            check_returnable(context, &inst)?;
        }
    }
    let uses = context.uses;
    let is_needed = |inst: &Inst<'_>| needed.contains(&inst.offset);
    let unreachable = uses
        .unreachable
        .iter()
        .filter(|id| is_inner(id))
        .filter_map(|id| index.def(*id));
    let undefined: BTreeSet<usize> = unreachable
        .filter(|inst| inst.opcode() != op::Label && !is_needed(inst))
        .map(|inst| inst.offset)
        .collect();
    let is_orphaned = |id: &Id| is_inner(id) && index.def(*id).is_none_or(|inst| !is_needed(&inst));
    let mut outputs = Outputs {
        orphaned: uses
            .debug
            .iter()
            .filter(|(_, id)| is_orphaned(id))
            .map(|(inst, _)| *inst)
            .collect(),
        undefined: undefined
            .into_iter()
            .filter_map(|offset| inst_at(index.words, offset))
            .map(|inst| (inst.result_type(), inst.result()))
            .collect(),
        ..Outputs::default()
    };
    for inst in needed.into_iter().filter_map(|offset| inst_at(index.words, offset)) {
        if context.must_rematerialize(&inst) {
            outputs.rematerialized.push(inst);
        } else {
            outputs.returned.push(Output {
                ty: inst.result_type(),
                id: inst.result(),
                widening: context.widening(inst.result_type(), inst.offset)?,
            });
        }
    }
    Ok(outputs)
}

/// Whether a function can return the result of an instruction.
fn check_returnable(context: &RegionContext<'_, '_>, inst: &Inst<'_>) -> Result<()> {
    let (index, ty) = (context.index, inst.result_type());
    let value = if index.is_logical_pointer(ty) {
        "a pointer"
    } else if index.is_opaque(ty) {
        "an opaque handle (image, sampler or acceleration structure)"
    } else if context.limits.has_built_ins(ty) {
        "a structure with built-in members"
    } else {
        return Ok(());
    };
    let message = format!(
        "{value} that a continue construct computes is used outside it, which is not supported where an invocation may abort \
         in the construct; compute it before or after the construct, or choose by an index instead"
    );
    Err(Error::new(ErrorKind::Unsupported, PASS, inst.offset as u32, message))
}
