//! Messages of which nothing is known but their bytes: from a driver's own debug info, or from a shader that was not
//! seen as SPIR-V.
//!
//! GLSL and Slang lay a message out alike, byte for byte: a string, a NUL, NULs up to a multiple of 4 bytes, then
//! the arguments at their scalar alignment. (Slang's string is a `uint` array, its Booleans are `uint`s.) Types have to
//! be guessed from the format; its alternatives are tried until one accounts for every byte: 64-bit values aligned to 8
//! bytes or, as glslang did before 16.6, to 4; `%f` as 32 or 64 bits; `%hd` at its width or widened to 32 bits.

use crate::decode::{Field, Value};
use crate::escape::{escape_bytes, hex, is_text, trim_padding};
use crate::format::apply;
use crate::format::specifier::{Conversion, Piece, parse};
use crate::message::{Decoding, Message};
use crate::scalar::{Scalar, f16_to_f64, sign_extend, uint_from_bytes};

/// How the arguments may be laid out.
#[derive(Clone, Copy)]
struct Layout {
    /// Alignment of 64-bit values.
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

/// Decodes a payload by the conventions of GLSL and Slang, else as words.
pub fn decode(bytes: &[u8]) -> Message {
    leading_text(bytes).map_or_else(|| raw(bytes), |text| conventional(bytes, text))
}

/// The text at the start, without its NULs, if there is one that cannot be mistaken.
fn leading_text(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let text = bytes.get(..end).filter(|text| is_text(text))?;
    // A float or a small integer is a letter or two and then zeros: that alone is no text.
    let letters = std::str::from_utf8(text).ok()?.chars().count();
    (letters >= 4 || letters >= 2 && bytes.len() == 4).then_some(text)
}

fn conventional(bytes: &[u8], text: &[u8]) -> Message {
    let format = escape_bytes(text);
    let conversions: Vec<Conversion<'_>> = parse(&format)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Conversion(conversion) => Some(conversion),
            _ => None,
        })
        .collect();
    // The text's last word holds at least one NUL, unless the whole payload is text.
    let start = (text.len() + 1).next_multiple_of(4).min(bytes.len());
    let attempts: Vec<(Vec<Field>, usize, bool)> = LAYOUTS
        .iter()
        .map(|&layout| arguments(bytes, start, &conversions, layout))
        .collect();
    let exact = attempts
        .iter()
        .position(|(_, end, whole)| *whole && *end == bytes.len());
    let whole = attempts.iter().position(|(_, _, whole)| *whole);
    let chosen = exact.or(whole).unwrap_or(0);
    let (fields, end) = attempts
        .into_iter()
        .nth(chosen)
        .map_or((Vec::new(), start), |(fields, end, _)| (fields, end));
    let rest = bytes.get(end..).unwrap_or_default();
    let formatted = apply(&format, &fields);
    let mut notes = formatted.notes;
    let mut text = formatted.text;
    if rest.iter().any(|&b| b != 0) {
        text.push_str(&format!(" [{} more bytes: {}]", rest.len(), preview(rest)));
        notes.push("the types of the arguments are not known: their bytes stand in brackets".to_owned());
    }
    let mut members = vec![Field {
        name: None,
        offset: 0,
        value: Value::Text(format),
    }];
    members.extend(fields);
    Message {
        text,
        decoding: Decoding::Convention,
        notes,
        value: Value::Struct { name: None, members },
        rest: rest.to_vec(),
        bytes: bytes.to_vec(),
    }
}

