//! Which values a region takes and gives back, and which are made again on the other side.

use super::PASS;
use super::outline_region::Outliner;
use super::widening::Narrow;
use crate::analysis::index::function::Block;
use crate::edit::phi::predecessor;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::op::{decoration, storage_class};
use crate::spv::words::inst_at;
use crate::spv::{Id, Inst, op, operands};
use std::collections::BTreeSet;

/// A phi of the continue target that has ways from inside the region: it stays inside, and takes what comes from outside
/// as a parameter.
pub(super) struct InnerPhi<'w> {
    pub(super) inst: Inst<'w>,
    pub(super) parameter: Id,
    pub(super) within: Vec<(Id, Id)>,
}

/// What the new function gives back.
#[derive(Default)]
pub(super) struct Outputs<'w> {
    /// (type, id, and how it goes if it is narrow).
    pub(super) returned: Vec<(Id, Id, Option<Narrow>)>,
    /// Instructions to repeat outside, in module order.
    pub(super) remade: Vec<Inst<'w>>,
    /// What is named only where nothing reaches: (type, id).
    pub(super) undefined: Vec<(Id, Id)>,
    /// Debug instructions outside whose values are not among these.
    pub(super) lost: Vec<Inst<'w>>,
}

/// What the new function takes.
#[derive(Default)]
pub(super) struct Inputs<'w> {
    /// (type, argument, parameter).
    pub(super) parameters: Vec<(Id, Id, Id)>,
    /// Of these, the narrow ones: how they go, the value outside, what it is on the way there, as a parameter, and its name
    /// inside.
    pub(super) narrow: Vec<(Narrow, [Id; 4])>,
    /// Instructions to repeat at its start, operands first.
    pub(super) remade: Vec<Inst<'w>>,
    /// What is named inside only where nothing reaches: (type, name inside).
    pub(super) undefined: Vec<(Id, Id)>,
}

/// What is left to do for a value that is needed inside.
enum Need<'w> {
    Value(Id),
    /// Its operands are there.
    Remade(Inst<'w>),
}

