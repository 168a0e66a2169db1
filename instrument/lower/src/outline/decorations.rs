//! Decorations of the ids that cross the border of a region.

use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::address_words::is_physical_pointer;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, Inst, op};

/// Decorating instructions sorted by target: `OpDecorate` with all its literals, and `OpGroupDecorate` once for each of
/// its targets. Collected once per round, since outputs may be many.
pub(super) struct DecorationInsts<'w> {
    by_target: Vec<(Id, Inst<'w>)>,
}

impl<'w> DecorationInsts<'w> {
    /// O(n log n) in the decorations of the module.
    pub(super) fn new(index: &Index<'w>) -> Self {
        let mut by_target = Vec::new();
        for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
            match inst.opcode() {
                op::Decorate => by_target.push((inst.target(), inst)),
                op::GroupDecorate => by_target.extend(inst.ids(2).map(|target| (target, inst))),
                _ => {}
            }
        }
        by_target.sort_by_key(|(target, _)| *target);
        Self { by_target }
    }

    fn of(&self, target: Id) -> impl Iterator<Item = &Inst<'w>> {
        let first = self.by_target.partition_point(|(t, _)| *t < target);
        let rest = self.by_target.get(first..).unwrap_or(&[]);
        rest.iter().take_while(move |(t, _)| *t == target).map(|(_, inst)| inst)
    }

    /// Gives `to` the decorations of `from`, those of decoration groups through the same groups.
    pub(super) fn copy(&self, out: &mut Emitter, from: Id, to: Id) {
        for inst in self.of(from) {
            if inst.opcode() == op::GroupDecorate {
                out.decorate_by_group(inst.target(), to);
            } else {
                out.decorate(to, inst.decoration(), inst.from(3));
            }
        }
    }

    /// Removes the decorations of `id` that apply to the instruction which used to define it. Those of decoration groups
    /// stay.
    pub(super) fn remove_arithmetic(&self, id: Id, edits: &mut Edits) {
        for inst in self.of(id).filter(|inst| inst.opcode() == op::Decorate) {
            let is_arithmetic = matches!(
                inst.decoration(),
                decoration::FPRoundingMode
                    | decoration::FPFastMathMode
                    | decoration::NoContraction
                    | decoration::NoSignedWrap
                    | decoration::NoUnsignedWrap
            );
            if is_arithmetic {
                edits.remove_inst(inst);
            }
        }
    }
}

/// Decorates `parameter`, of type `ty`, with the decorations that its type requires and with the memory decorations of `argument`.
///
/// SPIR-V requires an aliasing decoration on every parameter that is, or points to, a pointer into physical storage
/// buffers (`Restrict` or `Aliased`, `RestrictPointer` or `AliasedPointer`). The pass does not analyse aliasing, so it
/// chooses the one that is always right.
pub(super) fn decorate_parameter(index: &Index<'_>, out: &mut Emitter, ty: Id, argument: Id, parameter: Id) {
    let memory_decorations = [
        decoration::Volatile,
        decoration::Coherent,
        decoration::NonWritable,
        decoration::NonReadable,
    ];
    // A variable of the function may have memory decorations that are not valid on a parameter.
    let is_parameter = index.opcode(argument) == op::FunctionParameter;
    for kind in memory_decorations.into_iter().filter(|_| is_parameter) {
        if index.decoration(argument, kind).is_some() {
            out.decorate(parameter, kind, &[]);
        }
    }
    let pointer = index.def(ty).filter(|inst| inst.opcode() == op::TypePointer);
    if is_physical_pointer(index, index.under_arrays(ty)) {
        out.decorate(parameter, decoration::Aliased, &[]);
    } else if pointer.is_some_and(|inst| is_physical_pointer(index, index.under_arrays(inst.pointee()))) {
        out.decorate(parameter, decoration::AliasedPointer, &[]);
    }
}
