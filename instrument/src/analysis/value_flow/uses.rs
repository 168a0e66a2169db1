//! Uses of the values of a function, and what becomes of a value there.

use super::lane::{Lane, Path, glsl, results};
use super::{Condition, Test, ValueFlow};
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::spv::{Id, Inst, op, op_sets, operands};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

/// Limit on instructions that are searched for a value that an operand depends on.
const MAX_SEARCHED: usize = 64;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// The block of the instruction; for phis the predecessor of which the value comes.
    pub(super) block: BlockIndex,
    /// Word offset of the instruction.
    pub(super) offset: usize,
    /// Word of the operand.
    pub(super) word: usize,
}

/// The uses of the values of a function, in module order.
#[derive(Debug, Default)]
pub(super) struct Uses {
    uses: HashMap<Id, Vec<Use>>,
}

impl Uses {
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut uses = Self::default();
        for (number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                uses.read(index, function, number, &inst);
            }
        }
        uses
    }

    fn read(&mut self, index: &Index<'_>, function: &Function, block: BlockIndex, inst: &Inst<'_>) {
        if index.is_debug_inst(inst) {
            return;
        }
        let offset = inst.offset;
        let mut add = |block, word| {
            let id = inst.id(word);
            if index.def(id).is_some_and(|def| def.offset >= function.offset) {
                self.uses.entry(id).or_default().push(Use { block, offset, word });
            }
        };
        if inst.opcode() == op::Phi {
            for (pair, (_, predecessor)) in inst.phi_pairs().enumerate() {
                if let Some(block) = index.block_of_label(function, predecessor) {
                    add(block, 3 + 2 * pair);
                }
            }
        } else if !operands::visit_ids(inst, index.selector_words(inst), |word| add(block, word)) {
            (1..inst.words.len()).for_each(|word| add(block, word));
        }
    }

    pub(super) fn of(&self, value: Id) -> SmallVec<[Use; 4]> {
        self.uses
            .get(&value)
            .map(|uses| uses.as_slice().into())
            .unwrap_or_default()
    }
}

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
                let made = self
                    .index
                    .def(inst.id(3))
                    .filter(|made| made.opcode() == op::CompositeConstruct);
                let parts = made.into_iter().flat_map(|made| made.ids(3));
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
            (op::ExtInst, 6) if inst.ext_inst() == glsl::F_MIX => one(inst.id(7), component, Test::NonZero),
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
