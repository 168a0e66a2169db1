//! Ranges of the results of bit instructions.

use super::interval::{Piece, Range, by_pieces, mask, signed};
use vkabort_spirv::op;

/// `OpNot`.
pub(super) fn inverted(value: Range) -> Option<Range> {
    let bits = value.bits();
    let pieces = value
        .pieces()
        .map(|piece| Range::unsigned(!piece.last & mask(bits), !piece.first & mask(bits), bits));
    pieces.reduce(Range::join)
}

/// `OpBitwiseAnd`, `OpBitwiseOr` and `OpBitwiseXor`: the exact bounds of each two pieces.
///
/// From Warren, Hacker's Delight, second edition, 4-3, Propagating Bounds through Logical Operations. O(width).
pub(super) fn combined(opcode: u16, left: Range, right: Range) -> Option<Range> {
    let bits = left.bits();
    by_pieces(left, right, |one, other| {
        let invert = |piece: Piece| Piece {
            first: !piece.last & mask(bits),
            last: !piece.first & mask(bits),
        };
        let (min, max) = match opcode {
            op::BitwiseAnd => {
                let (one, other) = (invert(one), invert(other));
                (!greatest_or(one, other), !least_or(one, other))
            }
            op::BitwiseOr => (least_or(one, other), greatest_or(one, other)),
            op::BitwiseXor => (least_xor(one, other), greatest_xor(one, other)),
            _ => return None,
        };
        Some(Range::unsigned(min & mask(bits), max & mask(bits), bits))
    })
}

/// The bits of values up to `most`, from the highest to the lowest.
fn falling_bits(most: u64) -> impl Iterator<Item = u64> {
    (0..64 - most.leading_zeros()).rev().map(|bit| 1 << bit)
}

/// `value` with a bit set and those below it cleared.
fn raised(value: u64, bit: u64) -> u64 {
    (value | bit) & bit.wrapping_neg()
}

/// `value`, in which a bit is set, with the bit cleared and those below it set.
fn lowered(value: u64, bit: u64) -> u64 {
    (value - bit) | (bit - 1)
}

fn least_or(one: Piece, other: Piece) -> u64 {
    for bit in falling_bits(one.last | other.last) {
        let (raise, by) = match (one.first & bit != 0, other.first & bit != 0) {
            (false, true) => (one, other.first),
            (true, false) => (other, one.first),
            _ => continue,
        };
        let candidate = raised(raise.first, bit);
        if candidate <= raise.last {
            return candidate | by;
        }
    }
    one.first | other.first
}

fn greatest_or(one: Piece, other: Piece) -> u64 {
    for bit in falling_bits(one.last | other.last).filter(|bit| one.last & other.last & bit != 0) {
        for (lower, with) in [(one, other.last), (other, one.last)] {
            let candidate = lowered(lower.last, bit);
            if candidate >= lower.first {
                return candidate | with;
            }
        }
    }
    one.last | other.last
}

fn least_xor(mut one: Piece, mut other: Piece) -> u64 {
    for bit in falling_bits(one.last | other.last) {
        let raise = match (one.first & bit != 0, other.first & bit != 0) {
            (false, true) => &mut one,
            (true, false) => &mut other,
            _ => continue,
        };
        let candidate = raised(raise.first, bit);
        if candidate <= raise.last {
            raise.first = candidate;
        }
    }
    one.first ^ other.first
}

fn greatest_xor(mut one: Piece, mut other: Piece) -> u64 {
    for bit in falling_bits(one.last | other.last) {
        if one.last & other.last & bit == 0 {
            continue;
        }
        let candidates = (lowered(one.last, bit), lowered(other.last, bit));
        if candidates.0 >= one.first {
            one.last = candidates.0;
        } else if candidates.1 >= other.first {
            other.last = candidates.1;
        }
    }
    one.last ^ other.last
}

/// The three shifts. `None` if the amount may reach the width.
pub(super) fn shifted(opcode: u16, value: Range, amount: Range) -> Option<Range> {
    let bits = value.bits();
    if amount.max() >= u64::from(bits) {
        return None;
    }
    let (least, most) = (amount.min() as u32, amount.max() as u32);
    let ranges = |piece: Piece| {
        let by = |amount: u32| match opcode {
            op::ShiftLeftLogical => {
                let more = u128::from(piece.last - piece.first) << amount;
                Range::wrapping(piece.first << amount, more, bits)
            }
            op::ShiftRightLogical => Range::unsigned(piece.first >> amount, piece.last >> amount, bits),
            _ => Range::signed(
                signed(piece.first, bits) >> amount,
                signed(piece.last, bits) >> amount,
                bits,
            ),
        };
        (least..=most).map(by).reduce(Range::join)
    };
    value.pieces().filter_map(ranges).reduce(Range::join)
}

