//! The text of a source file, by line, and the lines around a statement.

use super::line_numbers::{LineNumbers, Stretch};
use super::statements::{Statement, Statements, find};
use super::tokens::Tokens;
use std::ops::Range;
use vkabort_record::site::{Snippet, Span};

/// Lines of a snippet before the statement and after it.
const CONTEXT: (u32, u32) = (2, 1);

/// Most lines of a statement; of a longer one only the line of the position is kept.
const MAX_STATEMENT_LINES: u32 = 16;

/// Limit on the length of a line in a snippet, in bytes.
const MAX_LINE: usize = 400;

/// The text of a source file.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// End of each line in bytes.
    ends: Vec<usize>,
    statements: Vec<Statement>,
    pub(super) stretches: Vec<Stretch>,
    /// Lines of the definitions of macros, ascending.
    pub(super) definitions: Vec<Range<u32>>,
}

impl Text {
    /// O(text).
    pub(super) fn new(text: String) -> Self {
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
    pub(super) fn definition(&self, line: u32) -> Option<u32> {
        let behind = self.definitions.partition_point(|lines| lines.start <= line);
        let lines = self.definitions.get(behind.checked_sub(1)?)?;
        lines.contains(&line).then_some(lines.start)
    }

    /// Byte range of line `number`, counted from 1.
    pub(super) fn range(&self, number: u32) -> Option<Range<usize>> {
        let at = (number as usize).checked_sub(1)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        Some(start..*self.ends.get(at)?)
    }

    /// Line `number`, counted from 1, without trailing white space.
    pub(super) fn line(&self, number: u32) -> Option<String> {
        Some(self.text.get(self.range(number)?)?.trim_end().to_string())
    }

    /// Line and column, in characters, of a byte offset.
    pub(super) fn position(&self, offset: usize) -> Option<[u32; 2]> {
        let line = self.ends.partition_point(|end| *end <= offset) as u32 + 1;
        let before = self.text.get(self.range(line)?.start..offset)?;
        Some([line, before.chars().count() as u32 + 1])
    }

    /// The offset of a column, counted in characters from 1, of the line with a byte range.
    pub(super) fn offset(&self, line: &Range<usize>, column: u32) -> Option<usize> {
        let before = (column as usize).checked_sub(1)?;
        let (offset, _) = self.text.get(line.clone())?.char_indices().nth(before)?;
        Some(line.start + offset)
    }

    /// The statement at a position: its start, and its end behind its last character.
    fn statement(&self, line: u32, column: u32) -> Option<Span> {
        let range = self.range(line)?;
        let offset = self.offset(&range, column);
        let found = find(&self.statements, &self.text, range, offset)?;
        let span = Span {
            start: self.position(found.start)?,
            end: self.position(found.end - 1).map(|[line, column]| [line, column + 1])?,
        };
        (span.end[0] - span.start[0] < MAX_STATEMENT_LINES).then_some(span)
    }

    /// The lines around a position of a stretch, without blank lines at their ends, and their numbers. `None` if the stretch does not
    /// have the line.
    pub(super) fn snippet(&self, stretch: &Stretch, line: u32, column: u32) -> Option<Snippet> {
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
}
