//! Messages without a message type: from a driver's own debug info, or from a shader whose SPIR-V the layer never saw.
//!
//! SPV_KHR_abort leaves the format of messages to shaders (issue 6), but GLSL ("VK_KHR_shader_abort", GLSL mapping) and
//! Slang lay them out alike: a string, a NUL, NULs up to a multiple of 4 bytes, then the arguments at their scalar
//! alignment. (Slang's string is a `uint` array, its Booleans are `uint`s.) The types are guessed from the format string.
//! Of several possible layouts the first that accounts for every byte wins: 64-bit values aligned to 8 bytes or, as in
//! glslang before 16.6, to 4; `%f` as 32 or 64 bits; `%hd` in its own width or widened to 32 bits.

use crate::escape::{escape_bytes, is_text, trim_padding};
use crate::format::apply;
use crate::format::specifier::{Conversion, Piece, parse};
use crate::hex::hex;
use crate::scalar::{Scalar, uint_from_bytes};
use crate::scalar_type::ScalarType;
use crate::value::{Field, Value};

/// A payload decoded without a message type.
pub struct Guess {
    /// Whether the payload follows the convention; otherwise it is shown as words.
    pub follows_convention: bool,
    /// The message as text.
    pub text: String,
    /// Disagreements between format and bytes, one sentence each.
    pub notes: Vec<String>,
    /// The values.
    pub value: Value,
    /// Bytes that no value covers.
    pub rest: Vec<u8>,
}

/// Decodes a payload by the convention of GLSL and Slang, or else as words.
pub fn guess(bytes: &[u8]) -> Guess {
    leading_text(bytes).map_or_else(|| words(bytes), |text| by_convention(bytes, text))
}

/// A possible layout of the arguments.
#[derive(Clone, Copy)]
struct Layout {
    /// Alignment of 64-bit values, in bytes.
    wide_alignment: usize,
    /// `h` and `hh` are stored in 32 bits.
    widened: bool,
    /// `%f` without `l` is a double.
    doubles: bool,
}

/// In the order in which they are tried.
const LAYOUTS: [Layout; 6] = [
    Layout::new(8, false, false),
    Layout::new(4, false, false),
    Layout::new(8, true, false),
    Layout::new(4, true, false),
    Layout::new(8, false, true),
    Layout::new(4, false, true),
];

impl Layout {
    const fn new(wide_alignment: usize, widened: bool, doubles: bool) -> Self {
        Self {
            wide_alignment,
            widened,
            doubles,
        }
    }
}

/// The text at the start of a payload, without its NULs, if it cannot be mistaken for numbers.
fn leading_text(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let text = bytes.get(..end).filter(|text| is_text(text))?;
    // The bytes of a float or a small integer can read as a letter or two, followed by zeros.
    let letters = std::str::from_utf8(text).ok()?.chars().count();
    (letters >= 4 || letters >= 2 && bytes.len() == 4).then_some(text)
}

fn by_convention(bytes: &[u8], text: &[u8]) -> Guess {
    let format = escape_bytes(text);
    let pieces = parse(&format);
    let conversions: Vec<&Conversion<'_>> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Conversion(conversion) => Some(conversion),
            _ => None,
        })
        .collect();
    // The text's last word holds at least one NUL, unless the whole payload is text.
    let start = (text.len() + 1).next_multiple_of(4).min(bytes.len());
    let attempts = LAYOUTS.map(|layout| read_arguments(bytes, start, &conversions, layout));
    let exact = attempts.iter().position(|a| a.complete && a.end == bytes.len());
    let chosen = exact.or_else(|| attempts.iter().position(|a| a.complete)).unwrap_or(0);
    let Arguments { fields, end, .. } = attempts.into_iter().nth(chosen).unwrap_or_default();
    let rest = bytes.get(end..).unwrap_or_default();
    let formatted = apply(&format, &fields);
    let mut notes = formatted.notes;
    let mut text = formatted.text;
    if rest.iter().any(|&b| b != 0) {
        text.push_str(&format!(" [{} more bytes: {}]", rest.len(), preview(rest)));
        notes.push("the argument types are unknown: their bytes are in brackets".to_owned());
    }
    let mut members = vec![Field::unnamed(0, Value::Text(format))];
    members.extend(fields);
    Guess {
        follows_convention: true,
        text,
        notes,
        value: Value::Struct { name: None, members },
        rest: rest.to_vec(),
    }
}

