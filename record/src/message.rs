//! One message: what it says, by which knowledge, and its bytes.

use crate::decode::convention;
use crate::decode::{Decoded, Field, Value, decode, decode_with};
use crate::escape::{escape_bytes, printable};
use crate::format::apply;
use crate::format::value_display::{show, show_field};
use crate::site::{Site, Type};
use serde::{Deserialize, Serialize};

/// Where the meaning of the bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decoding {
    /// The message type of the abort site.
    Typed,
    /// Nothing is known of the site: a leading string and arguments by its format, as GLSL and Slang lay them out.
    Convention,
    /// Nothing is known of the site and the bytes follow no convention.
    Raw,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The message as text, formatted if it carries a format string.
    pub text: String,
    /// Where the meaning came from.
    pub decoding: Decoding,
    /// Where format, type and bytes disagree, one sentence each.
    pub notes: Vec<String>,
    /// Every value with its type, name and offset.
    pub value: Value,
    /// Bytes that no value covers.
    #[serde(with = "crate::report::value_json::hex_bytes")]
    pub rest: Vec<u8>,
    /// The whole payload.
    #[serde(with = "crate::report::value_json::hex_bytes")]
    pub bytes: Vec<u8>,
}

impl Message {
    /// Decodes `bytes` by the site that wrote them.
    pub fn of_site(site: &Site, bytes: &[u8]) -> Self {
        let held = |text: &str| escape_bytes(bytes).starts_with(&printable(text));
        let leads_with_text = site.text.as_deref().is_some_and(held);
        Self::from_decoded(decode_with(&site.message, bytes, leads_with_text), bytes)
    }

    /// Decodes `bytes` by their type.
    pub fn of_type(ty: &Type, bytes: &[u8]) -> Self {
        Self::from_decoded(decode(ty, bytes), bytes)
    }

    /// Decodes `bytes` of which nothing is known.
    pub fn unknown(bytes: &[u8]) -> Self {
        convention::decode(bytes)
    }

    fn from_decoded(decoded: Decoded, bytes: &[u8]) -> Self {
        let mut notes = Vec::new();
        let text = match &decoded.value {
            Value::Text(format) => {
                let formatted = apply(format, &[]);
                notes.extend(formatted.notes);
                formatted.text
            }
            Value::Struct { members, .. } => match members.split_first() {
                Some((
                    Field {
                        value: Value::Text(format),
                        ..
                    },
                    arguments,
                )) => {
                    let formatted = apply(format, arguments);
                    notes.extend(formatted.notes);
                    formatted.text
                }
                Some((only, [])) if show_field(only) == show(&only.value) => show(&only.value),
                Some(_) => show(&decoded.value),
                None => String::new(),
            },
            other => show(other),
        };
        if decoded.short_by > 0 {
            notes.push(format!(
                "the message is {} bytes shorter than its type: {} of {}",
                decoded.short_by,
                bytes.len(),
                bytes.len() + decoded.short_by as usize
            ));
        } else if !decoded.rest.is_empty() {
            notes.push(format!(
                "the message is {} bytes longer than its type: {}",
                decoded.rest.len(),
                bytes.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{Length, Member, SiteId};

    fn uint() -> Type {
        Type::Int {
            bits: 32,
            signed: false,
        }
    }

    fn text(length: u32, stride: u32, element: Type, utf: bool) -> Type {
        Type::Array {
            length: Length::Constant(length),
            stride,
            element: Box::new(element),
            utf,
        }
    }

    fn message(members: Vec<(Option<&str>, u32, Type)>) -> Type {
        Type::Struct {
            name: None,
            members: members
                .into_iter()
                .map(|(name, offset, ty)| Member {
                    name: name.map(str::to_owned),
                    offset,
                    ty,
                })
                .collect(),
        }
    }

    #[test]
    fn a_glsl_message_is_formatted_with_its_typed_arguments() {
        let byte = Type::Int { bits: 8, signed: true };
        let ty = message(vec![(None, 0, text(16, 1, byte, true)), (None, 16, uint())]);
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

    #[test]
    fn the_constant_of_the_site_tells_a_string_from_numbers() {
        let site = |text_constant: Option<&str>| Site {
            id: SiteId(0),
            word_offset: 0,
            function: "main".into(),
            entry_points: vec![],
            callers: vec![],
            location: None,
            message: message(vec![(None, 0, text(1, 4, uint(), false))]),
            text: text_constant.map(str::to_owned),
        };
        assert_eq!(Message::of_site(&site(Some("")), &[0; 4]).text, "");
        assert_eq!(Message::of_site(&site(None), &[0; 4]).text, "[0]");
        assert_eq!(Message::of_site(&site(Some("other")), &[0; 4]).text, "[0]");
    }

    #[test]
    fn a_message_that_is_a_string_and_nothing_else_is_a_format_too() {
        let byte = Type::Int { bits: 8, signed: true };
        let bare = text(12, 1, byte, true);
        assert_eq!(Message::of_type(&bare, b"100%% wrong\0").text, "100% wrong");
        let message = Message::of_type(&bare, b"index %u\0\0\0\0");
        assert_eq!(message.text, "index %u<missing>");
        assert_eq!(message.notes.len(), 1);
    }

    #[test]
    fn messages_without_a_string_show_their_values() {
        assert_eq!(Message::of_type(&uint(), &[7, 0, 0, 0]).text, "7");
        let named = message(vec![(Some("code"), 0, uint()), (None, 4, uint())]);
        assert_eq!(Message::of_type(&named, &[7, 0, 0, 0, 8, 0, 0, 0]).text, "{code: 7, 8}");
        assert_eq!(Message::of_type(&message(vec![]), &[]).text, "");
    }
}
