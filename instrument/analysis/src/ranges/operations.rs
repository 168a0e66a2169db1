//! Ranges of results from those of operands.
//!
//! Additions, subtractions and multiplications wrap. A quotient or remainder by 0, and the least value by -1, are undefined
//! (SPIR-V specification, Arithmetic Instructions): the range has all results that are defined, and only these, or any values if
//! none is. A shift by the width or more, and a bit field beyond the value, may have any value as soon as one of the operands
//! makes them undefined, since implementations agree less on these.

use super::bit_operations as bit;
use super::interval::{Piece, Range, by_pieces, mask, signed};
use vkabort_spirv::op;

/// The range of the result, of `bits` bits, of an instruction on integers with these operands: for `OpSelect`, the two values.
/// `None` if nothing is known: another opcode, or operands of widths that the instruction does not have.
pub(crate) fn computed(opcode: u16, operands: &[Range], bits: u32) -> Option<Range> {
    match *operands {
        [value] => unary(opcode, value, bits),
        [value, amount] if matches!(opcode, op::ShiftRightLogical..=op::ShiftLeftLogical) && value.bits() == bits => {
            bit::shifted(opcode, value, amount)
        }
        [left, right] if left.bits() == bits && right.bits() == bits => binary(opcode, left, right),
        [base, offset, count] if base.bits() == bits => bit::field(opcode, base, offset, count),
        [base, insert, offset, count]
            if opcode == op::BitFieldInsert && base.bits() == bits && insert.bits() == bits =>
        {
            bit::inserted(base, insert, offset, count)
        }
        _ => None,
    }
}

fn unary(opcode: u16, value: Range, bits: u32) -> Option<Range> {
    let is_same = value.bits() == bits;
    match opcode {
        op::Bitcast | op::CopyObject | op::UConvert | op::SConvert if is_same => Some(value),
        op::UConvert | op::SConvert if bits < value.bits() => truncated(value, bits),
        op::UConvert => Some(Range::unsigned(value.min(), value.max(), bits)),
        op::SConvert => extended(value, bits),
        op::BitCount => bit::count(value, bits),
        op::SNegate if is_same => subtracted(Range::only(0, bits), value),
        op::Not if is_same => bit::inverted(value),
        op::BitReverse if is_same => bit::reversed(value),
        _ => None,
    }
}

fn binary(opcode: u16, left: Range, right: Range) -> Option<Range> {
    match opcode {
        op::IAdd => added(left, right),
        op::ISub => subtracted(left, right),
        op::IMul => multiplied(left, right),
        op::UDiv => divided(left, right),
        op::UMod => by_pieces(left, right, |value, divisor| {
            let (first, last) = remainder(value, nonzero(divisor)?);
            Some(Range::unsigned(first, last, left.bits()))
        }),
        op::SDiv => signed_divided(left, right),
        op::SRem => by_pieces(left, right, |value, divisor| {
            signed_remainder(value, divisor, left.bits())
        }),
        op::SMod => by_pieces(left, right, |value, divisor| {
            signed_modulus(value, divisor, left.bits())
        }),
        op::BitwiseAnd | op::BitwiseOr | op::BitwiseXor => bit::combined(opcode, left, right),
        op::Select => Some(left.join(right)),
        _ => None,
    }
}

/// The number of values of a piece but one.
fn more(piece: Piece) -> u128 {
    u128::from(piece.last - piece.first)
}

fn added(left: Range, right: Range) -> Option<Range> {
    by_pieces(left, right, |one, other| {
        let first = one.first.wrapping_add(other.first);
        Some(Range::wrapping(first, more(one) + more(other), left.bits()))
    })
}

pub(super) fn subtracted(left: Range, right: Range) -> Option<Range> {
    by_pieces(left, right, |one, other| {
        let first = one.first.wrapping_sub(other.last);
        Some(Range::wrapping(first, more(one) + more(other), left.bits()))
    })
}

/// The products of signed and of unsigned values have the same low bits, and the range has those of both.
fn multiplied(left: Range, right: Range) -> Option<Range> {
    let bits = left.bits();
    by_pieces(left, right, |one, other| {
        let least = u128::from(one.first) * u128::from(other.first);
        let greatest = u128::from(one.last) * u128::from(other.last);
        let unsigned = Range::wrapping(least as u64, greatest - least, bits);
        let ends = corners(one, other, bits).map(|(one, other)| one * other);
        let (first, last) = (ends.iter().min()?, ends.iter().max()?);
        let signed = Range::wrapping(*first as u64, first.abs_diff(*last), bits);
        unsigned.meet(signed)
    })
}

