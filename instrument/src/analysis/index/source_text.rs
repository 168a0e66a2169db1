//! Texts of source files, by line, and the lines around a statement.

mod line_numbers;
mod line_table;
mod macros;
mod statements;
mod tokens;

use line_numbers::{LineNumbers, Stretch};
use line_table::{Line, LineTable};
use statements::{Statement, Statements, find};
use std::ops::Range;
use tokens::Tokens;
use vkabort_record::site::{Location, Snippet, Span};

/// Lines of a snippet before the statement and after it.
const CONTEXT: (u32, u32) = (2, 1);

/// Most lines of a statement; of a longer one only the line of the position is kept.
const MAX_STATEMENT_LINES: u32 = 16;

/// Limit on the length of a line in a snippet, in bytes.
const MAX_LINE: usize = 400;

/// The text of a source file.
#[derive(Debug)]
struct Text {
    text: String,
    /// End of each line in bytes.
    ends: Vec<usize>,
    statements: Vec<Statement>,
    stretches: Vec<Stretch>,
    /// Lines of the definitions of macros, ascending.
    definitions: Vec<Range<u32>>,
}

impl Text {
    /// O(text).
    fn new(text: String) -> Self {
        let mut end = 0;
        let ends = text.split_inclusive('\n').map(|line| {
            end += line.len();
            end
        });
        let ends: Vec<usize> = ends.collect();
        let mut statements = Statements::new(&text);
        let mut numbers = LineNumbers::new(&text);
        let mut line = 0;
        let mut line_of = |offset: usize| {
            while ends.get(line).is_some_and(|end| *end <= offset) {
                line += 1;
            }
            line as u32 + 1
        };
        let mut definitions = Vec::new();
        for token in Tokens::new(&text) {
            statements.read(&token);
            let first = line_of(token.range.start);
            let lines = first..line_of(token.range.end - 1) + 1;
            if token.is_definition(&text) {
                definitions.push(lines.clone());
            }
            numbers.read(&token, lines);
        }
        let statements = statements.finish();
        let stretches = numbers.finish(ends.len() as u32);
        Self {
            text,
            ends,
            statements,
            stretches,
            definitions,
        }
    }

    /// The first line of the definition of a macro that a line is part of.
    fn definition(&self, line: u32) -> Option<u32> {
        let behind = self.definitions.partition_point(|lines| lines.start <= line);
        let lines = self.definitions.get(behind.checked_sub(1)?)?;
        lines.contains(&line).then_some(lines.start)
    }

    /// Byte range of line `number`, counted from 1.
    fn range(&self, number: u32) -> Option<Range<usize>> {
        let at = (number as usize).checked_sub(1)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        Some(start..*self.ends.get(at)?)
    }

    /// Line `number`, counted from 1, without trailing white space.
    fn line(&self, number: u32) -> Option<String> {
        Some(self.text.get(self.range(number)?)?.trim_end().to_string())
    }

    /// Line and column, in characters, of a byte offset.
    fn position(&self, offset: usize) -> Option<[u32; 2]> {
        let line = self.ends.partition_point(|end| *end <= offset) as u32 + 1;
        let before = self.text.get(self.range(line)?.start..offset)?;
        Some([line, before.chars().count() as u32 + 1])
    }

    /// The statement at a position: its start, and its end behind its last character.
    fn statement(&self, line: u32, column: u32) -> Option<Span> {
        let range = self.range(line)?;
        let before = (column as usize).checked_sub(1);
        let offset = before.and_then(|before| {
            let (offset, _) = self.text.get(range.clone())?.char_indices().nth(before)?;
            Some(range.start + offset)
        });
        let found = find(&self.statements, &self.text, range, offset)?;
        let span = Span {
            start: self.position(found.start)?,
            end: self.position(found.end - 1).map(|[line, column]| [line, column + 1])?,
        };
        (span.end[0] - span.start[0] < MAX_STATEMENT_LINES).then_some(span)
    }

