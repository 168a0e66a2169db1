//! The source lines of a site for the text report. Lines come from the shader and are escaped, so columns move.

use crate::phrases::show_location;
use crate::site_report::SiteReport;
use annotate_snippets::{Annotation, AnnotationKind, Snippet};
use std::ops::Range;
use vkabort_record::escape::{one_line, printable};
use vkabort_record::site::{Location, Span};

/// Lines to show, and the part of them to mark.
pub(crate) struct SourceView {
    /// The lines, escaped.
    text: String,
    first_line: usize,
    path: String,
    /// From the column to the end of the statement; `None` without a column.
    mark: Option<Range<usize>>,
}

impl SourceView {
    /// The lines that a site's report carries; `None` if it carries none. Without a column only the line of the position.
    pub(crate) fn new(site: &SiteReport) -> Option<Self> {
        let location = site.location.as_ref()?;
        let lines = Lines::of(site, location)?;
        let Some(caret) = lines.offset([location.line, location.column]) else {
            let (_, source) = lines.line(location.line)?;
            return Some(Self {
                text: escape_line(source),
                first_line: location.line as usize,
                path: one_line(&show_location(location)),
                mark: None,
            });
        };
        let end = match &lines.statement {
            Some(statement) if statement.contains(&caret) => statement.end,
            _ => lines.next_char(caret)?,
        };
        Some(Self {
            text: lines.text,
            first_line: lines.first_line as usize,
            // The renderer adds line and column of the mark.
            path: one_line(&location.file),
            mark: Some(caret..end),
        })
    }

    /// The view for the renderer.
    pub(crate) fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        Snippet::source(&self.text)
            .line_start(self.first_line)
            .path(&self.path)
            .fold(false)
            .annotations(self.mark.clone().map(|mark| AnnotationKind::Primary.span(mark)))
    }
}

/// Escaped lines, with the position of every character of the original.
struct Lines<'a> {
    source: Vec<&'a str>,
    first_line: u32,
    text: String,
    /// Start of each line in `text`.
    starts: Vec<usize>,
    statement: Option<Range<usize>>,
}

impl<'a> Lines<'a> {
    fn of(site: &'a SiteReport, location: &'a Location) -> Option<Self> {
        let (source, first_line, statement): (Vec<&str>, u32, Option<Span>) = match &site.snippet {
            Some(snippet) => (
                snippet.lines.iter().map(String::as_str).collect(),
                snippet.first_line,
                snippet.statement,
            ),
            None => (vec![location.source.as_deref()?], location.line, None),
        };
        let mut lines = Self {
            source,
            first_line,
            text: String::new(),
            starts: Vec::new(),
            statement: None,
        };
        for line in &lines.source {
            lines.starts.push(lines.text.len());
            lines.text.push_str(&escape_line(line));
            lines.text.push('\n');
        }
        lines.text.pop();
        lines.statement = statement.and_then(|Span { start, end }| {
            let (start, end) = (lines.offset(start)?, lines.end_offset(end)?);
            (start < end).then_some(start..end)
        });
        Some(lines)
    }

    fn line(&self, number: u32) -> Option<(usize, &'a str)> {
        let index = usize::try_from(number.checked_sub(self.first_line)?).ok()?;
        Some((*self.starts.get(index)?, *self.source.get(index)?))
    }

    /// Offset in `text` of a character.
    fn offset(&self, [line, column]: [u32; 2]) -> Option<usize> {
        let (start, source) = self.line(line)?;
        let (at, _) = source.char_indices().nth((column as usize).checked_sub(1)?)?;
        Some(start + escape_line(source.get(..at)?).len())
    }

    /// Offset behind the last character before a position, or at the end of a line that was cut.
    fn end_offset(&self, [line, column]: [u32; 2]) -> Option<usize> {
        match self.offset([line, column]) {
            Some(offset) => Some(offset),
            None => self.line(line).map(|(start, source)| start + escape_line(source).len()),
        }
    }

    /// Offset behind the character at an offset.
    fn next_char(&self, offset: usize) -> Option<usize> {
        let next = self.text.get(offset..)?.chars().next()?;
        Some(offset + next.len_utf8())
    }
}

/// A source line that is safe to print; the renderer expands its tabs.
fn escape_line(line: &str) -> String {
    printable(line.trim_end_matches(['\r', '\n'])).replace('\n', "\\n")
}
