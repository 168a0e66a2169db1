//! The grammar of format strings: text and conversion specifiers.
//!
//! ```text
//! %[flags][width][.precision][vN][length]conversion      flags: - + space # 0     length: h hh l ll
//! %[flags][width][.precision]Nv[length]conversion        N: 2, 3 or 4             conversion: diouxXaAeEfFgGcsp%
//! ```
//!
//! The length of a 64-bit integer may also follow the letter: `%ul`, `%xl`, `%dl`. That `l` belongs to the specifier only
//! if the argument has 64 bits, so [`Conversion::l_follows`] reports it and it stays in the text.

use crate::format::printf::{FieldSpec, MAX_FIELD};

/// A piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text to copy; `%%` as `%`.
    Text(&'a str),
    /// A `%` that does not start a specifier, up to the character that rules it out.
    Stray(&'a str),
    /// A conversion specifier.
    Conversion(Conversion<'a>),
}

/// One conversion specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversion<'a> {
    /// The specifier as it is in the format.
    pub(crate) source: &'a str,
    /// Flags, width, precision.
    pub(crate) field: FieldSpec,
    /// Number of components of a vector, or 1.
    pub(crate) components: usize,
    /// `h`, `hh`, `l`, `ll` or empty.
    pub(crate) length: &'a str,
    /// Conversion letter.
    pub(crate) letter: char,
    /// The next character of the format is an `l`.
    pub(crate) l_follows: bool,
}

/// The pieces of `format` in order; together they cover it.
pub(crate) fn parse(format: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        let (text, tail) = rest.split_at(percent);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        rest = if let Some(rest) = tail.strip_prefix("%%") {
            pieces.push(Piece::Text(&tail[..1]));
            rest
        } else {
            let (piece, rest) = specifier(tail);
            pieces.push(piece);
            rest
        };
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Whether `format` has a conversion specifier.
pub(crate) fn has_conversion(format: &str) -> bool {
    let pieces = parse(format);
    pieces.iter().any(|piece| matches!(piece, Piece::Conversion(_)))
}

/// The specifier at the start of `tail`, and the rest.
fn specifier(tail: &str) -> (Piece<'_>, &str) {
    let mut at = Cursor { text: tail, index: 1 };
    let mut field = FieldSpec::default();
    while let Some(flag) = at.take(|c| "-+ #0".contains(c)) {
        match flag {
            '-' => field.left = true,
            '+' => field.plus = true,
            ' ' => field.space = true,
            '#' => field.alternate = true,
            _ => field.zero = true,
        }
    }
    let mut width = at.digits();
    let mut precision = at.take(|c| c == '.').map(|_| at.digits());
    let mut components = 1;
    if at.take(|c| c == 'v').is_some() {
        let count = at.digits();
        let vector = match (count.is_empty(), &mut precision) {
            (false, _) => count.parse().ok(),
            // `%2v`: the last digit before the v is the count; the digits before it are the width or the precision.
            (true, Some(digits)) => take_last_digit(digits),
            (true, None) => take_last_digit(&mut width),
        };
        components = vector.unwrap_or(0);
        if !(2..=4).contains(&components) {
            return at.stray();
        }
    }
    field.width = number(width);
    field.precision = precision.map(number);
    let length = at.length();
    let Some(letter) = at.take(|c| "diouxXaAeEfFgGcsp".contains(c)) else {
        return at.stray();
    };
    let (source, rest) = at.split();
    let conversion = Conversion {
        source,
        field,
        components,
        length,
        letter,
        l_follows: rest.starts_with('l'),
    };
    (Piece::Conversion(conversion), rest)
}

fn number(digits: &str) -> usize {
    if digits.is_empty() {
        0
    } else {
        digits.parse().unwrap_or(MAX_FIELD).min(MAX_FIELD)
    }
}

fn take_last_digit(digits: &mut &str) -> Option<usize> {
    let last = digits.len().checked_sub(1)?;
    let (before, digit) = digits.split_at_checked(last)?;
    *digits = before;
    digit.parse().ok()
}

/// A position in an ASCII prefix of `text`.
struct Cursor<'a> {
    text: &'a str,
    index: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.index..).unwrap_or_default()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.rest().chars().next().filter(|&c| wanted(c))?;
        self.index += c.len_utf8();
        Some(c)
    }

    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        self.index += end;
        rest.get(..end).unwrap_or_default()
    }

    fn length(&mut self) -> &'a str {
        let rest = self.rest();
        let lengths = ["hh", "ll", "h", "l"];
        let length = lengths.into_iter().find(|l| rest.starts_with(l)).unwrap_or_default();
        self.index += length.len();
        length
    }

    fn split(&self) -> (&'a str, &'a str) {
        self.text.split_at_checked(self.index).unwrap_or((self.text, ""))
    }

    fn stray(&self) -> (Piece<'a>, &'a str) {
        let (source, rest) = self.split();
        (Piece::Stray(source), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(format: &str) -> Conversion<'_> {
        match parse(format).as_slice() {
            [Piece::Conversion(conversion)] => conversion.clone(),
            other => panic!("{format}: {other:?}"),
        }
    }

    #[test]
    fn a_specifier_has_its_flags_width_precision_length_and_letter() {
        let c = only("%-+ #012.34llx");
        let f = c.field;
        assert!(f.left && f.plus && f.space && f.alternate && f.zero);
        assert_eq!((f.width, f.precision, c.length, c.letter), (12, Some(34), "ll", 'x'));
        assert_eq!(only("%.f").field.precision, Some(0));
        assert_eq!(only("%hhu").length, "hh");
        assert_eq!(only("%99999999999999999999d").field.width, MAX_FIELD);
    }

    #[test]
    fn vectors_have_both_spellings() {
        assert_eq!(only("%v2f").components, 2);
        assert_eq!(only("%2vf").components, 2);
        let c = only("%1.2v4f");
        assert_eq!((c.field.width, c.field.precision, c.components), (1, Some(2), 4));
        let c = only("%8.33vf");
        assert_eq!((c.field.width, c.field.precision, c.components), (8, Some(3), 3));
        let c = only("%103vlu");
        assert_eq!((c.field.width, c.components, c.length), (10, 3, "l"));
        assert!(matches!(
            parse("%v5f").as_slice(),
            [Piece::Stray("%v5"), Piece::Text("f")]
        ));
        assert!(matches!(
            parse("%vf").as_slice(),
            [Piece::Stray("%v"), Piece::Text("f")]
        ));
    }

    #[test]
    fn stray_percent_signs_stay_in_the_text() {
        assert_eq!(
            parse("100%% %y %"),
            [
                Piece::Text("100"),
                Piece::Text("%"),
                Piece::Text(" "),
                Piece::Stray("%"),
                Piece::Text("y "),
                Piece::Stray("%")
            ]
        );
        assert!(matches!(parse("%é").as_slice(), [Piece::Stray("%"), Piece::Text("é")]));
    }

    #[test]
    fn a_following_l_is_reported_and_kept() {
        assert!(matches!(
            parse("%ul").as_slice(),
            [Piece::Conversion(Conversion { l_follows: true, .. }), Piece::Text("l")]
        ));
    }

    #[test]
    fn the_pieces_cover_the_format() {
        for format in ["", "a%db%%c%-5.3v2lfd%", "%%%", "é%é%5é"] {
            let joined: String = parse(format)
                .iter()
                .map(|p| match p {
                    Piece::Text("%") => "%%",
                    Piece::Text(t) | Piece::Stray(t) => t,
                    Piece::Conversion(c) => c.source,
                })
                .collect();
            assert_eq!(joined, format);
        }
    }
}
