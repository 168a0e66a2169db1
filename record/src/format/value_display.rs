//! Values as text, without a format string.

use crate::escape::one_line;
use crate::scalar::{Number, Scalar};
use crate::scalar_type::ScalarType;
use crate::value::{Field, Value};

/// Elements of an array that are written out; the others are counted. The JSON report has all of them.
const SHOWN_ELEMENTS: usize = 16;

/// A value on one line: `7`, `(1, 2, 3)`, `[1, 2, ... 65534 more]`, `{index: 7, position: (0.5, 0.5)}`.
pub fn show(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// `name: value`, or the value alone.
pub(crate) fn show_field(field: &Field) -> String {
    show_named(field.name.as_deref(), &field.value)
}

/// [`show_field`] from its parts.
pub(crate) fn show_named(name: Option<&str>, value: &Value) -> String {
    match name.filter(|name| !is_generated(name)) {
        Some(name) => format!("{}: {}", one_line(name), show(value)),
        None => show(value),
    }
}

/// Whether it is a compiler's name for a member without one.
pub(crate) fn is_generated(name: &str) -> bool {
    let digits = name.strip_prefix("__member").or_else(|| name.strip_prefix("_m"));
    digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Scalar(scalar) => out.push_str(&scalar.to_string()),
        Value::Text(text) => {
            out.push('"');
            out.push_str(&one_line(text));
            out.push('"');
        }
        Value::Vector(components) => vector(components, out),
        Value::Matrix(columns) => list(out, '(', ')', columns, |column, out| vector(column, out)),
        Value::Array(elements) => list(out, '[', ']', elements, write),
        Value::Struct { members, .. } => list(out, '{', '}', members, |member, out| out.push_str(&show_field(member))),
        Value::Missing => out.push_str("<missing>"),
    }
}

fn vector(components: &[Scalar], out: &mut String) {
    list(out, '(', ')', components, |scalar, out| {
        out.push_str(&scalar.to_string())
    });
}

fn list<T>(out: &mut String, open: char, close: char, items: &[T], mut item: impl FnMut(&T, &mut String)) {
    out.push(open);
    for (index, value) in items.iter().take(SHOWN_ELEMENTS).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        item(value, out);
    }
    if items.len() > SHOWN_ELEMENTS {
        out.push_str(&format!(", ... {} more", items.len() - SHOWN_ELEMENTS));
    }
    out.push(close);
}

/// The type of a value and the conversion that prints it, if there is one.
pub(crate) fn fitting_conversion(value: &Value) -> Option<(String, String)> {
    let letters = |scalar: &Scalar| match (scalar.number(), scalar.ty().bits()) {
        (Number::Float(_), _) => "f",
        (Number::Signed(_), 64) => "ld",
        (Number::Signed(_), _) => "d",
        (Number::Unsigned(_), _) if scalar.ty() == ScalarType::Pointer => "p",
        (Number::Unsigned(_), 64) => "lu",
        (Number::Unsigned(_) | Number::Bool(_), _) => "u",
    };
    match value {
        Value::Scalar(scalar) => Some((scalar.ty().name().to_owned(), format!("%{}", letters(scalar)))),
        Value::Vector(components) if (2..=4).contains(&components.len()) => {
            let (first, count) = (components.first()?, components.len());
            let ty = format!("{} x {count}", first.ty().name());
            Some((ty, format!("%v{count}{}", letters(first))))
        }
        Value::Text(_) => Some(("string".to_owned(), "%s".to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar_type::ScalarType;

    #[test]
    fn composites_have_brackets_by_kind_and_long_arrays_are_cut() {
        let uint = |value| Scalar::from_bits(ScalarType::U32, value);
        let value = Value::Struct {
            name: Some("Hit".into()),
            members: vec![
                Field {
                    name: Some("index".into()),
                    offset: 0,
                    value: Value::Scalar(uint(7)),
                },
                Field {
                    name: Some("__member1".into()),
                    offset: 4,
                    value: Value::Vector(vec![uint(1), uint(2)]),
                },
                Field {
                    name: Some("why".into()),
                    offset: 12,
                    value: Value::Text("late".into()),
                },
                Field::unnamed(16, Value::Missing),
            ],
        };
        assert_eq!(show(&value), r#"{index: 7, (1, 2), why: "late", <missing>}"#);
        let many = Value::Array((0..20).map(|n| Value::Scalar(uint(n))).collect());
        assert_eq!(
            show(&many),
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 4 more]"
        );
        assert_eq!(show(&Value::Array(vec![])), "[]");
    }
}
