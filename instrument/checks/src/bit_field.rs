//! Bit fields that reach beyond the value, a part of the check `shift`.
//!
//! `OpBitFieldInsert`, `OpBitFieldSExtract` and `OpBitFieldUExtract`: "The resulting value is undefined if Count or Offset or their sum is
//! greater than the number of bits in the result" (SPIR-V specification, Bit Instructions). Both are scalars and unsigned, whatever their
//! types say. Only results that have an effect are checked, where they have it, as of shifts.

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::scalars::{Scalar, conversion, find, literal};
use smallvec::{SmallVec, smallvec};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

/// Tells the tests of bit fields from those of shifts.
const KIND: u32 = 1 << 16;

struct BitField<'w> {
    inst: Inst<'w>,
    /// Number of its first bit, and of its bits.
    offset: Id,
    count: Id,
    /// Width of the value.
    bits: u32,
}

/// Plants the check into a function.
pub(super) fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
    let found = find(planter.index, planter.function, |inst| match inst.opcode() {
        op::BitFieldInsert => Some((*inst, 5)),
        op::BitFieldSExtract | op::BitFieldUExtract => Some((*inst, 4)),
        _ => None,
    });
    for (block, (inst, first)) in found {
        let (offset, count) = (inst.id(first), inst.id(first + 1));
        let ranges = facts.ranges();
        let widths = [inst.id(3), offset, count].map(|id| ranges.bits(id));
        // GLSL and HLSL have no others.
        if let [Some(bits), Some(32), Some(32)] = widths {
            let field = BitField {
                inst,
                offset,
                count,
                bits,
            };
            plant_value(planter, facts, block, field);
        }
    }
}

impl<'w> ValueCheck<'w> for BitField<'w> {
    fn check(&self) -> Check {
        Check::Shift
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn kind(&self) -> u32 {
        KIND | self.bits
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        smallvec![self.count, self.offset]
    }

    fn can_fail<'v, 'a>(&self, ranges: &mut Ranges<'v, 'a, 'w>, at: &RangePoint<'v, 'a, 'w>, _: Option<u32>) -> bool {
        let [offset, count] = [self.offset, self.count].map(|id| ranges.range(at, id, None).max());
        offset.saturating_add(count) > u64::from(self.bits)
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id {
        let &[count, offset] = operands else { return Id::NONE };
        let (bool, bits) = (out.bool(), out.constant(self.bits));
        for (constant, other) in [(self.offset, count), (self.count, offset)] {
            if let Some(left) = literal(index, constant).and_then(|value| self.bits.checked_sub(value)) {
                let left = out.constant(left);
                return out.emit(op::UGreaterThan, bool, (other.id, left));
            }
        }
        let is_behind = out.emit(op::UGreaterThan, bool, (offset.id, bits));
        let left = out.calculate(op::ISub, (bits, offset.id));
        let is_longer = out.emit(op::UGreaterThan, bool, (count.id, left));
        out.emit(op::LogicalOr, bool, (is_behind, is_longer))
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::new("bit field of ");
        message.push_text(conversion(names.index, self.count));
        message.push_literal(" bits from bit ");
        message.push_text(conversion(names.index, self.offset));
        message.push_literal(&format!(" on, of a {}-bit value", self.bits));
        message.with_expression(self.expression(names, component))
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let text = format!("bit field beyond a {}-bit value", self.bits);
        Message::literal(&text).with_expression(self.expression(names, component))
    }
}

impl BitField<'_> {
    fn expression(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Option<String> {
        let (name, values): (_, &[usize]) = match self.inst.opcode() {
            op::BitFieldInsert => ("bitfieldInsert", &[3, 4]),
            _ => ("bitfieldExtract", &[3]),
        };
        let values = values
            .iter()
            .map(|word| names.component(self.inst.id(*word), component));
        let numbers = [self.offset, self.count].map(|id| names.component(id, None));
        let operands: Option<Vec<String>> = values.chain(numbers).collect();
        Some(format!("`{name}({})`", operands?.join(", ")))
    }
}