/// Reads one argument per conversion; where they end; whether all were there.
fn arguments(bytes: &[u8], start: usize, conversions: &[Conversion<'_>], layout: Layout) -> (Vec<Field>, usize, bool) {
    let mut fields = Vec::new();
    let mut at = start;
    for conversion in conversions {
        if conversion.letter == 's' {
            let tail = bytes.get(at..).unwrap_or_default();
            let length = tail.iter().position(|&b| b == 0).unwrap_or(tail.len());
            fields.push(Field {
                name: None,
                offset: at as u32,
                value: Value::Text(escape_bytes(trim_padding(tail.get(..length).unwrap_or_default()))),
            });
            at = at.saturating_add(length + 1).next_multiple_of(4).min(bytes.len());
            continue;
        }
        let kind = Kind::of(conversion, layout);
        let size = kind.bytes();
        let alignment = if size == 8 { layout.wide_alignment } else { size };
        let offset = at.next_multiple_of(alignment);
        let count = conversion.vector.unwrap_or(1);
        let Some(held) = bytes.get(offset..offset + size * count) else {
            return (fields, at, false);
        };
        let scalars: Vec<Scalar> = held.chunks_exact(size).map(|b| kind.read(b)).collect();
        let value = match (conversion.vector, scalars.as_slice()) {
            (None, &[scalar]) => Value::Scalar(scalar),
            _ => Value::Vector(scalars),
        };
        fields.push(Field {
            name: None,
            offset: offset as u32,
            value,
        });
        at = offset + size * count;
    }
    (fields, at, true)
}

/// What a conversion's argument is taken for.
#[derive(Clone, Copy)]
enum Kind {
    Int(u32),
    Uint(u32),
    Float(u32),
    Pointer,
}

impl Kind {
    fn of(conversion: &Conversion<'_>, layout: Layout) -> Self {
        let long = conversion.length.starts_with('l');
        let bits = match conversion.length {
            "hh" if !layout.widened => 8,
            "h" if !layout.widened => 16,
            _ if long || conversion.l_follows && "uxX".contains(conversion.letter) => 64,
            _ => 32,
        };
        match conversion.letter {
            'd' | 'i' => Self::Int(bits),
            'p' => Self::Pointer,
            'u' | 'o' | 'x' | 'X' | 'c' => Self::Uint(bits),
            _ if layout.doubles || bits == 64 => Self::Float(64),
            _ => Self::Float(if bits == 16 { 16 } else { 32 }),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Int(bits) | Self::Uint(bits) | Self::Float(bits) => bits as usize / 8,
            Self::Pointer => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> Scalar {
        let pattern = uint_from_bytes(bytes);
        match self {
            Self::Int(bits) => Scalar::Int {
                bits,
                value: sign_extend(pattern, bits),
            },
            Self::Uint(bits) => Scalar::Uint { bits, value: pattern },
            Self::Pointer => Scalar::Pointer(pattern),
            Self::Float(bits) => Scalar::Float {
                bits,
                value: match bits {
                    16 => f16_to_f64(pattern as u16),
                    32 => f64::from(f32::from_bits(pattern as u32)),
                    _ => f64::from_bits(pattern),
                },
            },
        }
    }
}

fn raw(bytes: &[u8]) -> Message {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder().to_vec();
    let elements: Vec<Value> = words
        .map(|b| {
            Value::Scalar(Scalar::Uint {
                bits: 32,
                value: uint_from_bytes(b),
            })
        })
        .collect();
    let text = match bytes.len() {
        0 => String::new(),
        4 => format!("{} ({})", uint_from_bytes(bytes), preview(bytes)),
        n => format!("{n} bytes: {}", preview(bytes)),
    };
    Message {
        text,
        decoding: Decoding::Raw,
        notes: Vec::new(),
        value: Value::Array(elements),
        rest,
        bytes: bytes.to_vec(),
    }
}

/// Words as `0x00000007`, at most eight of them; bytes that fill no word as they are.
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
        let message = decode(bytes);
        assert_eq!(message.bytes, bytes);
        message.text
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
        assert_eq!(decode(&bytes).decoding, Decoding::Convention);
        assert!(decode(&bytes).rest.is_empty());
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
        assert_eq!(decode(&[0xff; 100]).decoding, Decoding::Raw);
        assert_eq!(
            decode(&65u32.to_le_bytes()).decoding,
            Decoding::Raw,
            "one letter is a number"
        );
        assert_eq!(text(b"ab\0\0"), "ab");
    }

    #[test]
    fn every_prefix_of_a_message_is_read_without_panic() {
        let bytes = payload("%s %lu %v4lf %hhd %p %s", &[&[0xff; 61]]);
        for cut in 0..=bytes.len() {
            assert_eq!(decode(&bytes[..cut]).bytes.len(), cut);
        }
    }
}
