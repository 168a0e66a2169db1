//! One message: text, values and bytes.

use crate::value_json;
use serde::{Deserialize, Serialize};
use vkabort_record::decode::{Decoded, decode, guess};
use vkabort_record::escape::{escape_bytes, printable};
use vkabort_record::format::Formatted;
use vkabort_record::message_text::message_text;
use vkabort_record::message_type::Type;
use vkabort_record::site::Site;
use vkabort_record::value::Value;

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
    #[serde(with = "value_json")]
    pub value: Value,
    /// Bytes that no value covers.
    #[serde(with = "digits")]
    pub rest: Vec<u8>,
    /// The whole payload.
    #[serde(with = "digits")]
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
        let Formatted { text, mut notes } = message_text(&decoded.value);
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

/// Bytes as a JSON string of hexadecimal digits.
mod digits {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use vkabort_record::hex::{hex, unhex};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        unhex(&text).ok_or_else(|| D::Error::custom("not a string of hexadecimal digits"))
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
