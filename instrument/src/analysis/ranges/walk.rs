//! Ranges of results, from the instructions that compute them.

use super::Question;
use super::glsl_operations::computed_glsl;
use super::interval::Range;
use super::operations::computed;
use crate::analysis::index::constant::Length;
use crate::spv::op::{built_in, decoration};
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;

impl Question<'_, '_, '_> {
    /// The range of a result. `None` if nothing is known.
    pub(super) fn computed(&mut self, inst: &Inst<'_>, component: Option<u32>, bits: u32, depth: u32) -> Option<Range> {
        let index = self.ranges.index;
        let from = self.ranges.bits(inst.id(3));
        let mut operand = |word: usize| self.range(inst.id(word), component, depth + 1);
        match inst.opcode() {
            op::Constant | op::SpecConstant | op::SpecConstantOp => {
                match index.value(inst.result(), self.ranges.options)? {
                    Length::Fixed(value) => Some(Range::only(value, bits)),
                    Length::Specialised { .. } => None,
                }
            }
            op::ConstantNull => Some(Range::only(0, bits)),
            op::ConstantComposite | op::CompositeConstruct => {
                let parts = inst.ids(3).len() as u32;
                let vector = index.def(inst.result_type())?;
                let is_scalars = vector.opcode() == op::TypeVector && vector.component_count() == parts;
                let part = inst.ids(3).nth(component? as usize).filter(|_| is_scalars)?;
                Some(self.range(part, None, depth + 1))
            }
            op::CompositeExtract => {
                let &[component] = inst.from(4) else { return None };
                let vector = inst.id(3);
                self.built_in(vector, component)
                    .or_else(|| from.map(|_| self.range(vector, Some(component), depth + 1)))
            }
            op::CompositeInsert => match (inst.from(5), component) {
                ([inserted], Some(component)) if *inserted == component => {
                    Some(self.range(inst.id(3), None, depth + 1))
                }
                ([_], Some(_)) => Some(operand(4)),
                _ => None,
            },
            op::Phi => self.of_phi(inst, component, bits, depth),
            op::ExtInst => {
                let operands = self.operands(inst, 5, component, depth)?;
                computed_glsl(inst.ext_inst(), &operands)
            }
            op::Load => self
                .of_built_in_load(inst)
                .or_else(|| self.of_variable(inst, bits, depth)),
            op::Select => computed(op::Select, &self.operands(inst, 4, component, depth)?, bits),
            opcode => computed(opcode, &self.operands(inst, 3, component, depth)?, bits),
        }
    }

    /// The ranges of the operands from a word on: up to 4 integers.
    fn operands(
        &mut self,
        inst: &Inst<'_>,
        from: usize,
        component: Option<u32>,
        depth: u32,
    ) -> Option<SmallVec<[Range; 4]>> {
        let operands: SmallVec<[Id; 4]> = inst.ids(from).collect();
        let are_integers = operands.len() <= 4 && operands.iter().all(|id| self.ranges.bits(*id).is_some());
        are_integers.then(|| {
            let ranges = operands.iter().map(|id| self.range(*id, component, depth + 1));
            ranges.collect()
        })
    }

    /// A load of a built-in with a bound.
    fn of_built_in_load(&self, load: &Inst<'_>) -> Option<Range> {
        let index = self.ranges.index;
        let pointer = index.def(load.pointer())?;
        match pointer.opcode() {
            op::Variable => self.bound(pointer.result(), None),
            op::AccessChain | op::InBoundsAccessChain if pointer.words.len() == 5 => {
                let component = index.def(pointer.id(4)).filter(|inst| inst.opcode() == op::Constant)?;
                self.bound(pointer.id(3), u32::try_from(index.literal(&component)?).ok())
            }
            _ => None,
        }
    }

    /// A component of a loaded built-in.
    fn built_in(&self, vector: Id, component: u32) -> Option<Range> {
        let load = self.ranges.index.def(vector).filter(|inst| inst.opcode() == op::Load)?;
        self.bound(load.pointer(), Some(component))
    }

    fn bound(&self, variable: Id, component: Option<u32>) -> Option<Range> {
        let size = self.ranges.local_size?;
        let kind = self.ranges.index.decoration(variable, decoration::BuiltIn)?;
        let count = match (kind, component) {
            (built_in::LocalInvocationIndex, None) => size.iter().try_fold(1u32, |all, part| all.checked_mul(*part))?,
            (built_in::LocalInvocationId, Some(component)) => *size.get(component as usize)?,
            _ => return None,
        };
        Some(Range::unsigned(0, u64::from(count.checked_sub(1)?), 32))
    }
}
