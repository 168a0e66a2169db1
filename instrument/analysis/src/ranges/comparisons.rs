//! Refines operand ranges by the outcome of a comparison.

use super::interval::{Piece, Range};
use vkabort_spirv::op;

/// The values of `value` for which `value OP other` can have a result, for `OpIEqual` to `OpSLessThanEqual`. `None` if there are
/// none: a place where the comparison has this result is not reached. Of other opcodes nothing is known.
pub(crate) fn refined(value: Range, opcode: u16, result: bool, other: Range) -> Option<Range> {
    if value.bits() != other.bits() {
        return Some(value);
    }
    let bits = value.bits();
    let full = Range::full(bits);
    let opcode = if result { opcode } else { negated(opcode) };
    let bound = match opcode {
        op::IEqual => other,
        op::INotEqual => return without(value, other),
        op::ULessThan => Range::unsigned(0, other.max().checked_sub(1)?, bits),
        op::ULessThanEqual => Range::unsigned(0, other.max(), bits),
        op::UGreaterThan if other.min() == full.max() => return None,
        op::UGreaterThan => Range::unsigned(other.min() + 1, full.max(), bits),
        op::UGreaterThanEqual => Range::unsigned(other.min(), full.max(), bits),
        op::SLessThan if other.smax() == full.smin() => return None,
        op::SLessThan => Range::signed(full.smin(), other.smax() - 1, bits),
        op::SLessThanEqual => Range::signed(full.smin(), other.smax(), bits),
        op::SGreaterThan if other.smin() == full.smax() => return None,
        op::SGreaterThan => Range::signed(other.smin() + 1, full.smax(), bits),
        op::SGreaterThanEqual => Range::signed(other.smin(), full.smax(), bits),
        _ => full,
    };
    value.meet(bound)
}

/// The result of a comparison if it is the same for all values of the operands.
#[allow(dead_code)] // A branch that is never taken: only tests ask so far.
pub(crate) fn decided(left: Range, opcode: u16, right: Range) -> Option<bool> {
    [false, true]
        .into_iter()
        .find(|result| refined(left, opcode, !result, right).is_none())
}

/// The comparison with its operands swapped.
pub(crate) fn mirrored(opcode: u16) -> u16 {
    match opcode {
        op::UGreaterThan => op::ULessThan,
        op::ULessThan => op::UGreaterThan,
        op::UGreaterThanEqual => op::ULessThanEqual,
        op::ULessThanEqual => op::UGreaterThanEqual,
        op::SGreaterThan => op::SLessThan,
        op::SLessThan => op::SGreaterThan,
        op::SGreaterThanEqual => op::SLessThanEqual,
        op::SLessThanEqual => op::SGreaterThanEqual,
        other => other,
    }
}

/// The comparison that holds if the given one does not.
fn negated(opcode: u16) -> u16 {
    match opcode {
        op::IEqual => op::INotEqual,
        op::INotEqual => op::IEqual,
        op::UGreaterThan => op::ULessThanEqual,
        op::ULessThan => op::UGreaterThanEqual,
        op::UGreaterThanEqual => op::ULessThan,
        op::ULessThanEqual => op::UGreaterThan,
        op::SGreaterThan => op::SLessThanEqual,
        op::SLessThan => op::SGreaterThanEqual,
        op::SGreaterThanEqual => op::SLessThan,
        op::SLessThanEqual => op::SGreaterThan,
        other => other,
    }
}

/// The values other than `other`, if that is one value: it can only be left out at a bound.
fn without(value: Range, other: Range) -> Option<Range> {
    let Some(only) = other.value() else {
        return Some(value);
    };
    let bits = value.bits();
    let beside = |piece: Piece| match (piece.first == only, piece.last == only) {
        (true, true) => None,
        (true, false) => Some(Range::unsigned(only + 1, piece.last, bits)),
        (false, true) => Some(Range::unsigned(piece.first, only - 1, bits)),
        (false, false) => Some(Range::unsigned(piece.first, piece.last, bits)),
    };
    value.pieces().filter_map(beside).reduce(Range::join)
}
