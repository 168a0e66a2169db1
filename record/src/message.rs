//! One message: text, values and bytes.

use crate::decode::convention::guess;
use crate::decode::{Decoded, decode};
use crate::escape::{escape_bytes, printable};
use crate::format::apply;
use crate::format::specifier::has_conversion;
use crate::format::value_display::{show, show_field};
use crate::message_type::Type;
use crate::site::Site;
use crate::value::{Field, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How the bytes of a message were decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decoding {
    /// By the message type of the abort site.
    Typed,
    /// Without a site: a leading format string, and arguments laid out as GLSL and Slang do.
    Convention,
    /// Without a site, and not by the convention: as words.
    Raw,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The message as text, formatted if it carries a format string.
    pub text: String,
    /// How the bytes were decoded.
    pub decoding: Decoding,
    /// Disagreements between format, type and bytes, one sentence each.
    pub notes: Vec<String>,
    /// Every value with its type, name and offset.
    pub value: Value,
    /// Bytes that no value covers.
    #[serde(with = "crate::hex::json")]
    pub rest: Vec<u8>,
    /// The whole payload.
    #[serde(with = "crate::hex::json")]
    pub bytes: Vec<u8>,
}

impl Message {
    /// Decodes a payload by the site that wrote it.
    pub fn of_site(site: &Site, bytes: &[u8]) -> Self {
        let starts_with = |text: &str| escape_bytes(bytes).starts_with(&printable(text));
        let leads_with_text = site.text.as_deref().is_some_and(starts_with);
        Self::from_decoded(decode(&site.message, bytes, leads_with_text), bytes)
    }

    /// Decodes a payload by its type.
    pub fn of_type(ty: &Type, bytes: &[u8]) -> Self {
        Self::from_decoded(decode(ty, bytes, false), bytes)
    }

    /// Decodes a payload without a type, by the convention that GLSL and Slang share.
    pub fn untyped(bytes: &[u8]) -> Self {
        let guess = guess(bytes);
        Self {
            text: guess.text,
            decoding: match guess.follows_convention {
                true => Decoding::Convention,
                false => Decoding::Raw,
            },
            notes: guess.notes,
            value: guess.value,
            rest: guess.rest,
            bytes: bytes.to_vec(),
        }
    }

    fn from_decoded(decoded: Decoded, bytes: &[u8]) -> Self {
        let (text, mut notes) = text_of(&decoded.value);
        if decoded.short_by > 0 {
            notes.push(format!(
                "the message is {} bytes shorter than its type: {} of {}",
                decoded.short_by,
                bytes.len(),
                bytes.len() + decoded.short_by as usize
            ));
        } else if decoded.long_by > 0 {
            notes.push(format!(
                "the message is {} bytes longer than its type: {}",
                decoded.long_by,
                bytes.len()
            ));
        } else if !decoded.rest.is_empty() {
            notes.push(format!(
                "the last {} bytes are not decoded: their types are nested too deeply or overlap too often",
                decoded.rest.len()
            ));
        }
        Self {
            text,
            decoding: Decoding::Typed,
            notes,
            value: decoded.value,
            rest: decoded.rest,
            bytes: bytes.to_vec(),
        }
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
    text_of(&value).1
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

/// The text of a message and the notes on it: a leading string is the format of the members that follow.
fn text_of(value: &Value) -> (String, Vec<String>) {
    let formatted = match value {
        Value::Text(format) => apply(format, &[]),
        Value::Struct { members, .. } => match members.as_slice() {
            [] => return Default::default(),
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
            [only] if show_field(only) == show(&only.value) => return (show(&only.value), Vec::new()),
            _ => return (show(value), Vec::new()),
        },
        other => return (show(other), Vec::new()),
    };
    (formatted.text, formatted.notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_type::{Length, Member};
    use crate::scalar_type::ScalarType;
    use crate::scalar_type::ScalarType::U32;

    fn message(members: Vec<(Option<&str>, u32, Type)>) -> Type {
        let member = |(name, offset, ty)| Member::new(name, offset, ty);
        Type::structure(members.into_iter().map(member))
    }

    #[test]
    fn a_glsl_message_is_formatted_with_its_typed_arguments() {
        let ty = message(vec![(None, 0, Type::string(16)), (None, 16, U32.into())]);
        let bytes = [b"bad index %u\0\0\0\0".as_slice(), &7u32.to_le_bytes()].concat();
        let message = Message::of_type(&ty, &bytes);
        assert_eq!(message.text, "bad index 7");
        assert_eq!(message.decoding, Decoding::Typed);
        assert!(message.notes.is_empty() && message.rest.is_empty());
        let cut = Message::of_type(&ty, &bytes[..18]);
        assert_eq!(cut.text, "bad index <missing>");
        assert_eq!(cut.rest, [7, 0]);
        assert_eq!(cut.notes, ["the message is 2 bytes shorter than its type: 18 of 20"]);
    }

    /// The example of SPV_KHR_abort, "Using SPV_KHR_abort to output string messages".
    #[test]
    fn a_format_may_be_split_between_adjacent_strings() {
        let two_strings = |texts: [&str; 2], rest: &[u32]| {
            let mut members = Vec::new();
            let mut bytes = Vec::new();
            for text in texts {
                members.push((None, bytes.len() as u32, Type::string(text.len() as u32)));
                bytes.extend(text.bytes());
            }
            for value in rest {
                members.push((None, bytes.len() as u32, U32.into()));
                bytes.extend(value.to_le_bytes());
            }
            Message::of_type(&message(members), &bytes)
        };
        let message = two_strings(["test: ", "%u"], &[42]);
        assert_eq!((message.text.as_str(), message.notes.len()), ("test: 42", 0));
        assert_eq!(two_strings(["100%% ", "%x"], &[42]).text, "100% 2a");
        // A string behind a conversion is its argument.
        assert_eq!(two_strings(["%s: %u", "100%"], &[42]).text, "100%: 42");
        // Neither is data that looks like a format where no argument follows, or text without a conversion.
        assert_eq!(two_strings(["name ", "%u"], &[]).text, "name [\"%u\"]");
        assert_eq!(two_strings(["name ", "value"], &[42]).text, "name [\"value\", 42]");
    }

    #[test]
    fn the_text_of_the_site_distinguishes_strings_from_numbers() {
        let site = |text_constant: Option<&str>| Site {
            message: message(vec![(None, 0, Type::array(Length::Constant(1), 4, U32))]),
            text: text_constant.map(str::to_owned),
            ..Site::default()
        };
        assert_eq!(Message::of_site(&site(Some("")), &[0; 4]).text, "");
        assert_eq!(Message::of_site(&site(None), &[0; 4]).text, "[0]");
        assert_eq!(Message::of_site(&site(Some("other")), &[0; 4]).text, "[0]");
    }

    #[test]
    fn a_message_that_is_only_a_string_is_a_format() {
        let bare = Type::string(12);
        assert_eq!(Message::of_type(&bare, b"100%% wrong\0").text, "100% wrong");
        let message = Message::of_type(&bare, b"index %u\0\0\0\0");
        assert_eq!(message.text, "index %u<missing>");
        assert_eq!(message.notes.len(), 1);
    }

    #[test]
    fn parts_that_are_nested_too_deeply_are_left_as_bytes() {
        let nested = (0..255).fold(Type::from(U32), |ty, _| message(vec![(None, 0, ty)]));
        let ty = message(vec![(None, 0, U32.into()), (None, 4, nested)]);
        let message = Message::of_type(&ty, &[7, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(message.rest, [8, 0, 0, 0]);
        assert_eq!(message.notes.len(), 1);
        assert!(
            message.notes[0].starts_with("the last 4 bytes are not decoded"),
            "{:?}",
            message.notes
        );
    }

    #[test]
    fn messages_without_a_string_show_their_values() {
        assert_eq!(Message::of_type(&U32.into(), &[7, 0, 0, 0]).text, "7");
        let named = message(vec![(Some("code"), 0, U32.into()), (None, 4, U32.into())]);
        assert_eq!(Message::of_type(&named, &[7, 0, 0, 0, 8, 0, 0, 0]).text, "{code: 7, 8}");
        assert_eq!(Message::of_type(&message(vec![]), &[]).text, "");
    }

    #[test]
    fn formats_are_compared_with_the_types_of_their_arguments() {
        let notes = |format: &str, arguments: &[ScalarType]| {
            let mut members = vec![(None, 0, Type::string(16))];
            for (index, ty) in (0..).zip(arguments) {
                members.push((None, 16 + 8 * index, Type::from(*ty)));
            }
            let site = Site {
                message: message(members),
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
