//! Texts of source files, by line.

use crate::spv::Id;
use rustc_hash::FxHashMap as HashMap;

/// The text of a source file.
#[derive(Debug)]
struct Text {
    text: String,
    /// End of each line in bytes.
    ends: Vec<usize>,
}

impl Text {
    fn new(text: String) -> Self {
        let mut end = 0;
        let ends = text.split_inclusive('\n').map(|line| {
            end += line.len();
            end
        });
        let ends = ends.collect();
        Self { text, ends }
    }

    /// Line `number`, counted from 1, without trailing white space.
    fn line(&self, number: u32) -> Option<String> {
        let at = (number as usize).checked_sub(1)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        let line = self.text.get(start..*self.ends.get(at)?)?;
        Some(line.trim_end().to_string())
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
}
