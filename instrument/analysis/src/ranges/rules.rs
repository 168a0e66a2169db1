//! The rules by which ranges of values are computed from others.

use super::glsl_operations::computed_glsl;
use super::interval::Range;
use super::local_size::LocalSize;
use super::operations::computed;
use super::parameters::Parameters;
use super::unpacked::unpacked;
use super::value_numbers::{NumberedPart, ValueNumbers};
use super::widths::integer_bits;
use crate::view::path::{Path, type_at};
use crate::view::{FunctionView, ObjectClass, Origin};
use smallvec::SmallVec;
use vkabort_options::Options;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::index::typed::{BlockIndex, DefIndex, NumberIndex};
use vkabort_spirv::op::{built_in, decoration};
use vkabort_spirv::{Id, Inst, op};

/// Inputs that all queries of one function share.
pub(super) struct Solver<'s, 'a, 'w> {
    pub(super) function: &'s FunctionView<'a, 'w>,
    pub(super) options: &'s Options,
    pub(super) local_size: &'s LocalSize,
    pub(super) parameters: &'s Parameters,
    /// The imported sets `GLSL.std.450`.
    pub(super) glsl: &'s [Id],
}

/// An operand of a number, and the block in which it is known when the number is computed.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) number: NumberIndex,
    pub(super) block: BlockIndex,
    /// Of a phi: the block that the edge from `block` leads to.
    pub(super) to: Option<BlockIndex>,
}

/// How a number is computed.
pub(super) enum Rule {
    /// It is in this range, whatever else.
    Fixed(Range),
    /// It is one of the operands.
    Join(Operands),
    /// By an operation with one result.
    Operation {
        opcode: u16,
        /// The instruction of `GLSL.std.450`.
        extended: Option<u32>,
        operands: Operands,
    },
}

pub(super) type Operands = SmallVec<[Operand; 3]>;

impl Rule {
    pub(super) fn operands(&self) -> &[Operand] {
        match self {
            Self::Fixed(_) => &[],
            Self::Join(operands) | Self::Operation { operands, .. } => operands,
        }
    }
}