/// The ends of two pieces as signed values.
fn corners(one: Piece, other: Piece, bits: u32) -> [(i128, i128); 4] {
    let ends = |piece: Piece| [piece.first, piece.last].map(|end| i128::from(signed(end, bits)));
    let ([a, b], [c, d]) = (ends(one), ends(other));
    [(a, c), (a, d), (b, c), (b, d)]
}

/// A piece without 0.
fn nonzero(piece: Piece) -> Option<Piece> {
    let first = piece.first.max(1);
    (first <= piece.last).then_some(Piece { first, ..piece })
}

fn divided(left: Range, right: Range) -> Option<Range> {
    by_pieces(left, right, |value, divisor| {
        let divisor = nonzero(divisor)?;
        let (first, last) = (value.first / divisor.last, value.last / divisor.first);
        Some(Range::unsigned(first, last, left.bits()))
    })
}

fn signed_divided(left: Range, right: Range) -> Option<Range> {
    let full = Range::full(left.bits());
    by_pieces(left, right, |value, divisor| {
        let quotients = corners(value, nonzero(divisor)?, left.bits()).map(|(value, divisor)| value / divisor);
        let (first, last) = (quotients.iter().min()?, quotients.iter().max()?);
        // Only the quotient of the least value by -1 is greater.
        let last = i64::try_from(*last).map_or(full.smax(), |last| last.min(full.smax()));
        let first = i64::try_from(*first).ok().filter(|first| *first <= last)?;
        Some(Range::signed(first, last, left.bits()))
    })
}

/// The least and the greatest remainder. The divisor is not 0.
fn remainder(value: Piece, divisor: Piece) -> (u64, u64) {
    let divide = |value: u64| value.checked_div(divisor.first).unwrap_or(0);
    if value.last < divisor.first {
        return (value.first, value.last);
    }
    if divisor.first == divisor.last && divide(value.first) == divide(value.last) {
        let rest = |value: u64| value - divide(value) * divisor.first;
        return (rest(value.first), rest(value.last));
    }
    (0, value.last.min(divisor.last - 1))
}

/// The absolute values of a piece, and whether it is negative. That of the least value of 64 bits is 2^63.
fn magnitude(piece: Piece, bits: u32) -> (Piece, bool) {
    let first = signed(piece.first, bits);
    let (first, last) = (first.unsigned_abs(), signed(piece.last, bits).unsigned_abs());
    match signed(piece.first, bits) < 0 {
        true => (
            Piece {
                first: last,
                last: first,
            },
            true,
        ),
        false => (Piece { first, last }, false),
    }
}

/// The range of `first` to `last`, or of their negations.
fn with_sign(first: u64, last: u64, is_negative: bool, bits: u32) -> Range {
    match is_negative {
        true => Range::wrapping(last.wrapping_neg(), u128::from(last - first), bits),
        false => Range::unsigned(first, last, bits),
    }
}

/// A remainder with the sign of the value.
fn signed_remainder(value: Piece, divisor: Piece, bits: u32) -> Option<Range> {
    let (divisor, _) = magnitude(nonzero(divisor)?, bits);
    let (value, is_negative) = magnitude(value, bits);
    let (first, last) = remainder(value, divisor);
    Some(with_sign(first, last, is_negative, bits))
}

/// A remainder with the sign of the divisor.
fn signed_modulus(value: Piece, divisor: Piece, bits: u32) -> Option<Range> {
    let (divisor, is_negative) = magnitude(nonzero(divisor)?, bits);
    let (value, is_value_negative) = magnitude(value, bits);
    let (first, last) = remainder(value, divisor);
    if is_negative == is_value_negative {
        return Some(with_sign(first, last, is_negative, bits));
    }
    // The divisor is added to a remainder that is not 0.
    let nearest = match divisor.first.checked_sub(last) {
        Some(least) if first > 0 => least,
        _ => 0,
    };
    let farthest = divisor.last - first.max(1);
    Some(with_sign(nearest.min(farthest), farthest, is_negative, bits))
}

/// The low bits of the values.
fn truncated(value: Range, bits: u32) -> Option<Range> {
    let pieces = value.pieces();
    let low = pieces.map(|piece| Range::wrapping(piece.first & mask(bits), more(piece), bits));
    low.reduce(Range::join)
}

/// The values with their sign in more bits.
fn extended(value: Range, bits: u32) -> Option<Range> {
    let sign = |end: u64| signed(end, value.bits());
    let pieces = value.pieces();
    let wide = pieces.map(|piece| Range::signed(sign(piece.first), sign(piece.last), bits));
    wide.reduce(Range::join)
}
