//! What becomes of a value at a use.

use super::lane::{Lane, Path, results};
use super::uses::Use;
use super::{Condition, Test, ValueFlow};
use crate::spv::op::glsl;
use crate::spv::{Id, Inst, op, op_sets, operands};
use smallvec::SmallVec;

/// Limit on instructions that are searched for a value that an operand depends on.
const MAX_SEARCHED: usize = 64;

/// What becomes of a part of a value at a use.
pub(super) enum Fate {
    /// It has an effect.
    Effect,
    /// It determines parts of a result, if the condition holds.
    Result(SmallVec<[Lane; 2]>, SmallVec<[Condition; 2]>),
    /// A phi takes it.
    Phi(Lane),
    /// It is stored to a part of a variable of the function.
    Local(Part),
}

/// A part of a variable of the function.
pub(super) struct Part {
    pub(super) variable: Id,
    pub(super) path: Path,
    /// Whether all indices of the store are constant.
    pub(super) is_exact: bool,
}

/// Whether the operand in word `word` is a value that other invocations of the subgroup may read, and need not.
fn is_read_by_others(inst: &Inst<'_>, word: usize) -> bool {
    match inst.opcode() {
        op::GroupNonUniformBroadcast
        | op::GroupNonUniformBroadcastFirst
        | op::GroupNonUniformShuffle..=op::GroupNonUniformShuffleDown
        | op::GroupNonUniformQuadBroadcast
        | op::GroupNonUniformQuadSwap
        | op::GroupNonUniformRotateKHR => word == 4,
        op::SubgroupReadInvocationKHR | op::SubgroupFirstInvocationKHR => word == 3,
        _ => false,
    }
}

impl ValueFlow<'_, '_> {
    pub(super) fn fate(&self, lane: &Lane, at: &Use) -> Fate {
        let inst = self.index.inst(at.offset);
        if inst.opcode() == op::Phi {
            let path = lane.path.clone();
            let id = inst.result();
            return Fate::Phi(Lane { id, path });
        }
        if inst.opcode() == op::Store && at.word == 2 {
            let variable = self.memory.variable(inst.pointer());
            let access = variable.and_then(|v| Some((v, self.memory.access_at(v, at.offset)?)));
            return match access {
                Some((variable, access)) => {
                    let more = lane.path.iter().filter(|_| access.is_exact);
                    Fate::Local(Part {
                        variable,
                        path: access.path.iter().chain(more).copied().collect(),
                        is_exact: access.is_exact,
                    })
                }
                None => Fate::Effect,
            };
        }
        if is_read_by_others(&inst, at.word) {
            return Fate::Result(SmallVec::new(), SmallVec::new());
        }
        if !self.is_pure(&inst) {
            return Fate::Effect;
        }
        let paths = results(self.index, &inst, at.word, &lane.path);
        let lanes = paths.into_iter().map(|path| Lane {
            id: inst.result(),
            path,
        });
        Fate::Result(lanes.collect(), self.conditions(lane, &inst, at.word))
    }

