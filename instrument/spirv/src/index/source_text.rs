//! Texts of source files, by line, and the lines around a statement.

mod line_numbers;
mod line_table;
mod macros;
mod scopes;
mod statements;
mod text;
mod tokens;

use line_table::{Line, LineTable};
use std::ops::Range;
use tokens::Tokens;
use vkabort_record::site::{Location, Snippet, Span};

/// Bytes of one of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    text: usize,
    pub range: Range<usize>,
}

impl Extent {
    /// Whether it may have something of another one.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.text != other.text || self.range.start <= other.range.end && other.range.start <= self.range.end
    }

    /// Whether it has all of another one.
    pub fn contains(&self, other: &Self) -> bool {
        self.text == other.text && self.range.start <= other.range.start && other.range.end <= self.range.end
    }
}

/// The texts of a module's source files, read and split into lines once.
#[derive(Debug, Default)]
pub struct Texts {
    read: Option<LineTable>,
}

impl Texts {
    /// Line `number` of a file. Calls `read` for the names and texts of all files at the first request. `None` if no line has this
    /// number, or if several may have it.
    pub(super) fn line(
        &mut self,
        file: &str,
        number: u32,
        read: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<String> {
        let table = self.read.get_or_insert_with(|| LineTable::new(read()));
        let line = table.find(file, number)?;
        line.text.line(line.position)
    }

    /// The lines around `location`, whose files [`Texts::line`] has read. A location without a column moves to the start of its
    /// statement.
    pub fn snippet(&self, location: &mut Location) -> Option<Snippet> {
        let Line {
            text,
            stretch,
            position,
            ..
        } = self.find(location)?;
        let snippet = text.snippet(stretch, position, location.column)?;
        if let (
            0,
            Some(Span {
                start: [number, column],
                ..
            }),
        ) = (location.column, snippet.statement)
        {
            location.source = text.line(stretch.position(number)?);
            location.line = number;
            location.column = column;
        }
        Some(snippet)
    }

    /// Whether a location is in the definition of a macro.
    pub fn is_in_macro(&self, location: &Location) -> bool {
        self.find(location)
            .is_some_and(|line| line.text.definition(line.position).is_some())
    }

    /// From the declaration of a name to the end of its scope. `None` if that is not certain.
    pub fn scope(&self, declaration: &Location, name: &str) -> Option<Extent> {
        let extent = self.extent(declaration)?;
        let scopes = self.read.as_ref()?.scopes(extent.text)?;
        let end = |offset| scopes.end_at(offset).unwrap_or(usize::MAX);
        let start = extent.range.start;
        let range = match declaration.column {
            0 => {
                let line = self.find(declaration)?.text.text.get(extent.range)?;
                let words = Tokens::new(line).filter(|token| line.get(token.range.clone()) == Some(name));
                let mut offsets = words.map(|token| start + token.range.start);
                let first = offsets.next()?;
                let is_certain = offsets.all(|offset| end(offset) == end(first));
                is_certain.then(|| first..end(first))?
            }
            _ => start..end(start),
        };
        Some(Extent { range, ..extent })
    }

    /// A location with a column, or all of the line of another one. `None` in the definition of a macro.
    pub fn extent(&self, location: &Location) -> Option<Extent> {
        let Line {
            text, number, position, ..
        } = self
            .find(location)
            .filter(|line| line.text.definition(line.position).is_none())?;
        let line = text.range(position)?;
        let range = match location.column {
            0 => line,
            column => {
                let at = text.offset(&line, column)?;
                at..at
            }
        };
        Some(Extent { text: number, range })
    }

    /// The uses, by their lines and columns, of the macro whose definition has a location, in the function that begins at another.
    /// Ascending.
    pub fn uses_of_macro(&self, location: &Location, function: &Location) -> Vec<Location> {
        let Some((definition, start)) = self.find(location).zip(self.find(function)) else {
            return Vec::new();
        };
        let table = self.read.iter();
        let offsets = table.flat_map(|table| {
            let line = definition.text.definition(definition.position)?;
            let name = table.macros().name(definition.number, line)?;
            let start_offset = start.text.range(start.position)?.start;
            Some(table.macros().uses_behind(name, start.number, start_offset))
        });
        let places = offsets.flatten().filter_map(|offset| {
            let [position, column] = start.text.position(offset)?;
            let line = start
                .stretch
                .number(position)
                .filter(|_| start.stretch.lines.contains(&position))?;
            Some(Location {
                file: function.file.clone(),
                line,
                column,
                source: start.text.line(position),
            })
        });
        places.collect()
    }

    fn find(&self, location: &Location) -> Option<Line<'_>> {
        self.read.as_ref()?.find(&location.file, location.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Texts {
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Texts {
            read: Some(LineTable::new(files.collect())),
        }
    }

    fn location(file: &str, line: u32, column: u32) -> Location {
        Location {
            file: file.to_owned(),
            line,
            column,
            source: None,
        }
    }

    #[test]
    fn a_location_without_a_column_moves_to_its_statement() {
        let texts = texts(&[("f", "abort(1,\n  2);\n")]);
        let mut at = location("f", 2, 0);
        assert!(texts.snippet(&mut at).is_some());
        assert_eq!((at.line, at.column), (1, 1));
        assert_eq!(at.source.as_deref(), Some("abort(1,"));
        at = location("f", 2, 3);
        assert!(texts.snippet(&mut at).is_some());
        assert_eq!(at.line, 2);
        for (file, line) in [("g", 2), ("f", 0), ("f", 3), ("f", u32::MAX)] {
            assert_eq!(texts.snippet(&mut location(file, line, 0)), None, "{file}:{line}");
        }
    }

    #[test]
    fn lines_have_the_numbers_of_directives() {
        let main = "// a\n#line 1\na;\nb;\n#line 10 \"part\"\nc(\n 1);\nd;\n#line 3\ne;\n";
        let mut texts = texts(&[("main", main), ("other", "f;\n#line 20 \"part\"\ng;\n")]);
        let mut line = |file: &str, number| texts.line(file, number, Vec::new);
        assert_eq!(line("main", 1).as_deref(), Some("a;"));
        assert_eq!(line("main", 3), None);
        assert_eq!(line("part", 3).as_deref(), Some("e;"));
        assert_eq!(line("part", 20).as_deref(), Some("g;"));
        assert_eq!(line("other", 1).as_deref(), Some("f;"));
        let mut at = location("part", 11, 0);
        let snippet = texts.snippet(&mut at).expect("the line exists");
        assert_eq!((at.line, at.column, at.source.as_deref()), (10, 1, Some("c(")));
        // No lines of other stretches, whose numbers do not follow.
        assert_eq!((snippet.first_line, snippet.lines.len()), (10, 3));
        let statement = snippet.statement.expect("the statement is found");
        assert_eq!((statement.start, statement.end), ([10, 1], [11, 5]));
    }

    #[test]
    fn a_number_of_several_lines_has_no_text() {
        let mut texts = texts(&[
            ("f", "a;\n#line 1\nb;\nc;\n#line 7 2\nd;\n"),
            ("g", "e;\n"),
            ("g", "f;\n"),
        ]);
        let mut line = |file: &str, number| texts.line(file, number, Vec::new);
        assert_eq!(line("f", 1), None);
        assert_eq!(line("f", 2).as_deref(), Some("c;"));
        // Compilers do not keep the number of a file.
        for file in ["f", "g", "h"] {
            assert_eq!(line(file, 7).as_deref(), Some("d;"), "{file}");
        }
        assert_eq!(line("g", 1), None);
    }

    #[test]
    fn no_line_is_certain_beside_lines_of_unknown_numbers() {
        let mut texts = texts(&[("f", "a;\n#line N\nb;\n"), ("g", "c;\n")]);
        assert_eq!(texts.line("f", 1, Vec::new), None);
        assert_eq!(texts.line("g", 1, Vec::new).as_deref(), Some("c;"));
    }
}
