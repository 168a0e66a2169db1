//! Applies format strings to typed arguments.
//!
//! `%f` without a precision shows the shortest decimal that reads back as the same number: C's six decimals show 1e-7 as zero.
//! The arguments' types decide, not the specifiers: a float passed to `%u` is shown as a float, with a note. Nothing is
//! dropped: arguments without a specifier are appended, and a specifier without an argument stays in the text, marked.

use crate::format::printf::{self, FieldSpec, character};
use crate::format::remainders::leave_remainders;
use crate::format::specifier::{Conversion, Piece, parse};
use crate::format::value_display::{fitting_conversion, is_generated, show, show_named};
use crate::scalar::{Number, Scalar, sign_extend};
use crate::value::{Field, Value};
use std::collections::VecDeque;

/// Follows a specifier without an argument, and replaces a value that the message lacks.
const MISSING: &str = "<missing>";

const TOO_FEW: &str = "the format has more conversions than the message has arguments";

/// Notes are cut after this many: hostile formats cause thousands.
const MAX_NOTES: usize = 8;

/// A formatted message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formatted {
    /// The text.
    pub text: String,
    /// Disagreements between the format and its arguments, one sentence each.
    pub notes: Vec<String>,
}

/// Formats the members of a message that follow its format string.
pub fn apply(format: &str, arguments: &[Field]) -> Formatted {
    let mut formatter = Formatter {
        arguments: (1..).zip(arguments).map(Argument::new).collect(),
        out: Formatted::default(),
    };
    let mut skip_l = false;
    let mut pieces = parse(format);
    leave_remainders(&mut pieces, arguments);
    for piece in pieces {
        match piece {
            Piece::Text(text) if skip_l => formatter.push(text.strip_prefix('l').unwrap_or(text)),
            Piece::Text(text) => formatter.push(text),
            Piece::Stray(text) => {
                formatter.push(text);
                formatter.note(format!("`{text}` starts no conversion: write `%%` for a percent sign"));
            }
            Piece::Conversion(conversion) => {
                skip_l = formatter.conversion(&conversion);
                continue;
            }
        }
        skip_l = false;
    }
    formatter.append_rest();
    formatter.out
}

/// An argument or a part of one.
struct Argument {
    /// Position of the argument, from 1.
    number: usize,
    name: Option<String>,
    value: Value,
}

impl Argument {
    fn new((number, field): (usize, &Field)) -> Self {
        Self {
            number,
            name: field.name.clone(),
            value: field.value.clone(),
        }
    }
}

struct Formatter {
    /// The arguments that are left.
    arguments: VecDeque<Argument>,
    out: Formatted,
}

impl Formatter {
    fn push(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    fn note(&mut self, note: String) {
        if self.out.notes.len() < MAX_NOTES && !self.out.notes.contains(&note) {
            self.out.notes.push(note);
        }
    }

    /// Writes one conversion. Returns whether a following `l` belongs to it: `%ul` with a 64-bit argument.
    fn conversion(&mut self, conversion: &Conversion<'_>) -> bool {
        match conversion.components {
            1 => self.single(conversion),
            count => self.vector(conversion, count),
        }
    }

    fn single(&mut self, conversion: &Conversion<'_>) -> bool {
        match self.next() {
            None => self.missing_argument(conversion),
            Some(Value::Scalar(scalar)) => {
                self.scalar(conversion, scalar);
                return takes_l(conversion, scalar);
            }
            Some(Value::Text(text)) => {
                if conversion.letter != 's' {
                    self.mismatch(conversion, "a string");
                }
                self.push(&printf::text(conversion.field, &text));
            }
            Some(other) => self.push(&show(&other)),
        }
        false
    }

    fn vector(&mut self, conversion: &Conversion<'_>, count: usize) -> bool {
        self.unwrap_front(true);
        let mut components = match self.front() {
            None => {
                self.missing_argument(conversion);
                return false;
            }
            Some(Value::Text(_) | Value::Missing) => return self.single(conversion),
            Some(Value::Vector(components)) => {
                let components = components.clone();
                self.arguments.pop_front();
                if components.len() != count {
                    self.mismatch(conversion, &format!("a vector of {}", components.len()));
                }
                components
            }
            Some(_) => Vec::new(),
        };
        while components.len() < count && !matches!(self.front(), None | Some(Value::Vector(_))) {
            self.unwrap_front(false);
            match self.front() {
                Some(&Value::Scalar(scalar)) => components.push(scalar),
                _ => break,
            }
            self.arguments.pop_front();
        }
        let is_short = components.len() < count;
        let skip_l = components.first().is_some_and(|&scalar| takes_l(conversion, scalar));
        for (index, scalar) in components.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.scalar(conversion, scalar);
        }
        if is_short {
            self.push(MISSING);
            self.note(TOO_FEW.to_owned());
        }
        skip_l
    }

