//! Numbers that a source text gives its lines by `#line` directives.
//!
//! The text is the one before preprocessing, so that a directive in a conditional group may have been skipped: behind it, all numbers
//! that a line can have are kept.

use super::tokens::{Kind, Token, Tokens};
use std::ops::Range;

/// Limit on the numbers that one line may have; a line with more counts as one whose number is not known.
const MAX_NUMBERINGS: usize = 16;

/// First version of desktop GLSL in which `#line N` gives N to the next line, and not N + 1.
const GLSL_NEXT_LINE: u32 = 330;

/// The file that a line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// The file whose text it is.
    Own,
    /// The file that a directive names.
    Named(String),
    /// A directive gives a number in place of a name, which compilers do not keep.
    Unknown,
}

/// How lines are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbering {
    file: File,
    /// Number of a line less its position in the text. `None`: not known.
    shift: Option<i64>,
}

/// Consecutive lines that may be numbered in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) file: File,
    /// Number of a line less its position in the text. `None`: the lines may have any number.
    pub(super) shift: Option<i64>,
    /// Positions of the lines, counted from 1.
    pub(super) lines: Range<u32>,
    /// Those from the first line to the last one that has code.
    pub(super) code: Range<u32>,
}

impl Stretch {
    /// Number of the line at a position.
    pub(super) fn number(&self, position: u32) -> Option<u32> {
        u32::try_from(i64::from(position) + self.shift?).ok()
    }

    /// Position of the line with a number.
    pub(super) fn position(&self, number: u32) -> Option<u32> {
        u32::try_from(i64::from(number) - self.shift?).ok()
    }
}

/// A numbering that may apply to the next line.
struct PendingNumbering {
    numbering: Numbering,
    since: u32,
    code: Option<Range<u32>>,
}

/// A conditional group whose `#endif` has not been read.
struct Conditional {
    /// Numberings at its start.
    start: Vec<Numbering>,
    /// Numberings at the ends of its branches.
    ends: Vec<Numbering>,
    has_else: bool,
}

/// Reads the numbers of lines from the tokens of a text.
pub(super) struct LineNumbers<'a> {
    text: &'a str,
    open: Vec<PendingNumbering>,
    conditionals: Vec<Conditional>,
    stretches: Vec<Stretch>,
    /// Difference between N of `#line N` and the number of the next line.
    next_line: i64,
}

