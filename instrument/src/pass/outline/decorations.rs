//! Decorations of the ids that a new function has.

use super::outline_region::Outliner;
use crate::analysis::index::Index;
use crate::edit::Edits;
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Id, Inst, op};

/// The instructions that decorate an id, sorted by it: `OpDecorate` with all its literals, and `OpGroupDecorate` once for
/// each of its targets. Made once a round, since outputs may be many.
pub(super) struct Annotations<'w> {
    by_target: Vec<(Id, Inst<'w>)>,
}

impl<'w> Annotations<'w> {
    pub(super) fn new(index: &Index<'w>) -> Self {
        let mut by_target = Vec::new();
        for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
            match inst.opcode() {
                op::Decorate => by_target.push((inst.word(1), inst)),
                op::GroupDecorate => by_target.extend(inst.from(2).iter().map(|target| (*target, inst))),
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
}

impl Outliner<'_, '_> {
    /// Gives an id the decorations of another one. What a group gave, the group gives again.
    pub(super) fn copy_decorations(&mut self, from: Id, to: Id) {
        for inst in self.annotations.of(from) {
            if inst.opcode() == op::GroupDecorate {
                self.globals.decorate_by_group(inst.word(1), to);
            } else {
                self.globals.decorate(to, inst.word(2), inst.from(3));
            }
        }
    }

    /// Removes from an id the decorations that say how its instruction computes: another one gives it now. What a group gives
    /// stays.
    pub(super) fn remove_decorations(&self, id: Id, edits: &mut Edits) {
        for inst in self.annotations.of(id).filter(|inst| inst.opcode() == op::Decorate) {
            let of_computing = matches!(
                inst.word(2),
                decoration::FPRoundingMode
                    | decoration::FPFastMathMode
                    | decoration::NoContraction
                    | decoration::NoSignedWrap
                    | decoration::NoUnsignedWrap
            );
            if of_computing {
                edits.remove(inst.offset, inst.words.len());
            }
        }
    }

    /// Decorates a parameter that takes `argument`: as its type demands, and with what says how memory is accessed.
    ///
    /// What points, or is pointed to as a pointer, into physical storage buffers must say whether other pointers lead to the
    /// same place. Here nobody knows, so they may.
    pub(super) fn decorate_parameter(&mut self, ty: Id, argument: Id, parameter: Id) {
        let of_memory = [
            decoration::Volatile,
            decoration::Coherent,
            decoration::NonWritable,
            decoration::NonReadable,
        ];
        // A variable of the function's own may say of itself what no parameter for it may.
        let is_parameter = self.index.opcode(argument) == op::FunctionParameter;
        for kind in of_memory.into_iter().filter(|_| is_parameter) {
            if self.index.decoration(argument, kind).is_some() {
                self.globals.decorate(parameter, kind, &[]);
            }
        }
        let kind = if self.is_physical_pointer(ty) {
            decoration::Aliased
        } else {
            let pointer = self.index.def(ty).filter(|inst| inst.opcode() == op::TypePointer);
            if !pointer.is_some_and(|inst| self.is_physical_pointer(inst.word(3))) {
                return;
            }
            decoration::AliasedPointer
        };
        self.globals.decorate(parameter, kind, &[]);
    }

    /// Whether a type is a pointer into physical storage buffers, or an array of them.
    fn is_physical_pointer(&self, ty: Id) -> bool {
        let element = self.index.def(self.index.under_arrays(ty));
        element.is_some_and(|inst| {
            matches!(inst.opcode(), op::TypePointer | op::TypeUntypedPointerKHR)
                && inst.word(2) == storage_class::PhysicalStorageBuffer
        })
    }
}
