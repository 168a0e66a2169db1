//! Format strings applied to typed arguments.
//!
//! The arguments' types are known, so they win over what a specifier assumes: a float passed to `%u` is shown as the
//! float it is, with a note. Nothing is dropped: arguments that no specifier wants are appended, and a specifier that
//! finds no argument stays where it is, marked.

use crate::decode::{self, Value};
use crate::format::printf::{self, Field};
use crate::format::specifier::{Conversion, Piece, parse};
use crate::format::value_display::{show, show_named};
use crate::scalar::{Scalar, sign_extend};
use std::collections::VecDeque;

/// What stands behind a specifier, or for a value, that the message does not hold.
pub const MISSING: &str = "<missing>";

const TOO_FEW: &str = "the format has more conversions than the message has arguments";

/// More notes than this say nothing new.
const MAX_NOTES: usize = 8;

/// A formatted message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formatted {
    /// The text.
    pub text: String,
    /// Where the format and its arguments disagree, one sentence each.
    pub notes: Vec<String>,
}

/// Formats `format` with the members of a message that follow it.
pub fn apply(format: &str, arguments: &[decode::Field]) -> Formatted {
    let mut formatter = Formatter {
        arguments: arguments.iter().map(|a| (a.name.clone(), a.value.clone())).collect(),
        out: Formatted::default(),
    };
    let mut skip_l = false;
    for piece in parse(format) {
        match piece {
            Piece::Text(text) => formatter.push(if skip_l {
                text.strip_prefix('l').unwrap_or(text)
            } else {
                text
            }),
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
    formatter.rest();
    formatter.out
}

struct Formatter {
    arguments: VecDeque<(Option<String>, Value)>,
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

    /// Writes one conversion. Whether an `l` behind it belongs to it: `%ul` with a 64-bit argument.
    fn conversion(&mut self, conversion: &Conversion<'_>) -> bool {
        match conversion.vector {
            Some(count) => self.vector(conversion, count),
            None => self.single(conversion),
        }
    }

    fn single(&mut self, conversion: &Conversion<'_>) -> bool {
        match self.next() {
            None => {
                self.missing_argument(conversion);
                false
            }
            Some(Value::Scalar(scalar)) => {
                self.scalar(conversion, scalar);
                takes_l(conversion, scalar)
            }
            Some(Value::Text(text)) => {
                if conversion.letter != 's' {
                    self.mismatch(conversion, "a string");
                }
                self.push(&printf::text(conversion.field, &text));
                false
            }
            Some(other) => {
                self.push(&show(&other));
                false
            }
        }
    }

    fn vector(&mut self, conversion: &Conversion<'_>, count: usize) -> bool {
        self.unwrap_front(true);
        let mut components = match self.arguments.front() {
            None => {
                self.missing_argument(conversion);
                return false;
            }
            Some((_, Value::Text(_) | Value::Missing)) => return self.single(conversion),
            Some((_, Value::Vector(components))) => {
                let components = components.clone();
                self.arguments.pop_front();
                if components.len() != count {
                    self.mismatch(conversion, &format!("a vector of {}", components.len()));
                }
                components
            }
            Some(_) => Vec::new(),
        };
        while components.len() < count && !matches!(self.arguments.front(), None | Some((_, Value::Vector(_)))) {
            match self.next() {
                Some(Value::Scalar(scalar)) => components.push(scalar),
                Some(other) => {
                    self.arguments.push_front((None, other));
                    break;
                }
                None => break,
            }
        }
        let short = components.len() < count;
        let wide = components.first().is_some_and(|&scalar| takes_l(conversion, scalar));
        for (index, scalar) in components.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.scalar(conversion, scalar);
        }
        if short {
            self.push(MISSING);
            self.note(TOO_FEW.to_owned());
        }
        wide
    }

    fn scalar(&mut self, conversion: &Conversion<'_>, scalar: Scalar) {
        let field = conversion.field;
        let unsigned = Field {
            plus: false,
            space: false,
            ..field
        };
        let text = match (conversion.letter, scalar) {
            ('x' | 'X' | 'o' | 'd' | 'i' | 'u' | 'c' | 'p', Scalar::Float { .. } | Scalar::EncodedFloat { .. }) => {
                self.mismatch(conversion, &format!("a float ({})", scalar.type_name()));
                printf::text(unprecise(field), &scalar.to_string())
            }
            ('x' | 'X' | 'o', _) => printf::pattern(field, conversion.letter, scalar.pattern().unwrap_or(0)),
            ('p', _) => printf::pointer(field, scalar.pattern().unwrap_or(0)),
            ('c', _) => printf::text(field, &character(scalar)),
            ('d' | 'i' | 'u', Scalar::Int { value, .. }) => {
                let signed = conversion.letter != 'u';
                if !signed && value < 0 {
                    self.mismatch(conversion, &format!("negative ({})", scalar.type_name()));
                }
                printf::decimal(if signed { field } else { unsigned }, value < 0, value.unsigned_abs())
            }
            ('d' | 'i' | 'u', _) => {
                let value = scalar.pattern().unwrap_or(0);
                let signed = conversion.letter != 'u';
                if signed && sign_extend(value, scalar.bits()) < 0 {
                    self.mismatch(conversion, &format!("unsigned ({})", scalar.type_name()));
                }
                printf::decimal(if signed { field } else { unsigned }, false, value)
            }
            ('s', _) => {
                self.mismatch(conversion, &format!("no string ({})", scalar.type_name()));
                printf::text(unprecise(field), &scalar.to_string())
            }
            (letter, Scalar::Float { value, .. } | Scalar::EncodedFloat { value, .. }) => {
                printf::float(field, letter, value)
            }
            _ => {
                self.mismatch(conversion, &format!("no float ({})", scalar.type_name()));
                printf::text(unprecise(field), &scalar.to_string())
            }
        };
        self.push(&text);
    }

    /// The next argument as a scalar or a string: vectors, matrices, arrays and structures are taken apart.
    fn next(&mut self) -> Option<Value> {
        self.unwrap_front(false);
        self.arguments.pop_front().map(|(_, value)| value)
    }

    /// Replaces composites at the front by their parts. Each part of an argument is moved once per level.
    fn unwrap_front(&mut self, keep_vectors: bool) {
        while let Some((name, value)) = self.arguments.pop_front() {
            let parts: Vec<(Option<String>, Value)> = match value {
                Value::Vector(components) if !keep_vectors && !components.is_empty() => {
                    components.into_iter().map(|c| (None, Value::Scalar(c))).collect()
                }
                Value::Matrix(columns) => columns.into_iter().map(|c| (None, Value::Vector(c))).collect(),
                Value::Array(elements) => elements.into_iter().map(|e| (None, e)).collect(),
                Value::Struct { members, .. } => members.into_iter().map(|m| (m.name, m.value)).collect(),
                Value::Vector(components) if components.is_empty() => Vec::new(),
                leaf => {
                    self.arguments.push_front((name, leaf));
                    return;
                }
            };
            for part in parts.into_iter().rev() {
                self.arguments.push_front(part);
            }
        }
    }

    fn missing_argument(&mut self, conversion: &Conversion<'_>) {
        self.push(conversion.source);
        self.push(MISSING);
        self.note(TOO_FEW.to_owned());
    }

    fn mismatch(&mut self, conversion: &Conversion<'_>, what: &str) {
        self.note(format!("the argument of `{}` is {what}", conversion.source));
    }

    /// Appends the arguments that the format does not mention.
    fn rest(&mut self) {
        if self.arguments.is_empty() {
            return;
        }
        let rest: Vec<String> = self
            .arguments
            .iter()
            .map(|(n, v)| show_named(n.as_deref(), v))
            .collect();
        let ends_line = self.out.text.ends_with('\n');
        let text = self.out.text.trim_end_matches('\n').to_owned();
        let space = if text.is_empty() || text.ends_with(' ') {
            ""
        } else {
            " "
        };
        self.out.text = format!(
            "{text}{space}[{}]{}",
            rest.join(", "),
            if ends_line { "\n" } else { "" }
        );
        self.note("the message has arguments that its format does not mention: they stand in brackets".to_owned());
    }
}

/// The precision of a conversion means nothing for a value of another type.
fn unprecise(field: Field) -> Field {
    Field {
        precision: None,
        ..field
    }
}

fn takes_l(conversion: &Conversion<'_>, scalar: Scalar) -> bool {
    conversion.l_follows && conversion.length.is_empty() && "diuxXo".contains(conversion.letter) && scalar.bits() == 64
}

fn character(scalar: Scalar) -> String {
    let code = scalar.pattern().unwrap_or(0);
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(c) => crate::escape::printable(c.encode_utf8(&mut [0; 4])),
        None => format!("\\u{{{code:x}}}"),
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
