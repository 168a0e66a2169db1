//! The components of an integer that is bitcast to a vector of smaller ones, as compilers unpack bytes:
//!
//! ```text
//! uvec4 b = unpack8(x & 0x0F0F0F0F)           0 <= b[k] <= 15
//! ```

use super::interval::{Range, mask};
use super::widths::integer_bits;
use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::op;
use vkabort_spirv::{Id, Inst};

/// The range of component `number`, of `bits` bits, of the result of a bitcast. `None` if nothing is known.
pub(super) fn unpacked(index: &Index<'_>, options: &Options, cast: &Inst<'_>, number: u32, bits: u32) -> Option<Range> {
    let from = index.def(cast.id(3))?;
    let is_scalar = index.opcode(from.result_type()) == op::TypeInt;
    let width = integer_bits(index, from.result_type()).filter(|width| is_scalar && *width > bits)?;
    let first = number.checked_mul(bits).filter(|first| *first < width)?;
    let set = possible_bits(index, options, &from, width)? >> first & mask(bits);
    Some(Range::unsigned(0, set, bits))
}

/// The bits that an integer can have set, by the instruction that computes it.
fn possible_bits(index: &Index<'_>, options: &Options, inst: &Inst<'_>, width: u32) -> Option<u64> {
    let constant = |id: Id| match index.value(id, &options.specialization)? {
        Length::Fixed(value) => Some(value),
        Length::Specialised { .. } => None,
    };
    match inst.opcode() {
        op::BitwiseAnd => constant(inst.id(3)).or_else(|| constant(inst.id(4))),
        op::ShiftRightLogical => {
            let by = constant(inst.id(4)).filter(|by| *by < u64::from(width))?;
            Some(mask(width) >> by)
        }
        op::UConvert => Some(mask(integer_bits(index, index.type_of(inst.id(3)))?)),
        _ => None,
    }
}
