//! Texts of source files, by line, and the lines around a statement.

use super::statements::{Statement, find, statements};
use crate::spv::Id;
use rustc_hash::FxHashMap as HashMap;
use std::cell::OnceCell;
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
    statements: OnceCell<Vec<Statement>>,
}

impl Text {
    fn new(text: String) -> Self {
        let mut end = 0;
        let ends = text.split_inclusive('\n').map(|line| {
            end += line.len();
            end
        });
        let ends = ends.collect();
        Self {
            text,
            ends,
            statements: OnceCell::new(),
        }
    }

    /// Byte range of line `number`, counted from 1.
    fn range(&self, number: u32) -> Option<std::ops::Range<usize>> {
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
        let statements = self.statements.get_or_init(|| statements(&self.text));
        let found = find(statements, &self.text, range, offset)?;
        let span = Span {
            start: self.position(found.start)?,
            end: self.position(found.end - 1).map(|[line, column]| [line, column + 1])?,
        };
        (span.end[0] - span.start[0] < MAX_STATEMENT_LINES).then_some(span)
    }

    /// The lines around a position, without blank lines at their ends. `None` if the text does not have the line.
    fn snippet(&self, line: u32, column: u32) -> Option<Snippet> {
        self.range(line)?;
        let statement = self.statement(line, column);
        let (first, last) = statement.map_or((line, line), |span| (span.start[0], span.end[0]));
        let mut start = first.saturating_sub(CONTEXT.0).max(1);
        let end = last.saturating_add(CONTEXT.1).min(self.ends.len() as u32);
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
        Some(Snippet {
            first_line: start,
            lines,
            statement,
        })
    }
}

/// Cache of source texts, each split into lines once, by the id of their file or of their
/// `DebugSource`; `None` where there is none.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    by_id: HashMap<Id, Option<Text>>,
}

impl Texts {
    /// Line `number` of a text. Calls `read` on the first request for `id`.
    pub(super) fn line(&mut self, id: Id, number: u32, read: impl FnOnce() -> Option<String>) -> Option<String> {
        let text = self.by_id.entry(id).or_insert_with(|| read().map(Text::new));
        text.as_ref()?.line(number)
    }

    /// The lines around `location` in the text `id`, whose lines [`Texts::line`] has read. A location without a column moves
    /// to the start of its statement.
    pub(super) fn snippet(&self, id: Id, location: &mut Location) -> Option<Snippet> {
        let text = self.by_id.get(&id)?.as_ref()?;
        let snippet = text.snippet(location.line, location.column)?;
        if let (
            0,
            Some(Span {
                start: [line, column], ..
            }),
        ) = (location.column, snippet.statement)
        {
            location.line = line;
            location.column = column;
            location.source = text.line(line);
        }
        Some(snippet)
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
            assert_eq!(text.snippet(line, column).as_ref(), Some(&expected), "{line}:{column}");
        }
        // No statement there: the line alone.
        let alone = text.snippet(3, 0).expect("the line exists");
        assert_eq!((alone.first_line, alone.lines.len(), alone.statement), (1, 4, None));
        assert_eq!(text.snippet(3, 900).expect("the line exists").statement, None);
        assert_eq!(text.snippet(0, 0), None);
        assert_eq!(text.snippet(u32::MAX, u32::MAX), None);
    }

    #[test]
    fn long_lines_and_long_statements_are_cut() {
        let long = format!("abort({});", "ä".repeat(1000));
        let snippet = Text::new(long).snippet(1, 0).expect("the line exists");
        assert_eq!(snippet.lines[0].len(), 400);
        let many = Text::new(format!("abort({}0);", "0,\n".repeat(40)));
        let snippet = many.snippet(20, 0).expect("the line exists");
        assert_eq!(
            (snippet.first_line, snippet.lines.len(), snippet.statement),
            (18, 4, None)
        );
    }

    #[test]
    fn a_location_without_a_column_moves_to_its_statement() {
        let mut texts = Texts::default();
        let id = Id::new(7);
        let source = texts.line(id, 2, || Some("abort(1,\n  2);\n".into()));
        let mut location = Location {
            file: "f".into(),
            line: 2,
            column: 0,
            source,
        };
        assert!(texts.snippet(id, &mut location).is_some());
        assert_eq!((location.line, location.column), (1, 1));
        assert_eq!(location.source.as_deref(), Some("abort(1,"));
        location.line = 2;
        location.column = 3;
        assert!(texts.snippet(id, &mut location).is_some());
        assert_eq!(location.line, 2);
        assert_eq!(texts.snippet(Id::new(8), &mut location), None);
    }
}