impl<'w> Outliner<'_, 'w> {
    pub(super) fn collect_inputs(&mut self, blocks: &[Block], end: usize, inputs: &mut Inputs<'w>) -> Result<()> {
        let index = self.index;
        let mut unreached = Vec::new();
        for block in blocks {
            let Some(number) = index.block_of_label(self.function, block.label) else {
                continue;
            };
            for inst in index.insts(block.offset, block.end).skip(1).filter(|i| i.offset != end) {
                if index.is_debug_info(&inst) {
                    continue;
                }
                // What comes from outside into the continue target is merged outside.
                let merges = block.label == self.region.target && inst.opcode() == op::Phi;
                let mut used = Vec::new();
                let known = operands::visit_ids(&inst, index.selector_words(&inst), |i| {
                    if !merges || predecessor(&inst, i).is_some_and(|from| self.is_region_label(from)) {
                        used.push((inst.word(i), self.reached.uses(index, self.function, number, &inst, i)));
                    }
                });
                if !known {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        PASS,
                        inst.offset as u32,
                        format!(
                            "opcode {} is unknown and stands in a continue construct in which an invocation may abort",
                            inst.opcode()
                        ),
                    ));
                }
                for (id, is_reached) in used {
                    match is_reached {
                        true => self.need(id, inputs)?,
                        false => unreached.push(id),
                    }
                }
            }
        }
        for id in unreached {
            let Some(inst) = self.lacking(id) else { continue };
            if matches!(
                inst.opcode(),
                op::Variable | op::UntypedVariableKHR | op::FunctionParameter
            ) {
                // They dominate everything, and some instructions take nothing else.
                self.need(id, inputs)?;
            } else {
                let name = self.globals.fresh();
                self.names.insert(id, name);
                inputs.undefined.push((inst.result_type(), name));
            }
        }
        Ok(())
    }

    /// The instruction that makes an id outside the region which has no name inside yet.
    fn lacking(&self, id: Id) -> Option<Inst<'w>> {
        let known = self.names.contains_key(&id) || self.defined_in_region(id) != Some(false);
        self.index.def(id).filter(|i| !known && i.opcode() != op::Label)
    }

    /// Makes an id available inside. What it is made of comes first; the chain may have any length.
    fn need(&mut self, id: Id, inputs: &mut Inputs<'w>) -> Result<()> {
        let mut open = vec![Need::Value(id)];
        while let Some(need) = open.pop() {
            let id = match need {
                Need::Value(id) => id,
                Need::Remade(inst) => {
                    inputs.remade.push(inst);
                    continue;
                }
            };
            let Some(inst) = self.lacking(id) else { continue };
            let name = self.globals.fresh();
            self.names.insert(id, name);
            self.globals.inherit_non_uniform(self.index, id, &[name]);
            if self.must_be_remade(&inst) {
                open.push(Need::Remade(inst));
                let operands = open.len();
                operands::visit_ids(&inst, 1, |i| open.push(Need::Value(inst.word(i))));
                if let Some(operands) = open.get_mut(operands..) {
                    operands.reverse();
                }
            } else if let Some(narrow) = self.narrow(inst.result_type(), inst.offset)? {
                let (wide, parameter) = (self.globals.fresh(), self.globals.fresh());
                inputs.parameters.push((narrow.wide, wide, parameter));
                inputs.narrow.push((narrow, [id, wide, parameter, name]));
            } else {
                inputs.parameters.push((inst.result_type(), id, name));
                self.decorate_parameter(inst.result_type(), id, name);
            }
        }
        Ok(())
    }

    /// Whether a value cannot be passed to a function, or should not be, and is made anew there: by an instruction that
    /// gives the same value at another place. A loaded pointer may not be: the variable may hold another one by then. An
    /// opaque value that a function takes or gives is passed on, as it was before.
    fn must_be_remade(&self, inst: &Inst<'_>) -> bool {
        let ty = inst.result_type();
        match inst.opcode() {
            // Only what is stored may say how it is rounded, and so must be made where it is stored.
            op::FConvert => self
                .index
                .decoration(inst.result(), decoration::FPRoundingMode)
                .is_some(),
            op::CopyObject | op::CompositeExtract if self.types.have_built_ins(ty) => true,
            op::CopyObject | op::Undef => self.index.is_opaque(ty) || self.index.is_logical_pointer(ty),
            // No structure may hold one with built-ins, such as what goes out is put into.
            op::Load if self.index.storage_class(self.index.type_of(inst.word(3))) == Some(storage_class::Input) => {
                self.types.have_built_ins(ty) || self.index.is_opaque(ty)
            }
            op::Load | op::Image | op::SampledImage | op::CompositeExtract | op::ConvertUToAccelerationStructureKHR => {
                self.index.is_opaque(ty)
            }
            op::AccessChain
            | op::InBoundsAccessChain
            | op::PtrAccessChain
            | op::InBoundsPtrAccessChain
            | op::RawAccessChainNV
            | op::UntypedAccessChainKHR
            | op::UntypedInBoundsAccessChainKHR
            | op::UntypedPtrAccessChainKHR
            | op::UntypedInBoundsPtrAccessChainKHR
            | op::ImageTexelPointer
            | op::UntypedImageTexelPointerEXT
            | op::BufferPointerEXT => self.index.is_logical_pointer(ty),
            _ => false,
        }
    }

    /// What goes out, each in module order.
    pub(super) fn collect_outputs(&mut self) -> Result<Outputs<'w>> {
        let index = self.index;
        // A phi that stays outside whole is the one kind of value of the region that has a name inside already.
        let made_inside = |id: &Id| self.defined_in_region(*id) == Some(true) && !self.names.contains_key(id);
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<Id> = self.uses.values.clone();
        while let Some(id) = open.pop() {
            let Some(inst) = index.def(id).filter(|i| i.opcode() != op::Label) else {
                continue;
            };
            if !made_inside(&id) || !wanted.insert(inst.offset) {
                continue;
            }
            if self.must_be_remade(&inst) {
                operands::visit_ids(&inst, 1, |i| open.push(inst.word(i)));
                continue;
            }
            let ty = inst.result_type();
            let cannot_be_returned = if index.is_logical_pointer(ty) {
                "a pointer chosen in a continue construct in which an invocation may abort is used outside it"
            } else if index.is_opaque(ty) {
                "an image, a sampler or the like that a call gives in a continue construct in which an invocation may abort \
                 is used outside it"
            } else if self.types.have_built_ins(ty) {
                "a structure with built-ins that a continue construct in which an invocation may abort makes is used outside it"
            } else {
                continue;
            };
            let offset = inst.offset as u32;
            return Err(Error::new(ErrorKind::Unsupported, PASS, offset, cannot_be_returned));
        }
        let mut undefined: BTreeSet<usize> = BTreeSet::new();
        for inst in self
            .uses
            .unreached
            .iter()
            .filter(|id| made_inside(id))
            .filter_map(|id| index.def(*id))
        {
            if inst.opcode() != op::Label && !wanted.contains(&inst.offset) {
                undefined.insert(inst.offset);
            }
        }
        let is_lost = |id: &Id| made_inside(id) && index.def(*id).is_none_or(|inst| !wanted.contains(&inst.offset));
        let mut outputs = Outputs {
            lost: self
                .uses
                .debug
                .iter()
                .filter(|(_, id)| is_lost(id))
                .map(|(inst, _)| *inst)
                .collect(),
            undefined: undefined
                .into_iter()
                .filter_map(|offset| inst_at(index.words, offset))
                .map(|inst| (inst.result_type(), inst.result()))
                .collect(),
            ..Outputs::default()
        };
        for inst in wanted.into_iter().filter_map(|offset| inst_at(index.words, offset)) {
            if self.must_be_remade(&inst) {
                outputs.remade.push(inst);
            } else {
                let narrow = self.narrow(inst.result_type(), inst.offset)?;
                outputs.returned.push((inst.result_type(), inst.result(), narrow));
            }
        }
        Ok(outputs)
    }
}
