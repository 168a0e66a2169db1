//! Ranges of results from those of operands.

use super::{Question, Range};
use crate::analysis::index::constant::Length;
use crate::spv::op::{built_in, decoration};
use crate::spv::{Id, Inst, op};

/// Instructions of `GLSL.std.450`.
mod glsl {
    pub(super) const U_MIN: u32 = 38;
    pub(super) const S_MIN: u32 = 39;
    pub(super) const U_MAX: u32 = 41;
    pub(super) const S_MAX: u32 = 42;
    pub(super) const U_CLAMP: u32 = 44;
    pub(super) const S_CLAMP: u32 = 45;
}

impl Question<'_, '_, '_> {
    /// The range of a result. `None` if nothing is known.
    pub(super) fn computed(&mut self, inst: &Inst<'_>, component: Option<u32>, bits: u32, depth: u32) -> Option<Range> {
        let index = self.ranges.index;
        let full = Range::full(bits);
        let positive = full.max >> 1;
        let from = self.ranges.bits(inst.id(3));
        let mut operand = |word: usize| self.range(inst.id(word), component, depth + 1);
        match inst.opcode() {
            op::Constant | op::SpecConstant | op::SpecConstantOp => {
                match index.value(inst.result(), self.ranges.options)? {
                    Length::Fixed(value) => Some(Range::only(value)),
                    Length::Specialised { .. } => None,
                }
            }
            op::ConstantNull => Some(Range::only(0)),
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
            op::CopyObject => Some(operand(3)),
            op::BitwiseAnd => {
                let max = operand(3).max.min(operand(4).max);
                Some(Range { min: 0, max })
            }
            op::BitwiseOr => {
                let (left, right) = (operand(3), operand(4));
                let leading = (left.max | right.max).leading_zeros();
                Some(Range {
                    min: left.min.max(right.min),
                    max: u64::MAX.checked_shr(leading).unwrap_or(0),
                })
            }
            op::UMod => {
                let (value, divisor) = (operand(3), operand(4));
                let last = divisor.max.saturating_sub(1);
                Some(Range {
                    min: 0,
                    max: value.max.min(last),
                })
            }
            op::UDiv => {
                let (value, divisor) = (operand(3), operand(4));
                Some(Range {
                    min: value.min / divisor.max.max(1),
                    max: value.max / divisor.min.max(1),
                })
            }
            // Like their unsigned forms if no operand is negative.
            op::SDiv | op::SRem | op::SMod => {
                let (value, divisor) = (operand(3), operand(4));
                let is_positive = value.max <= positive && divisor.max <= positive && divisor.min > 0;
                let max = match inst.opcode() {
                    op::SDiv => value.max / divisor.min.max(1),
                    _ => value.max.min(divisor.max.saturating_sub(1)),
                };
                is_positive.then_some(Range { min: 0, max })
            }
            op::ShiftRightLogical => {
                let (value, amount) = (operand(3), operand(4));
                let shifted = |amount: u64| u32::try_from(amount).ok().and_then(|a| value.max.checked_shr(a));
                Some(Range {
                    min: 0,
                    max: shifted(amount.min).unwrap_or(0),
                })
            }
            op::ShiftLeftLogical => {
                let (value, amount) = (operand(3), operand(4));
                let amount = u32::try_from(amount.max).ok().filter(|amount| *amount < bits)?;
                let max = value.max.checked_mul(1u64.checked_shl(amount)?)?;
                (max <= full.max).then_some(Range { min: value.min, max })
            }
            op::IAdd => {
                let (left, right) = (operand(3), operand(4));
                let max = left.max.checked_add(right.max)?;
                let min = left.min.checked_add(right.min)?;
                (max <= full.max).then_some(Range { min, max })
            }
            op::ISub => {
                let (left, right) = (operand(3), operand(4));
                (left.min >= right.max).then(|| Range {
                    min: left.min - right.max,
                    max: left.max - right.min,
                })
            }
            op::IMul => {
                let (left, right) = (operand(3), operand(4));
                let max = left.max.checked_mul(right.max)?;
                let min = left.min.checked_mul(right.min)?;
                (max <= full.max).then_some(Range { min, max })
            }
            op::UConvert => Some(operand(3)),
            op::SConvert | op::Bitcast => {
                let (from, value) = (from?, operand(3));
                let is_same = inst.opcode() == op::Bitcast && from == bits;
                (is_same || value.max <= Range::full(from).max >> 1).then_some(value)
            }
            op::Select => Some(operand(4).or(operand(5))),
            op::BitCount => Some(Range {
                min: 0,
                max: from?.into(),
            }),
            op::Phi => self.of_phi(inst, component, bits, depth),
            op::ExtInst => match inst.ext_inst() {
                glsl::U_MIN => {
                    let (left, right) = (operand(5), operand(6));
                    Some(Range {
                        min: left.min.min(right.min),
                        max: left.max.min(right.max),
                    })
                }
                glsl::U_MAX => {
                    let (left, right) = (operand(5), operand(6));
                    Some(Range {
                        min: left.min.max(right.min),
                        max: left.max.max(right.max),
                    })
                }
                glsl::S_MIN => {
                    let (left, right) = (operand(5), operand(6));
                    (left.max <= positive && right.max <= positive).then(|| Range {
                        min: left.min.min(right.min),
                        max: left.max.min(right.max),
                    })
                }
                glsl::S_MAX => {
                    let (left, right) = (operand(5), operand(6));
                    // The greater of two values is not negative if one of them is not.
                    let at_least = [left, right].into_iter().filter(|range| range.max <= positive);
                    let min = at_least.clone().map(|range| range.min).max()?;
                    let max = match at_least.count() {
                        2 => left.max.max(right.max),
                        _ => positive,
                    };
                    Some(Range { min, max })
                }
                glsl::U_CLAMP => {
                    let (low, high) = (operand(6), operand(7));
                    Some(Range {
                        min: low.min.min(high.min),
                        max: high.max,
                    })
                }
                glsl::S_CLAMP => {
                    let (low, high) = (operand(6), operand(7));
                    (low.max <= positive && high.max <= positive).then(|| Range {
                        min: low.min.min(high.min),
                        max: high.max,
                    })
                }
                _ => None,
            },
            op::Load => self
                .of_built_in_load(inst)
                .or_else(|| self.of_variable(inst, bits, depth)),
            _ => None,
        }
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
        Some(Range {
            min: 0,
            max: u64::from(count.checked_sub(1)?),
        })
    }
}