impl Solver<'_, '_, '_> {
    /// Width of a number. `None` for other values than integers.
    pub(super) fn bits(&self, part: &NumberedPart) -> Option<u32> {
        integer_bits(self.function.index, self.type_of(part)?)
    }

    /// The type of a number. `None` if a composite of its type has no such part.
    fn type_of(&self, part: &NumberedPart) -> Option<Id> {
        let index = self.function.index;
        let ty = match part {
            NumberedPart::Value(id, path) => {
                let inst = index.def(*id)?;
                let ty = match inst.opcode() {
                    op::Variable => index.def(inst.result_type())?.pointee(),
                    _ => inst.result_type(),
                };
                type_at(index, ty, path)
            }
            NumberedPart::Memory(definition, path) => type_at(index, self.function.object(*definition)?.ty, path),
        };
        (ty != Id::NONE).then_some(ty)
    }

    /// How a number is computed.
    pub(super) fn rule(&self, numbers: &mut ValueNumbers, number: NumberIndex, bits: u32) -> Rule {
        let function = self.function;
        let full = Rule::Fixed(Range::full(bits));
        let part = numbers.get(number).filter(|part| self.type_of(part).is_some());
        match part.cloned() {
            None => full,
            Some(NumberedPart::Value(id, path)) => {
                let Some(inst) = function.index.def(id) else {
                    return full;
                };
                self.rule_of(numbers, &inst, &path, bits).unwrap_or(full)
            }
            Some(NumberedPart::Memory(definition, path)) => match function.memory.definitions.get(definition) {
                Some(phi) if phi.origin == Origin::Phi => {
                    let operands = phi.operands.iter().map(|(from, operand)| Operand {
                        number: numbers.number_in_memory(function, *operand, path.clone()),
                        block: *from,
                        to: Some(phi.block),
                    });
                    Rule::Join(operands.collect())
                }
                Some(entry) if entry.origin == Origin::Entry => {
                    self.passed(definition, &path).map_or(full, Rule::Fixed)
                }
                _ => full,
            },
        }
    }

    /// The range of a definition at the start of the function, from the arguments of the callers.
    fn passed(&self, definition: DefIndex, path: &Path) -> Option<Range> {
        let object = self.function.object(definition)?;
        let is_parameter = matches!(object.class, ObjectClass::Parameter(_));
        self.parameters.get(object.pointer, path).filter(|_| is_parameter)
    }

    /// How the part at `path` of the result of an instruction is computed. `None` if nothing is known.
    pub(super) fn rule_of(&self, numbers: &mut ValueNumbers, inst: &Inst<'_>, path: &Path, bits: u32) -> Option<Rule> {
        let function = self.function;
        let index = function.index;
        match inst.opcode() {
            op::Variable => return Some(Rule::Fixed(self.built_in(inst.result(), path, bits)?)),
            op::Constant | op::SpecConstant | op::SpecConstantOp => {
                return match index.value(inst.result(), &self.options.specialization)? {
                    Length::Fixed(value) => Some(Rule::Fixed(Range::only(value, bits))),
                    Length::Specialised { .. } => None,
                };
            }
            op::ConstantNull => return Some(Rule::Fixed(Range::only(0, bits))),
            op::FunctionParameter => return Some(Rule::Fixed(self.parameters.get(inst.result(), path)?)),
            op::Bitcast => {
                let number = path.first().copied();
                let part = number.and_then(|number| unpacked(index, self.options, inst, number, bits));
                if let Some(range) = part {
                    return Some(Rule::Fixed(range));
                }
            }
            _ => {}
        }
        let block = function.block_of(inst.result())?;
        let mut operand = |id: Id, block: BlockIndex, to: Option<BlockIndex>| {
            let number = numbers.number(function, id, path.clone());
            let is_integer = self.bits(numbers.get(number)?).is_some();
            is_integer.then_some(Operand { number, block, to })
        };
        let words = match inst.opcode() {
            op::Phi => {
                let pairs = inst.phi_pairs().filter_map(|(value, label)| {
                    let from = index.block_of_label(function.function, label)?;
                    function.graph.is_reachable(from).then_some((value, from))
                });
                let operands = pairs.map(|(value, from)| operand(value, from, Some(block)));
                return Some(Rule::Join(operands.collect::<Option<_>>()?));
            }
            op::Select => {
                let operands = [inst.id(4), inst.id(5)].map(|id| operand(id, block, None));
                return Some(Rule::Join(operands.into_iter().collect::<Option<_>>()?));
            }
            op::ExtInst if self.glsl.contains(&inst.ext_inst_set()) => 5,
            op::ExtInst => return None,
            _ => 3,
        };
        if !is_by_component(inst.opcode()) || path.len() > 1 {
            return None;
        }
        let operands = inst.ids(words).map(|id| operand(id, block, None));
        Some(Rule::Operation {
            opcode: inst.opcode(),
            extended: (words == 5).then(|| inst.ext_inst()),
            operands: operands.collect::<Option<_>>()?,
        })
    }

    /// The bound of a built-in.
    pub(super) fn built_in(&self, variable: Id, path: &Path, bits: u32) -> Option<Range> {
        let kind = self.function.index.decoration(variable, decoration::BuiltIn)?;
        let size = &self.local_size.greatest;
        let product = || size.iter().try_fold(1u32, |all, part| all.checked_mul((*part)?));
        let count = match (kind, path.as_slice()) {
            // A subgroup has an invocation.
            (built_in::LocalInvocationIndex | built_in::SubgroupId, []) => product()?,
            (built_in::LocalInvocationId, [component]) => (*size.get(*component as usize)?)?,
            (built_in::InvocationId, []) => self.local_size.invocations?,
            // Vulkan, VkPhysicalDeviceSubgroupProperties: at most 128 invocations.
            (built_in::SubgroupLocalInvocationId, []) => 128,
            _ => return None,
        };
        Some(Range::only(0, bits).join(Range::only(count.checked_sub(1)?.into(), bits)))
    }
}

/// The range of the result of an instruction, or of one of `GLSL.std.450`.
pub(super) fn result(opcode: u16, extended: Option<u32>, operands: &[Range], bits: u32) -> Option<Range> {
    match extended {
        Some(number) => computed_glsl(number, operands),
        None => computed(opcode, operands, bits),
    }
}

/// Whether each component of the result depends on the same component of the operands.
pub(super) fn is_by_component(opcode: u16) -> bool {
    matches!(
        opcode,
        op::ExtInst
            | op::UConvert
            | op::SConvert
            | op::Bitcast
            | op::SNegate
            | op::IAdd
            | op::ISub
            | op::IMul
            | op::UDiv..=op::SDiv
            | op::UMod..=op::SMod
            | op::ShiftRightLogical..=op::BitCount
    )
}