/// The arguments of a format string, read by one layout.
#[derive(Default)]
struct Arguments {
    fields: Vec<Field>,
    /// Byte offset of their end.
    end: usize,
    /// Whether the payload holds all of them.
    complete: bool,
}

/// Reads one argument per conversion, from byte `start` on.
fn read_arguments(bytes: &[u8], start: usize, conversions: &[&Conversion<'_>], layout: Layout) -> Arguments {
    let mut fields = Vec::new();
    let mut end = start;
    for conversion in conversions {
        if conversion.letter == 's' {
            let tail = bytes.get(end..).unwrap_or_default();
            let length = tail.iter().position(|&b| b == 0).unwrap_or(tail.len());
            let text = escape_bytes(trim_padding(tail.get(..length).unwrap_or_default()));
            fields.push(Field::unnamed(end as u32, Value::Text(text)));
            end = end.saturating_add(length + 1).next_multiple_of(4).min(bytes.len());
            continue;
        }
        let ty = argument_type(conversion, layout);
        let size = ty.bytes() as usize;
        let alignment = if size == 8 { layout.wide_alignment } else { size };
        let offset = end.next_multiple_of(alignment);
        let count = conversion.components;
        let Some(argument) = bytes.get(offset..offset + size * count) else {
            return Arguments {
                fields,
                end,
                complete: false,
            };
        };
        let scalars: Vec<Scalar> = argument.chunks_exact(size).map(|b| Scalar::from_bytes(ty, b)).collect();
        let value = match *scalars.as_slice() {
            [scalar] => Value::Scalar(scalar),
            _ => Value::Vector(scalars),
        };
        fields.push(Field::unnamed(offset as u32, value));
        end = offset + size * count;
    }
    Arguments {
        fields,
        end,
        complete: true,
    }
}

/// The type of a conversion's argument.
fn argument_type(conversion: &Conversion<'_>, layout: Layout) -> ScalarType {
    use ScalarType::*;
    let long = conversion.length.starts_with('l');
    let bits = match conversion.length {
        "hh" if !layout.widened => 8,
        "h" if !layout.widened => 16,
        _ if long || conversion.l_follows && "uxX".contains(conversion.letter) => 64,
        _ => 32,
    };
    match (conversion.letter, bits) {
        ('p', _) => Pointer,
        ('d' | 'i', bits) => ScalarType::from_spirv_int(bits, true).unwrap_or(I32),
        ('u' | 'o' | 'x' | 'X' | 'c', bits) => ScalarType::from_spirv_int(bits, false).unwrap_or(U32),
        (_, 64) => F64,
        _ if layout.doubles => F64,
        (_, 16) => F16,
        _ => F32,
    }
}

fn words(bytes: &[u8]) -> Guess {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder().to_vec();
    let elements = words.map(|b| Value::Scalar(Scalar::from_bytes(ScalarType::U32, b)));
    let text = match bytes.len() {
        0 => String::new(),
        4 => format!("{} ({})", uint_from_bytes(bytes), preview(bytes)),
        n => format!("{n} bytes: {}", preview(bytes)),
    };
    Guess {
        follows_convention: false,
        text,
        notes: Vec::new(),
        value: Value::Array(elements.collect()),
        rest,
    }
}

/// Up to eight words as `0x00000007`, and the bytes of an incomplete word.
fn preview(bytes: &[u8]) -> String {
    const WORDS: usize = 8;
    let mut parts: Vec<String> = bytes
        .chunks(4)
        .take(WORDS)
        .map(|b| match b.len() {
            4 => format!("{:#010x}", uint_from_bytes(b)),
            _ => hex(b),
        })
        .collect();
    if bytes.len() > WORDS * 4 {
        parts.push("...".to_owned());
    }
    parts.join(" ")
}

#[cfg(test)]
#[path = "convention_tests.rs"]
mod tests;
