//! Finds lines of texts by the file names and numbers of debug information.

use super::line_numbers::{File, Stretch};
use super::macros::Macros;
use super::scopes::Scopes;
use super::text::Text;
use rustc_hash::FxHashMap as HashMap;
use std::cell::OnceCell;

/// A stretch: its text, and its number in the text.
type StretchIndex = (usize, usize);

/// Line numbers from `start` to the start of the next piece.
#[derive(Debug)]
struct Piece {
    start: i64,
    /// The stretch that alone has lines with these numbers.
    only: Option<StretchIndex>,
    /// Whether several have.
    is_ambiguous: bool,
}

/// Texts, and the stretches of their lines by number.
#[derive(Debug)]
pub(super) struct LineTable {
    texts: Vec<Text>,
    by_file: HashMap<String, Vec<Piece>>,
    /// Of stretches whose file is not known.
    of_any_file: Vec<Piece>,
    macros: OnceCell<Macros>,
    scopes: OnceCell<Vec<Option<Scopes>>>,
}

/// A line of a text.
pub(super) struct Line<'t> {
    pub(super) text: &'t Text,
    /// Number of the text among all texts.
    pub(super) number: usize,
    pub(super) stretch: &'t Stretch,
    /// Position in the text, counted from 1.
    pub(super) position: u32,
}

impl LineTable {
    /// A table of the texts of files. O(texts), and O(n log n) in the number of `#line` directives.
    pub(super) fn new(files: Vec<(String, String)>) -> Self {
        let mut texts = Vec::with_capacity(files.len());
        let mut by_file: HashMap<String, Vec<StretchIndex>> = HashMap::default();
        let mut of_any_file = Vec::new();
        for (own, text) in files {
            let text = Text::new(text);
            for (number, stretch) in text.stretches.iter().enumerate() {
                let of_file = match &stretch.file {
                    File::Own => by_file.entry(normalised(&own)).or_default(),
                    File::Named(name) => by_file.entry(normalised(name)).or_default(),
                    File::Unknown => &mut of_any_file,
                };
                of_file.push((texts.len(), number));
            }
            texts.push(text);
        }
        let by_file = by_file
            .into_iter()
            .map(|(name, of_file)| (name, pieces(&texts, &of_file)));
        Self {
            by_file: by_file.collect(),
            of_any_file: pieces(&texts, &of_any_file),
            texts,
            macros: OnceCell::new(),
            scopes: OnceCell::new(),
        }
    }

    /// The macros of the texts, read at the first call.
    pub(super) fn macros(&self) -> &Macros {
        self.macros.get_or_init(|| Macros::new(&self.texts))
    }

    /// The scopes of a text, if they are certain. All are read at the first call.
    pub(super) fn scopes(&self, text: usize) -> Option<&Scopes> {
        let read = || self.texts.iter().map(|text| Scopes::new(&text.text)).collect();
        self.scopes.get_or_init(read).get(text)?.as_ref()
    }

    /// The line of a file with a number. `None` if no line or several lines may have the
    /// number. O(log n).
    pub(super) fn find(&self, file: &str, number: u32) -> Option<Line<'_>> {
        let of_file = self.by_file.get(&normalised(file));
        let found = [of_file, Some(&self.of_any_file)].map(|pieces| piece_at(pieces?, i64::from(number)));
        if found.iter().flatten().any(|piece| piece.is_ambiguous) {
            return None;
        }
        let (text_number, stretch) = match found.map(|piece| piece.and_then(|piece| piece.only)) {
            [Some(only), None] | [None, Some(only)] => only,
            _ => return None,
        };
        let text = self.texts.get(text_number)?;
        let stretch = text.stretches.get(stretch)?;
        Some(Line {
            text,
            number: text_number,
            stretch,
            position: stretch.position(number)?,
        })
    }
}

/// A file name in the form in which names are compared: compilers leave `\\` of a directive, or read it as `\`.
fn normalised(name: &str) -> String {
    name.replace("\\\\", "\\")
}

/// The piece that has a number.
fn piece_at(pieces: &[Piece], number: i64) -> Option<&Piece> {
    let behind = pieces.partition_point(|piece| piece.start <= number);
    pieces.get(behind.checked_sub(1)?)
}

/// The pieces of stretches, sorted by number.
fn pieces(texts: &[Text], stretches: &[StretchIndex]) -> Vec<Piece> {
    let mut borders = Vec::with_capacity(2 * stretches.len());
    for (at, (text, stretch)) in stretches.iter().enumerate() {
        let Some(stretch) = texts.get(*text).and_then(|text| text.stretches.get(*stretch)) else {
            continue;
        };
        match stretch.shift {
            Some(shift) => {
                borders.push((i64::from(stretch.code.start) + shift, at, true));
                borders.push((i64::from(stretch.code.end) + shift, at, false));
            }
            // Any number, so that none is certain.
            None => borders.extend([(i64::MIN, at, true), (i64::MIN, at, true)]),
        }
    }
    borders.sort_unstable();
    let mut pieces: Vec<Piece> = Vec::new();
    // Number of the stretches here, and the exclusive or of their positions.
    let (mut count, mut combined) = (0_usize, 0);
    for (start, at, begins) in borders {
        count = if begins { count + 1 } else { count.saturating_sub(1) };
        combined ^= at;
        let piece = Piece {
            start,
            only: stretches.get(combined).copied().filter(|_| count == 1),
            is_ambiguous: count > 1,
        };
        match pieces.last_mut() {
            Some(last) if last.start == start => *last = piece,
            _ => pieces.push(piece),
        }
    }
    pieces
}