impl<'a> LineNumbers<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let numbering = Numbering {
            file: File::Own,
            shift: Some(0),
        };
        Self {
            text,
            open: vec![PendingNumbering {
                numbering,
                since: 1,
                code: None,
            }],
            conditionals: Vec::new(),
            stretches: Vec::new(),
            next_line: 0,
        }
    }

    /// Reads the next token, which is on these lines.
    pub(super) fn read(&mut self, token: &Token, lines: Range<u32>) {
        if token.kind != Kind::Directive {
            return self.code(&lines);
        }
        let directive = self
            .text
            .get(token.range.start + 1..token.range.end)
            .unwrap_or_default();
        let mut words =
            Tokens::new(directive).map(|token| (token.kind, directive.get(token.range).unwrap_or_default()));
        match words.next() {
            Some((Kind::Word, "line")) => self.line(words, &lines),
            // Preprocessors write `# N "FILE"`.
            Some((Kind::Word, word)) if word.starts_with(|first: char| first.is_ascii_digit()) => {
                self.line(std::iter::once((Kind::Word, word)).chain(words), &lines);
            }
            Some((Kind::Word, "version")) => {
                let version = words.next().and_then(|(_, version)| version.parse::<u32>().ok());
                let is_desktop = words.next().is_none_or(|(_, profile)| profile != "es");
                self.next_line = i64::from(is_desktop && version.is_some_and(|version| version < GLSL_NEXT_LINE));
            }
            Some((Kind::Word, "if" | "ifdef" | "ifndef")) => self.conditionals.push(Conditional {
                start: self.numberings(),
                ends: Vec::new(),
                has_else: false,
            }),
            Some((Kind::Word, word @ ("elif" | "elifdef" | "elifndef" | "else"))) => {
                let ends = self.numberings();
                if let Some(conditional) = self.conditionals.last_mut() {
                    unite(&mut conditional.ends, ends);
                    conditional.has_else |= word == "else";
                    let start = conditional.start.clone();
                    self.switch(start, &lines);
                }
            }
            Some((Kind::Word, "endif")) => {
                if let Some(conditional) = self.conditionals.pop() {
                    let mut ends = self.numberings();
                    unite(&mut ends, conditional.ends);
                    if !conditional.has_else {
                        unite(&mut ends, conditional.start);
                    }
                    self.switch(ends, &lines);
                }
            }
            // Slang gives what a macro computes the lines of the macro.
            Some((Kind::Word, "define")) => self.code(&lines),
            _ => {}
        }
    }

    /// The stretches of a text with this number of lines.
    pub(super) fn finish(mut self, lines: u32) -> Vec<Stretch> {
        self.switch(Vec::new(), &(lines + 1..lines + 1));
        self.stretches
    }

    /// `#line` with these operands.
    fn line<'t>(&mut self, mut operands: impl Iterator<Item = (Kind, &'t str)>, lines: &Range<u32>) {
        let number = operands.next().and_then(|(_, number)| integer(number));
        let file = match operands.next() {
            None => None,
            Some((Kind::String, name)) => Some(File::Named(name.trim_matches('"').to_owned())),
            Some(_) => Some(File::Unknown),
        };
        let is_integer = file != Some(File::Unknown) || operands.next().is_none();
        let number = number.filter(|_| is_integer);
        let shift = number.map(|number| i64::from(number) + self.next_line - i64::from(lines.end));
        let mut new = Vec::new();
        for open in &self.open {
            let file = file.clone().unwrap_or_else(|| open.numbering.file.clone());
            unite(&mut new, vec![Numbering { file, shift }]);
        }
        self.switch(new, lines);
    }

    /// Code on these lines.
    fn code(&mut self, lines: &Range<u32>) {
        for open in &mut self.open {
            match &mut open.code {
                Some(code) => code.end = lines.end,
                None => open.code = Some(lines.clone()),
            }
        }
    }

    fn numberings(&self) -> Vec<Numbering> {
        self.open.iter().map(|open| open.numbering.clone()).collect()
    }

    /// From behind a directive on these lines on, other numberings apply.
    fn switch(&mut self, mut numberings: Vec<Numbering>, lines: &Range<u32>) {
        if numberings.len() > MAX_NUMBERINGS {
            let (file, shift) = (File::Unknown, None);
            numberings = vec![Numbering { file, shift }];
        }
        let open = std::mem::take(&mut self.open);
        let (kept, closed): (Vec<_>, Vec<_>) = open.into_iter().partition(|open| numberings.contains(&open.numbering));
        self.stretches.extend(closed.into_iter().filter_map(|open| {
            Some(Stretch {
                file: open.numbering.file,
                shift: open.numbering.shift,
                lines: open.since..lines.start,
                code: open.code?,
            })
        }));
        self.open = kept;
        for numbering in numberings {
            if self.open.iter().all(|open| open.numbering != numbering) {
                self.open.push(PendingNumbering {
                    numbering,
                    since: lines.end,
                    code: None,
                });
            }
        }
    }
}

/// Adds the numberings that are not there yet.
fn unite(all: &mut Vec<Numbering>, more: Vec<Numbering>) {
    for numbering in more {
        if !all.contains(&numbering) {
            all.push(numbering);
        }
    }
}

/// An integer literal of a preprocessor. `None` if it is something else, such as a macro.
fn integer(text: &str) -> Option<u32> {
    let text = text.strip_suffix(['u', 'U']).unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u32::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => u32::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
#[path = "line_numbers_tests.rs"]
mod tests;
