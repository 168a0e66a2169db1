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
#[path = "message_tests.rs"]
mod tests;