    /// The lines around a position of a stretch, without blank lines at their ends, and their numbers. `None` if the stretch does not
    /// have the line.
    fn snippet(&self, stretch: &Stretch, line: u32, column: u32) -> Option<Snippet> {
        let statement = self.statement(line, column);
        let statement =
            statement.filter(|span| stretch.lines.contains(&span.start[0]) && stretch.lines.contains(&span.end[0]));
        let (first, last) = statement.map_or((line, line), |span| (span.start[0], span.end[0]));
        let mut start = first.saturating_sub(CONTEXT.0).max(stretch.lines.start);
        let end = last.saturating_add(CONTEXT.1).min(stretch.lines.end - 1);
        let mut lines = (start..=end).map(|n| self.line(n)).collect::<Option<Vec<_>>>()?;
        while start < first && lines.first().is_some_and(String::is_empty) {
            lines.remove(0);
            start += 1;
        }
        while lines.len() as u32 > last + 1 - start && lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        for line in &mut lines {
            let end = (0..=MAX_LINE.min(line.len()))
                .rev()
                .find(|&end| line.is_char_boundary(end));
            line.truncate(end.unwrap_or(0));
        }
        let number = |line| stretch.number(line);
        let numbered = |[line, column]: [u32; 2]| Some([number(line)?, column]);
        let statement = statement.and_then(|span| {
            Some(Span {
                start: numbered(span.start)?,
                end: numbered(span.end)?,
            })
        });
        Some(Snippet {
            first_line: number(start)?,
            lines,
            statement,
        })
    }
}

/// The texts of a module's source files, read and split into lines once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
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
    pub(crate) fn snippet(&self, location: &mut Location) -> Option<Snippet> {
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
    pub(crate) fn is_in_macro(&self, location: &Location) -> bool {
        self.find(location)
            .is_some_and(|line| line.text.definition(line.position).is_some())
    }

    /// The uses, by their lines and columns, of the macro whose definition has a location, in the function that begins at another.
    /// Ascending.
    pub(crate) fn uses_of_macro(&self, location: &Location, function: &Location) -> Vec<Location> {
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

    #[test]
    fn lines_are_counted_from_1_with_any_line_ending() {
        let text = Text::new("a\r\n\n b \nc".into());
        let lines: Vec<_> = (0..6).map(|number| text.line(number)).collect();
        let expected = [None, Some("a"), Some(""), Some(" b"), Some("c"), None];
        assert_eq!(lines, expected.map(|line| line.map(str::to_string)));
        assert_eq!(Text::new(String::new()).line(1), None);
    }

    fn snippet(text: &Text, line: u32, column: u32) -> Option<Snippet> {
        text.snippet(text.stretches.first()?, line, column)
    }

    #[test]
    fn a_snippet_has_the_whole_statement_and_lines_around_it() {
        let text = Text::new("void f() {\n\n  if (x)\n\tabort(\"ä\",\n    1);\n\n}\n".into());
        let expected = Snippet {
            first_line: 3,
            lines: ["  if (x)", "\tabort(\"ä\",", "    1);"].map(str::to_owned).to_vec(),
            statement: Some(Span {
                start: [4, 2],
                end: [5, 8],
            }),
        };
        for (line, column) in [(5, 0), (4, 0), (4, 2), (5, 5)] {
            assert_eq!(
                snippet(&text, line, column).as_ref(),
                Some(&expected),
                "{line}:{column}"
            );
        }
        // No statement there: the line alone.
        let alone = snippet(&text, 3, 0).expect("the line exists");
        assert_eq!((alone.first_line, alone.lines.len(), alone.statement), (1, 4, None));
        assert_eq!(snippet(&text, 3, 900).expect("the line exists").statement, None);
    }

    #[test]
    fn long_lines_and_long_statements_are_cut() {
        let long = format!("abort({});", "ä".repeat(1000));
        let cut = snippet(&Text::new(long), 1, 0).expect("the line exists");
        assert_eq!(cut.lines[0].len(), 400);
        let many = Text::new(format!("abort({}0);", "0,\n".repeat(40)));
        let cut = snippet(&many, 20, 0).expect("the line exists");
        assert_eq!((cut.first_line, cut.lines.len(), cut.statement), (18, 4, None));
    }

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
