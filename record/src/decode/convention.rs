//! Messages without a message type: from a driver's own debug info, or from a shader whose SPIR-V the layer never saw.
//!
//! GLSL and Slang lay a message out alike, byte for byte: a string, a NUL, NULs up to a multiple of 4 bytes, then
//! the arguments at their scalar alignment. (Slang's string is a `uint` array, its Booleans are `uint`s.) The types are
//! guessed from the format string. Where several layouts are possible the first that accounts for every byte wins: 64-bit
//! values aligned to 8 bytes or, as in glslang before 16.6, to 4; `%f` as 32 or 64 bits; `%hd` in its own width or
//! widened to 32 bits.

use crate::escape::{escape_bytes, is_text, trim_padding};
use crate::format::apply;
use crate::format::specifier::{Conversion, Piece, parse};
use crate::hex::hex;
use crate::scalar::{Scalar, uint_from_bytes};
use crate::scalar_type::ScalarType;
use crate::value::{Field, Value};

/// A payload decoded without a message type.
pub(crate) struct Guess {
    /// Whether the payload follows the convention; otherwise it is shown as words.
    pub(crate) follows_convention: bool,
    /// The message as text.
    pub(crate) text: String,
    /// Disagreements between format and bytes, one sentence each.
    pub(crate) notes: Vec<String>,
    /// The values.
    pub(crate) value: Value,
    /// Bytes that no value covers.
    pub(crate) rest: Vec<u8>,
}

/// Decodes a payload by the convention of GLSL and Slang, or else as words.
pub(crate) fn guess(bytes: &[u8]) -> Guess {
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
        let count = conversion.vector.unwrap_or(1);
        let Some(argument) = bytes.get(offset..offset + size * count) else {
            return Arguments {
                fields,
                end,
                complete: false,
            };
        };
        let scalars: Vec<Scalar> = argument.chunks_exact(size).map(|b| Scalar::from_bytes(ty, b)).collect();
        let value = match (conversion.vector, scalars.as_slice()) {
            (None, &[scalar]) => Value::Scalar(scalar),
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
mod tests {
    use super::*;

    fn payload(text: &str, arguments: &[&[u8]]) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(arguments.concat());
        bytes
    }

    fn text(bytes: &[u8]) -> String {
        guess(bytes).text
    }

    #[test]
    fn a_leading_format_decides_the_types() {
        let bytes = payload(
            "bad index %u in %v2f, %c",
            &[
                &7u32.to_le_bytes(),
                &0.5f32.to_le_bytes(),
                &(-1.5f32).to_le_bytes(),
                &65u32.to_le_bytes(),
            ],
        );
        assert_eq!(text(&bytes), "bad index 7 in 0.500000, -1.500000, A");
        assert!(guess(&bytes).follows_convention);
        assert!(guess(&bytes).rest.is_empty());
    }

    #[test]
    fn sixty_four_bits_align_to_eight_and_else_to_four() {
        let wide = 0x1_0000_0002u64.to_le_bytes();
        let aligned = payload("abc %lu %d", &[&[0; 4], &wide, &(-1i32).to_le_bytes()]);
        assert_eq!(aligned.len(), 12 + 4 + 8 + 4);
        assert_eq!(text(&aligned), "abc 4294967298 -1");
        let packed = payload("abc %lu %d", &[&wide, &(-1i32).to_le_bytes()]);
        assert_eq!(text(&packed), "abc 4294967298 -1");
        let behind = payload("abcd %ul", &[&[0; 4], &wide]);
        assert_eq!(text(&behind), "abcd 4294967298");
    }

    #[test]
    fn doubles_and_narrow_integers_are_found_by_the_size() {
        let double = payload("half %.2f", &[&[0; 4], &0.25f64.to_le_bytes()]);
        assert_eq!(text(&double), "half 0.25");
        let narrow = payload("%hhu%hd", &[&[200, 0], &(-2i16).to_le_bytes()]);
        assert_eq!(text(&narrow), "200-2");
        let widened = payload("%hhu%hd", &[&200u32.to_le_bytes(), &(-2i32).to_le_bytes()]);
        assert_eq!(text(&widened), "200-2");
    }

    #[test]
    fn strings_as_arguments_end_at_their_nul() {
        let bytes = payload("file %s line %u", &[b"a.comp\0\0", &3u32.to_le_bytes()]);
        assert_eq!(text(&bytes), "file a.comp line 3");
    }

    #[test]
    fn text_without_conversions_shows_the_bytes_behind_it() {
        assert_eq!(text(&payload("out of bounds", &[])), "out of bounds");
        assert_eq!(text(b"no nul at all"), "no nul at all");
        assert_eq!(
            text(&payload("limit", &[&7u32.to_le_bytes(), &[1, 2]])),
            "limit [6 more bytes: 0x00000007 0102]"
        );
        assert_eq!(text(&payload("at %u", &[])), "at %u<missing>");
    }

    #[test]
    fn bytes_without_text_are_words() {
        assert_eq!(text(&7u32.to_le_bytes()), "7 (0x00000007)");
        assert_eq!(text(&1.0f32.to_le_bytes()), "1065353216 (0x3f800000)");
        assert_eq!(text(&[0xef, 0xbe, 0xad, 0xde, 9]), "5 bytes: 0xdeadbeef 09");
        assert_eq!(text(&[]), "");
        assert!(!guess(&[0xff; 100]).follows_convention);
        let letter = guess(&65u32.to_le_bytes());
        assert!(!letter.follows_convention, "one letter is a number");
        assert_eq!(text(b"ab\0\0"), "ab");
    }

    #[test]
    fn every_prefix_of_a_message_is_read_without_panic() {
        let bytes = payload("%s %lu %v4lf %hhd %p %s", &[&[0xff; 61]]);
        for cut in 0..=bytes.len() {
            assert!(bytes[..cut].ends_with(&guess(&bytes[..cut]).rest));
        }
    }
}
