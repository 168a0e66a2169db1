//! Templates of compact records: the words that the host has, and where the others are.

/// A word of a record that is not compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateWord {
    /// This word.
    Constant(u32),
    /// The value with this index in the compact record.
    Value(u32),
}

/// The bytes that follow the header of a record, without its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Bytes of the message.
    pub size: u32,
    /// Bytes from the message to the end of the record: a multiple of 16.
    pub end: u32,
    /// Words by index, ascending; the others are 0.
    pub words: Vec<(u32, TemplateWord)>,
    /// Number of its values. The words that follow them in a record are undefined.
    pub values: u32,
}

impl Template {
    /// The message, and what follows it to the end of the record: the values at the abort, and padding. Values that the compact
    /// record lacks are 0.
    pub fn expand(&self, values: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; self.end.max(self.size) as usize];
        for (index, word) in &self.words {
            let word = match word {
                TemplateWord::Constant(word) => *word,
                TemplateWord::Value(index) => values.get(*index as usize).copied().unwrap_or(0),
            };
            let at = *index as usize * 4;
            if let Some(slot) = bytes.get_mut(at..at + 4) {
                slot.copy_from_slice(&word.to_le_bytes());
            }
        }
        bytes
    }

    /// How many of the first values make up the message. `None` if it has others, or not all of these.
    pub(crate) fn leading_message_values(&self) -> Option<usize> {
        let values = |is_in_message: bool| {
            let words = self.words.iter();
            let words = words.filter(move |(index, _)| (u64::from(*index) * 4 < u64::from(self.size)) == is_in_message);
            words.filter_map(|(_, word)| match word {
                TemplateWord::Value(index) => Some(*index),
                TemplateWord::Constant(_) => None,
            })
        };
        let end = values(true).max().map_or(0, |last| last + 1);
        let is_in_message = |index: u32| values(true).any(|value| value == index);
        (0..end).all(is_in_message).then_some(end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_gives_the_message_and_the_values_behind_it() {
        use TemplateWord::{Constant, Value};
        let template = Template {
            size: 7,
            end: 32,
            words: vec![(0, Constant(0x6463_6261)), (1, Constant(0x6665)), (4, Value(1))],
            values: 2,
        };
        let bytes = template.expand(&[5, 6]);
        assert_eq!(bytes[..20], *b"abcdef\0\0\0\0\0\0\0\0\0\0\x06\0\0\0");
        assert_eq!(bytes.len(), 32);
        assert_eq!(template.leading_message_values(), Some(0));
        let message = Template {
            size: 4,
            end: 4,
            words: vec![(0, Value(0))],
            values: 1,
        };
        assert_eq!(message.expand(&[]), [0; 4]);
        assert_eq!(message.leading_message_values(), Some(1));
        let with_gap = Template {
            words: vec![(0, Value(1))],
            ..message
        };
        assert_eq!(with_gap.leading_message_values(), None);
    }
}