/// `OpBitCount`.
pub(super) fn count(value: Range, bits: u32) -> Option<Range> {
    let counts = |piece: Piece| {
        let candidates = falling_bits(piece.last).map(|bit| match piece.first & bit {
            0 => raised(piece.first, bit),
            _ => piece.first,
        });
        let least = candidates
            .filter(|value| *value <= piece.last)
            .map(u64::count_ones)
            .min();
        let candidates = falling_bits(piece.last).map(|bit| match piece.last & bit {
            0 => piece.last,
            _ => lowered(piece.last, bit),
        });
        let most = candidates
            .filter(|value| *value >= piece.first)
            .map(u64::count_ones)
            .max();
        let least = piece.first.count_ones().min(least.unwrap_or(64));
        let most = piece.last.count_ones().max(most.unwrap_or(0));
        Range::wrapping(least.into(), u128::from(most - least), bits)
    };
    value.pieces().map(counts).reduce(Range::join)
}

/// `OpBitReverse`: the leading bits that all values of a piece share become the lowest.
pub(super) fn reversed(value: Range) -> Option<Range> {
    let bits = value.bits();
    let reverse = |piece: Piece| {
        let varying = u64::MAX
            .checked_shr((piece.first ^ piece.last).leading_zeros())
            .unwrap_or(0);
        let reverse = |value: u64| value.reverse_bits() >> (64 - bits);
        let shared = reverse(piece.first & !varying);
        Range::unsigned(shared, shared | reverse(varying), bits)
    };
    value.pieces().map(reverse).reduce(Range::join)
}

/// `OpBitFieldSExtract` and `OpBitFieldUExtract`. `None` if the field may reach beyond the value.
pub(super) fn field(opcode: u16, base: Range, offset: Range, count: Range) -> Option<Range> {
    let bits = base.bits();
    let end = offset.max().checked_add(count.max())?;
    if end > u64::from(bits) || !matches!(opcode, op::BitFieldSExtract | op::BitFieldUExtract) {
        return None;
    }
    let right = match opcode {
        op::BitFieldUExtract => op::ShiftRightLogical,
        _ => op::ShiftRightArithmetic,
    };
    let amount = |bits_of_it: u64| Range::only(bits_of_it, 32);
    // At most 65 counts, most of which the shift to the left gives exactly.
    let of_count = |count: u64| match (count, offset.value()) {
        (0, _) => Some(Range::only(0, bits)),
        (count, Some(offset)) => {
            let high = shifted(op::ShiftLeftLogical, base, amount(u64::from(bits) - count - offset))?;
            shifted(right, high, amount(u64::from(bits) - count))
        }
        (count, None) => shifted(right, Range::full(bits), amount(u64::from(bits) - count)),
    };
    let fields = (count.min()..=count.max()).map(of_count);
    let fields = fields.reduce(|one, other| Some(one?.join(other?)))??;
    let is_unsigned = opcode == op::BitFieldUExtract;
    // A part of a value is not greater than the value.
    let whole = Range::unsigned(0, base.max() >> offset.min().min(63), bits);
    if is_unsigned { fields.meet(whole) } else { Some(fields) }
}

/// `OpBitFieldInsert`. `None` unless offset and count are constant, and the field is in the value.
pub(super) fn inserted(base: Range, insert: Range, offset: Range, count: Range) -> Option<Range> {
    let bits = base.bits();
    let (offset, count) = (offset.value()?, count.value()?);
    let is_inside = offset.checked_add(count)? <= u64::from(bits);
    if count == 0 || !is_inside {
        return is_inside.then_some(base);
    }
    let field = mask(count as u32) << offset;
    let moved = shifted(op::ShiftLeftLogical, insert, Range::only(offset, 64))?;
    let kept = combined(op::BitwiseAnd, base, Range::only(!field, bits))?;
    let new = combined(op::BitwiseAnd, moved, Range::only(field, bits))?;
    combined(op::BitwiseOr, kept, new)
}
