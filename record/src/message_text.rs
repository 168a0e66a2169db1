//! The text of a decoded message: a leading string is the format of the members that follow.

use crate::decode::decode;
use crate::format::specifier::has_conversion;
use crate::format::value_display::{show, show_field};
use crate::format::{Formatted, apply};
use crate::site::Site;
use crate::value::{Field, Value};
use std::borrow::Cow;

/// The text of a decoded message, and disagreements between its format and its arguments.
pub fn message_text(value: &Value) -> Formatted {
    let without_format = |text: String| Formatted {
        text,
        notes: Vec::new(),
    };
    match value {
        Value::Text(format) => apply(format, &[]),
        Value::Struct { members, .. } => match members.as_slice() {
            [] => Formatted::default(),
            [
                Field {
                    value: Value::Text(_), ..
                },
                ..,
            ] => {
                let (format, arguments) = format_and_arguments(members);
                apply(&format, arguments)
            }
            // One member without a name needs no braces.
            [only] if show_field(only) == show(&only.value) => without_format(show(&only.value)),
            _ => without_format(show(value)),
        },
        other => without_format(show(other)),
    }
}

/// Disagreements between the format string of a site and the types of its arguments, one sentence each: those that hold
/// whatever the values are. None if the format is not a constant of the module.
pub fn format_notes(site: &Site) -> Vec<String> {
    let Some(format) = &site.text else {
        return Vec::new();
    };
    let zeros = vec![0; site.message.size() as usize];
    let mut value = decode(&site.message, &zeros, true).value;
    if let Value::Struct { members, .. } = &mut value {
        // A second string may continue the format; the site has only the first.
        let may_continue = matches!(members.get(1).map(|member| &member.value), Some(Value::Text(_)));
        if may_continue && !has_conversion(format) {
            return Vec::new();
        }
        if let Some(first) = members.first_mut() {
            first.value = Value::Text(format.clone());
        }
    } else {
        value = Value::Text(format.clone());
    }
    message_text(&value).notes
}

/// The format of a message that begins with a string, and the members that are its arguments. Strings directly behind
/// the first one continue it, up to the first that has a conversion (SPV_KHR_abort, "Examples"); a string behind a
/// conversion is an argument.
fn format_and_arguments(members: &[Field]) -> (Cow<'_, str>, &[Field]) {
    let texts: Vec<&str> = (members.iter())
        .map_while(|member| match &member.value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let strings = match texts.iter().position(|text| has_conversion(text)) {
        Some(last) if last + 1 < members.len() => last + 1,
        _ => 1,
    };
    let format = match texts.get(..strings).unwrap_or_default() {
        &[only] => only.into(),
        several => several.concat().into(),
    };
    (format, members.get(strings..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_type::{Member, Type};
    use crate::scalar_type::ScalarType;
    use crate::scalar_type::ScalarType::U32;

    #[test]
    fn formats_are_compared_with_the_types_of_their_arguments() {
        let notes = |format: &str, arguments: &[ScalarType]| {
            let mut members = vec![Member::new(None, 0, Type::string(16))];
            for (index, ty) in (0..).zip(arguments) {
                members.push(Member::new(None, 16 + 8 * index, Type::from(*ty)));
            }
            let site = Site {
                message: Type::structure(members),
                text: Some(format.to_owned()),
                ..Site::default()
            };
            format_notes(&site)
        };
        assert!(notes("index %u", &[U32]).is_empty());
        assert!(notes("%d at %f, 100%%", &[U32, ScalarType::F64]).is_empty());
        assert_eq!(notes("%s", &[U32]), ["the argument of `%s` is not a string (u32)"]);
        assert_eq!(
            notes("%u", &[ScalarType::F32]),
            ["the argument of `%u` is a float (f32)"]
        );
        assert_eq!(
            notes("%u of %u", &[U32]),
            ["the format has more conversions than the message has arguments"]
        );
        assert_eq!(
            notes("full", &[U32]),
            ["the format has no conversion for argument 1 (u32), which follows in brackets: add `%u`"]
        );
        assert_eq!(
            notes("50% bad", &[]),
            ["`% ` starts no conversion: write `%%` for a percent sign"]
        );
    }
}
