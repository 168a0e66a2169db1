//! Remainders in the text of an expression, which formats contain that quote it.

use crate::format::specifier::Piece;
use crate::value::{Field, Value};

/// Makes conversions text that are remainders in the text of an expression, as in `keys[i] % 100u < 97`: if there are more
/// conversions than arguments, those with a space behind the `%`, which formats hardly ever have, and then those with a width behind
/// an operand.
pub(super) fn leave_remainders(pieces: &mut [Piece<'_>], arguments: &[Field]) {
    let values: usize = arguments.iter().map(|argument| scalars(&argument.value)).sum();
    let needed = |piece: &Piece<'_>| match piece {
        Piece::Conversion(conversion) => conversion.components,
        _ => 0,
    };
    let mut total: usize = pieces.iter().map(needed).sum();
    for is_second_pass in [false, true] {
        let mut is_behind_operand = false;
        for piece in &mut *pieces {
            if let Piece::Conversion(conversion) = piece
                && total > values
            {
                let has_width = conversion.source.bytes().any(|byte| byte.is_ascii_digit());
                let is_remainder = match is_second_pass {
                    false => conversion.field.space,
                    true => is_behind_operand && has_width,
                };
                if is_remainder {
                    total -= conversion.components;
                    *piece = Piece::Text(conversion.source);
                }
            }
            is_behind_operand = match piece {
                Piece::Text(text) => text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']')),
                _ => false,
            };
        }
    }
}

/// Number of scalars and strings in a value.
fn scalars(value: &Value) -> usize {
    match value {
        Value::Vector(components) => components.len(),
        Value::Matrix(columns) => columns.iter().map(Vec::len).sum(),
        Value::Array(elements) => elements.iter().map(scalars).sum(),
        Value::Struct { members, .. } => members.iter().map(|member| scalars(&member.value)).sum(),
        _ => 1,
    }
}
