//! The text of a condition: its pieces, how they bind, and the symbols of comparisons.

use smallvec::SmallVec;
use vkabort_spirv::{Id, op};

/// The text of a condition that was true.
#[derive(Debug, Default)]
pub(crate) struct Predicate {
    pub(crate) pieces: Vec<Piece>,
    /// Operands that the pieces name.
    pub(crate) operands: Vec<(String, Operand)>,
}

/// A part of the text of a condition.
#[derive(Debug)]
pub(crate) enum Piece {
    Text(String),
    /// A constant.
    Boolean(bool),
    /// An operand without a name.
    Value(Operand),
}

/// A value, and the phis that it needs on its way to the abort, first to last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) id: Id,
    pub(crate) joins: SmallVec<[Join; 2]>,
}

/// The join of a short-circuit operation: a phi whose value came from `through`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    /// Label of its block.
    pub(crate) block: Id,
    /// The predecessor that it came from.
    pub(crate) through: Id,
    /// The predecessor that it did not come from.
    pub(crate) around: Id,
}

/// How strongly a text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Or,
    And,
    Comparison,
    Unary,
}

/// A text that is being written, and how strongly it holds together.
pub(super) type ConditionText = (Vec<Piece>, Binding);

pub(super) fn or_unknown(written: Option<ConditionText>) -> ConditionText {
    written.unwrap_or_else(|| (vec![Piece::Text("..".to_owned())], Binding::Unary))
}

/// `left && right`, or `left || right`, without a side that does not matter: compilers write `left || false`.
pub(super) fn join(is_and: bool, left: ConditionText, right: ConditionText) -> ConditionText {
    let is_neutral =
        |(pieces, _): &ConditionText| matches!(pieces.as_slice(), [Piece::Boolean(value)] if *value == is_and);
    if is_neutral(&left) {
        return right;
    }
    if is_neutral(&right) {
        return left;
    }
    let (binding, symbol) = if is_and {
        (Binding::And, " && ")
    } else {
        (Binding::Or, " || ")
    };
    let enclose = |(pieces, of_part): ConditionText| match of_part < binding
        || (of_part != binding && of_part < Binding::Comparison)
    {
        true => enclosed("(", pieces),
        false => pieces,
    };
    let mut pieces = enclose(left);
    pieces.push(Piece::Text(symbol.to_owned()));
    pieces.extend(enclose(right));
    (pieces, binding)
}

pub(super) fn enclosed(open: &str, pieces: Vec<Piece>) -> Vec<Piece> {
    let open = Piece::Text(open.to_owned());
    let close = Piece::Text(")".to_owned());
    std::iter::once(open).chain(pieces).chain([close]).collect()
}

pub(super) fn call(function: &str, argument: Vec<Piece>, was_true: bool) -> ConditionText {
    let not = if was_true { "" } else { "!" };
    (enclosed(&format!("{not}{function}("), argument), Binding::Unary)
}

/// The symbol of a comparison that was true, or was false. `!` in front of one: it was false, which no other comparison of floats says
/// because of NaN.
pub(super) fn comparison(opcode: u16, was_true: bool) -> Option<&'static str> {
    let [yes, no] = match opcode {
        op::IEqual | op::FOrdEqual | op::FUnordEqual | op::LogicalEqual => ["==", "!="],
        op::INotEqual | op::FUnordNotEqual | op::FOrdNotEqual | op::LogicalNotEqual => ["!=", "=="],
        op::UGreaterThan | op::SGreaterThan => [">", "<="],
        op::UGreaterThanEqual | op::SGreaterThanEqual => [">=", "<"],
        op::ULessThan | op::SLessThan => ["<", ">="],
        op::ULessThanEqual | op::SLessThanEqual => ["<=", ">"],
        op::FOrdLessThan => ["<", "!<"],
        op::FOrdGreaterThan => [">", "!>"],
        op::FOrdLessThanEqual => ["<=", "!<="],
        op::FOrdGreaterThanEqual => [">=", "!>="],
        op::FUnordLessThan => ["!>=", ">="],
        op::FUnordGreaterThan => ["!<=", "<="],
        op::FUnordLessThanEqual => ["!>", ">"],
        op::FUnordGreaterThanEqual => ["!<", "<"],
        _ => return None,
    };
    Some(if was_true { yes } else { no })
}
