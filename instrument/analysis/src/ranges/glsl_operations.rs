//! Ranges of the results of `GLSL.std.450` instructions on integers.

use super::interval::{Piece, Range, by_pieces, mask, signed};
use super::operations::subtracted;
use vkabort_spirv::op::glsl;

/// The range of the result of an instruction with these operands. `None` if nothing is known: another instruction, or operands of
/// several widths. A clamp whose bounds are in the wrong order is undefined, and its range that of the other operands.
pub(crate) fn computed_glsl(number: u32, operands: &[Range]) -> Option<Range> {
    let bits = operands.first()?.bits();
    if operands.iter().any(|operand| operand.bits() != bits) {
        return None;
    }
    match (number, operands) {
        (glsl::UMin | glsl::UMax | glsl::SMin | glsl::SMax, &[left, right]) => extreme(number, left, right),
        (glsl::UClamp, &[value, low, high]) => extreme(glsl::UMin, extreme(glsl::UMax, value, low)?, high),
        (glsl::SClamp, &[value, low, high]) => extreme(glsl::SMin, extreme(glsl::SMax, value, low)?, high),
        (glsl::SAbs, &[value]) => absolute(value),
        (glsl::SSign, &[value]) => of_numbers(value, |piece| {
            let sign = |value: u64| signed(value, bits).signum();
            (sign(piece.first), sign(piece.last))
        }),
        (glsl::FindILsb, &[value]) => of_numbers(value, lowest_bits),
        (glsl::FindUMsb, &[value]) => of_numbers(value, highest_bits),
        (glsl::FindSMsb, &[value]) => of_numbers(value, |piece| match signed(piece.first, bits) < 0 {
            // The highest bit that is not the sign.
            true => highest_bits(Piece {
                first: !piece.last & mask(bits),
                last: !piece.first & mask(bits),
            }),
            false => highest_bits(piece),
        }),
        _ => None,
    }
}

/// The lesser or the greater of two values.
fn extreme(number: u32, left: Range, right: Range) -> Option<Range> {
    let bits = left.bits();
    by_pieces(left, right, |one, other| {
        let sign = |value: u64| signed(value, bits);
        Some(match number {
            glsl::UMin => Range::unsigned(one.first.min(other.first), one.last.min(other.last), bits),
            glsl::UMax => Range::unsigned(one.first.max(other.first), one.last.max(other.last), bits),
            glsl::SMin => {
                let (first, last) = (
                    sign(one.first).min(sign(other.first)),
                    sign(one.last).min(sign(other.last)),
                );
                Range::signed(first, last, bits)
            }
            _ => {
                let (first, last) = (
                    sign(one.first).max(sign(other.first)),
                    sign(one.last).max(sign(other.last)),
                );
                Range::signed(first, last, bits)
            }
        })
    })
}

/// The absolute value, which is the least value for the least value.
fn absolute(value: Range) -> Option<Range> {
    let bits = value.bits();
    let pieces = value.pieces().filter_map(|piece| {
        let range = Range::unsigned(piece.first, piece.last, bits);
        match signed(piece.first, bits) < 0 {
            true => subtracted(Range::only(0, bits), range),
            false => Some(range),
        }
    });
    pieces.reduce(Range::join)
}

/// The range of the least and the greatest number that `numbers` gives for each piece.
fn of_numbers(value: Range, numbers: impl Fn(Piece) -> (i64, i64)) -> Option<Range> {
    let bits = value.bits();
    let ranges = value.pieces().map(|piece| {
        let (first, last) = numbers(piece);
        Range::signed(first, last, bits)
    });
    ranges.reduce(Range::join)
}

/// The number of the highest set bit: -1 for 0.
fn highest_bits(piece: Piece) -> (i64, i64) {
    let highest = |value: u64| 63 - i64::from(value.leading_zeros());
    (highest(piece.first), highest(piece.last))
}

/// The number of the lowest set bit: -1 for 0.
fn lowest_bits(piece: Piece) -> (i64, i64) {
    let lowest = |value: u64| match value {
        0 => -1,
        _ => i64::from(value.trailing_zeros()),
    };
    if piece.first == piece.last {
        return (lowest(piece.first), lowest(piece.first));
    }
    // The value with the most trailing zeros: the last one without its lowest bits, as long as it is in the piece.
    let without = |value: &u64| Some(value & value.wrapping_sub(1)).filter(|less| *less >= piece.first.max(1));
    let most = std::iter::successors(Some(piece.last), without).last();
    let least = if piece.first == 0 { -1 } else { 0 };
    (least, lowest(most.unwrap_or(piece.last)))
}
