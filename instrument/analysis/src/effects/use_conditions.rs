//! The conditions under which a use takes a value.

use super::parts::ValuePart;
use super::point::{Condition, Test};
use super::use_finder::UseFinder;
use smallvec::{SmallVec, smallvec};
use vkabort_spirv::{Id, Inst, op, op_sets};

impl UseFinder<'_, '_, '_> {
    /// Whether an instruction has no effect but its result.
    pub(super) fn is_pure(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::ExtInst => {
                let takes_pointers = inst.ids(5).any(|id| {
                    let ty = self.view.index.type_of(id);
                    self.view.index.storage_class(ty).is_some()
                });
                self.view.glsl.contains(&inst.ext_inst_set()) && !takes_pointers
            }
            op::SampledImage..=op::ImageRead
            | op::Image..=op::ImageQuerySamples
            | op::DPdx..=op::FwidthCoarse
            | op::PtrAccessChain
            | op::FreezeKHR => true,
            opcode => op_sets::writes_no_memory(opcode) || op_sets::base_pointer(inst).is_some(),
        }
    }

    /// The conditions without which an instruction drops the part of its operand in word `word`.
    pub(super) fn conditions(&self, part: &ValuePart, inst: &Inst<'_>, word: usize) -> SmallVec<[Condition; 2]> {
        let index = self.view.index;
        let component = part.path.first().copied();
        let is_vector = |value: Id| index.opcode(index.type_of(value)) == op::TypeVector;
        match (inst.opcode(), word) {
            (op::Select, 4 | 5) => {
                let value = inst.id(3);
                let test = if word == 4 { Test::True } else { Test::False };
                let component = component.filter(|_| is_vector(value));
                smallvec![Condition { value, component, test }]
            }
            (op::LogicalAnd | op::LogicalOr, _) => {
                let is_and = inst.opcode() == op::LogicalAnd;
                let test = if is_and { Test::True } else { Test::False };
                let parts = self.operands_of(inst.opcode(), inst.id(7 - word)).into_iter();
                parts.map(|value| Condition { value, component, test }).collect()
            }
            // All or any of what a vector is made of.
            (op::Any | op::All, _) => {
                let is_all = inst.opcode() == op::All;
                let test = if is_all { Test::True } else { Test::False };
                let construct = index
                    .def(inst.id(3))
                    .filter(|inst| inst.opcode() == op::CompositeConstruct);
                let parts = construct.into_iter().flat_map(|inst| inst.ids(3).enumerate());
                let is_scalar = |part: Id| index.opcode(index.type_of(part)) == op::TypeBool;
                let others = parts.filter(|(at, part)| is_scalar(*part) && component != Some(*at as u32));
                let component = None;
                others.map(|(_, value)| Condition { value, component, test }).collect()
            }
            (op::BitwiseAnd, _) => {
                let value = inst.id(7 - word);
                let test = Test::NonZero;
                let constant = index.def(value).filter(|mask| mask.opcode() == op::Constant);
                let is_zero = constant.is_some_and(|mask| index.literal(&mask) == Some(0));
                match index.opcode(value) {
                    op::Constant | op::ConstantComposite if !is_zero => SmallVec::new(),
                    _ => smallvec![Condition { value, component, test }],
                }
            }
            _ => SmallVec::new(),
        }
    }

    /// The operands of nested instructions of one opcode, up to four.
    pub(super) fn operands_of(&self, opcode: u16, value: Id) -> SmallVec<[Id; 4]> {
        let (mut parts, mut worklist) = (SmallVec::new(), vec![value]);
        while let Some(id) = worklist.pop() {
            match self.view.index.def(id).filter(|inst| inst.opcode() == opcode) {
                Some(inst) if parts.len() + worklist.len() < 4 => worklist.extend(inst.ids(3)),
                _ => parts.push(id),
            }
        }
        parts
    }
}