    fn scalar(&mut self, conversion: &Conversion<'_>, scalar: Scalar) {
        let (field, ty) = (conversion.field, scalar.ty());
        let pattern = scalar.pattern().unwrap_or(0);
        let is_signed = conversion.letter != 'u';
        // C ignores the sign flags in unsigned conversions.
        let decimal_field = FieldSpec {
            plus: field.plus && is_signed,
            space: field.space && is_signed,
            ..field
        };
        let text = match (conversion.letter, scalar.number()) {
            ('x' | 'X' | 'o' | 'd' | 'i' | 'u' | 'c' | 'p', Number::Float(_)) => {
                self.mismatched_scalar(conversion, scalar, "a float")
            }
            ('x' | 'X' | 'o', _) => printf::pattern(field, conversion.letter, pattern),
            ('p', _) => printf::pointer(field, pattern),
            ('c', _) => printf::text(field, &character(pattern)),
            ('d' | 'i' | 'u', Number::Signed(value)) => {
                if !is_signed && value < 0 {
                    self.mismatch(conversion, &format!("negative ({})", ty.name()));
                }
                printf::decimal(decimal_field, value < 0, value.unsigned_abs())
            }
            ('d' | 'i' | 'u', _) => {
                if is_signed && sign_extend(pattern, ty.bits()) < 0 {
                    self.mismatch(conversion, &format!("unsigned ({})", ty.name()));
                }
                printf::decimal(decimal_field, false, pattern)
            }
            ('s', _) => self.mismatched_scalar(conversion, scalar, "not a string"),
            ('f' | 'F', Number::Float(value)) if field.precision.is_none() && value.is_finite() => {
                printf::shortest(field, &scalar.to_string())
            }
            (letter, Number::Float(value)) => printf::float(field, letter, value),
            _ => self.mismatched_scalar(conversion, scalar, "not a float"),
        };
        self.push(&text);
    }

    /// Removes the next scalar or string: vectors, matrices, arrays and structures are taken apart.
    fn next(&mut self) -> Option<Value> {
        self.unwrap_front(false);
        self.arguments.pop_front().map(|argument| argument.value)
    }

    fn front(&self) -> Option<&Value> {
        self.arguments.front().map(|argument| &argument.value)
    }

    /// Replaces composites at the front by their parts. Moves each part once per level of nesting.
    fn unwrap_front(&mut self, keep_vectors: bool) {
        while let Some(Argument { number, name, value }) = self.arguments.pop_front() {
            let parts: Vec<(Option<String>, Value)> = match value {
                Value::Vector(components) if !keep_vectors || components.is_empty() => {
                    components.into_iter().map(|c| (None, Value::Scalar(c))).collect()
                }
                Value::Matrix(columns) => columns.into_iter().map(|c| (None, Value::Vector(c))).collect(),
                Value::Array(elements) => elements.into_iter().map(|e| (None, e)).collect(),
                Value::Struct { members, .. } => members.into_iter().map(|m| (m.name, m.value)).collect(),
                leaf => {
                    self.arguments.push_front(Argument {
                        number,
                        name,
                        value: leaf,
                    });
                    return;
                }
            };
            for (name, value) in parts.into_iter().rev() {
                self.arguments.push_front(Argument { number, name, value });
            }
        }
    }

    fn missing_argument(&mut self, conversion: &Conversion<'_>) {
        self.push(conversion.source);
        self.push(MISSING);
        self.note(TOO_FEW.to_owned());
    }

    fn mismatch(&mut self, conversion: &Conversion<'_>, actual: &str) {
        self.note(format!("the argument of `{}` is {actual}", conversion.source));
    }

    /// A scalar that the conversion cannot show, as its type shows it. The precision is ignored: it means something else
    /// for another type.
    fn mismatched_scalar(&mut self, conversion: &Conversion<'_>, scalar: Scalar, actual: &str) -> String {
        self.mismatch(conversion, &format!("{actual} ({})", scalar.ty().name()));
        let field = FieldSpec {
            precision: None,
            ..conversion.field
        };
        printf::text(field, &scalar.to_string())
    }

    /// Appends the arguments without a specifier. Those for which there is none are no fault.
    fn append_rest(&mut self) {
        if self.arguments.is_empty() {
            return;
        }
        let arguments = std::mem::take(&mut self.arguments);
        let rest: Vec<String> = arguments
            .iter()
            .map(|argument| show_named(argument.name.as_deref(), &argument.value))
            .collect();
        let end = if self.out.text.ends_with('\n') { "\n" } else { "" };
        let text = self.out.text.trim_end_matches('\n').to_owned();
        let space = if text.is_empty() || text.ends_with(' ') {
            ""
        } else {
            " "
        };
        self.out.text = format!("{text}{space}[{}]{end}", rest.join(", "));
        for Argument { number, name, value } in arguments {
            if let Some((ty, conversion)) = fitting_conversion(&value) {
                let name = name.filter(|name| !is_generated(name));
                let name = name.map(|name| format!("`{name}`, ")).unwrap_or_default();
                self.note(format!(
                    "the format has no conversion for argument {number} ({name}{ty}), which follows in brackets: add `{conversion}`"
                ));
            }
        }
    }
}

/// Whether the `l` after a conversion is its length: `%ul`, `%xl`, `%dl` with a 64-bit argument.
fn takes_l(conversion: &Conversion<'_>, scalar: Scalar) -> bool {
    let is_integer = "diuxXo".contains(conversion.letter);
    conversion.l_follows && conversion.length.is_empty() && is_integer && scalar.ty().bits() == 64
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