    /// Whether an instruction has no effect but its result.
    fn is_pure(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::ExtInst => {
                let takes_pointers = inst.ids(5).any(|id| {
                    let ty = self.index.type_of(id);
                    self.index.storage_class(ty).is_some()
                });
                self.glsl.contains(&inst.ext_inst_set()) && !takes_pointers
            }
            op::SampledImage..=op::ImageRead
            | op::Image..=op::ImageQuerySamples
            | op::DPdx..=op::FwidthCoarse
            | op::PtrAccessChain
            | op::FreezeKHR => true,
            opcode => op_sets::writes_no_memory(opcode) || op_sets::base_pointer(inst).is_some(),
        }
    }

    /// The conditions without which the result of an instruction does not depend on its operand in word `word`.
    fn conditions(&self, lane: &Lane, inst: &Inst<'_>, word: usize) -> SmallVec<[Condition; 2]> {
        let component = lane.path.first().copied();
        let one = |value, component, test| -> SmallVec<[Condition; 2]> {
            if self.depends_on(value, lane.id) {
                return SmallVec::new();
            }
            std::iter::once(Condition { value, component, test }).collect()
        };
        match (inst.opcode(), word) {
            (op::Select, 4 | 5) => {
                let condition = inst.id(3);
                let is_vector = self.index.opcode(self.index.type_of(condition)) == op::TypeVector;
                let test = if word == 4 { Test::True } else { Test::False };
                one(condition, component.filter(|_| is_vector), test)
            }
            (op::LogicalAnd | op::LogicalOr, _) => {
                let is_and = inst.opcode() == op::LogicalAnd;
                let test = if is_and { Test::True } else { Test::False };
                let parts = self.parts(inst.opcode(), inst.id(7 - word));
                let parts = parts.into_iter().filter(|part| !self.depends_on(*part, lane.id));
                parts.map(|value| Condition { value, component, test }).collect()
            }
            // All or any of what a vector is made of.
            (op::Any | op::All, _) => {
                let test = if inst.opcode() == op::All {
                    Test::True
                } else {
                    Test::False
                };
                let construct = self
                    .index
                    .def(inst.id(3))
                    .filter(|inst| inst.opcode() == op::CompositeConstruct);
                let parts = construct.into_iter().flat_map(|inst| inst.ids(3));
                let is_scalar = |part: &Id| self.index.opcode(self.index.type_of(*part)) == op::TypeBool;
                let others = parts.filter(|part| is_scalar(part) && !self.depends_on(*part, lane.id));
                let component = None;
                others.map(|value| Condition { value, component, test }).collect()
            }
            (op::IMul | op::BitwiseAnd, _) => {
                let other = inst.id(7 - word);
                match self.index.def(other).map_or(0, |def| def.opcode()) {
                    op::Constant | op::ConstantComposite => SmallVec::new(),
                    _ => one(other, component, Test::NonZero),
                }
            }
            // `x * (1 - a) + y * a`.
            (op::ExtInst, 6) if inst.ext_inst() == glsl::FMix => one(inst.id(7), component, Test::NonZero),
            (op::Dot, _) if component.is_some() => one(inst.id(7 - word), component, Test::NonZero),
            (op::FMul, _) | (op::VectorTimesScalar, 3) => {
                let other = inst.id(7 - word);
                let is_vector = self.index.opcode(self.index.type_of(other)) == op::TypeVector;
                match self.index.def(other).map_or(0, |def| def.opcode()) {
                    op::Constant | op::ConstantComposite => SmallVec::new(),
                    _ => one(other, component.filter(|_| is_vector), Test::NonZero),
                }
            }
            _ => SmallVec::new(),
        }
    }

    /// The operands of nested instructions of one opcode.
    fn parts(&self, opcode: u16, value: Id) -> SmallVec<[Id; 4]> {
        let (mut parts, mut worklist) = (SmallVec::new(), vec![value]);
        while let Some(id) = worklist.pop() {
            match self.index.def(id).filter(|inst| inst.opcode() == opcode) {
                Some(inst) if parts.len() + worklist.len() < 4 => worklist.extend(inst.ids(3)),
                _ => parts.push(id),
            }
        }
        parts
    }

    /// Whether a value may depend on another one.
    pub(super) fn depends_on(&self, value: Id, other: Id) -> bool {
        let after = self.index.def(other).map_or(0, |inst| inst.offset);
        let (mut seen, mut worklist) = (vec![value], vec![value]);
        while let Some(id) = worklist.pop() {
            if id == other || seen.len() > MAX_SEARCHED {
                return true;
            }
            // What is defined before the other value cannot depend on it, except through a phi.
            let Some(inst) = self.index.def(id) else { continue };
            if inst.offset < after && inst.opcode() != op::Phi {
                continue;
            }
            operands::visit_ids(&inst, 1, |word| {
                let operand = inst.id(word);
                let is_local = self
                    .index
                    .def(operand)
                    .is_some_and(|def| def.offset >= self.function.offset);
                if is_local && self.index.opcode(operand) != op::Label && !seen.contains(&operand) {
                    seen.push(operand);
                    worklist.push(operand);
                }
            });
        }
        false
    }
}
