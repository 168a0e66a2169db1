//! The records of an arena and their contents.

use crate::invocation::Invocation;
use crate::layout::SLOT_UNITS;
use crate::site::{CodeHash, Site, SiteId, SiteTable};
use crate::template::Template;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// One complete abort record. There are thousands in a storm of aborts, so it is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Unit offset in the record area.
    pub unit: u32,
    /// Its units, header included.
    pub units: u32,
    /// The code that wrote it.
    pub code: CodeHash,
    /// Index of its site in the table of that code.
    pub site: SiteId,
    /// SPIR-V execution model; `u32::MAX` if it is not known.
    pub execution_model: u32,
    /// Key of the pipeline's specialisation; 0 for the defaults.
    pub specialization: u32,
    /// IDENTITY of the invocation that aborted, see [`Self::invocation`].
    pub identity: [u32; 4],
    /// The message and the values at the abort.
    pub contents: Contents,
}

/// The contents of a record behind its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The bytes of the message, in the layout of its type, and what follows it to the end of the record: the values at the abort,
    /// and padding.
    Bytes {
        /// All of them.
        bytes: Box<[u8]>,
        /// The size of the message.
        size: u32,
    },
    /// The values of a compact record. In a storm of aborts there are thousands, of which a report shows a few: they stay words of
    /// the snapshot until then.
    Compact {
        /// Where they are in [`Records::words`].
        words: Range<u32>,
        /// Index in [`Records::tables`]; none if the module is not known.
        table: Option<u32>,
    },
}

const _: () = assert!(size_of::<Record>() <= 72);

impl Record {
    /// The invocation that aborted.
    pub fn invocation(&self) -> Invocation {
        Invocation::from_words(self.execution_model, self.identity)
    }
}

impl From<Vec<u8>> for Contents {
    /// A message without values.
    fn from(bytes: Vec<u8>) -> Self {
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self::Bytes {
            bytes: bytes.into(),
            size,
        }
    }
}

/// Equal for records of one site whose messages are equal, or whose messages and values are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContentsKey<'a> {
    /// The bytes.
    Bytes(Cow<'a, [u8]>),
    /// The words of a compact record that differ.
    Words(&'a [u32]),
}

/// The contents of an arena.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Complete records in the order of their aborts.
    pub records: Vec<Record>,
    /// Records that were reserved but not completed.
    pub unfinished: u32,
    /// Aborts that did not fit.
    pub dropped: u32,
    /// Invocations that were ended in loops that may wait for one that aborted.
    pub ended: u32,
    /// The control block contradicts the records because it was lost with the device: the number of aborts that did not
    /// fit is unknown.
    pub control_lost: bool,
    /// The words of the snapshot, which hold the values of compact records.
    pub words: Vec<u32>,
    /// The site tables of the modules that have written compact records.
    pub tables: Vec<Arc<SiteTable>>,
}

impl Records {
    /// Keeps the complete records from `from` to the first that is unfinished, and no counts: shaders may still complete that
    /// record, and add others. Returns the unit at which the next read begins.
    pub fn keep_finished(&mut self, from: u32) -> u32 {
        let mut end = from;
        self.records.retain(|record| {
            let follows = record.unit == end;
            if follows {
                end = end.saturating_add(record.units).next_multiple_of(SLOT_UNITS);
            }
            follows
        });
        (self.unfinished, self.dropped, self.ended, self.control_lost) = (0, 0, 0, false);
        end
    }

    /// The bytes of a record from its message on, and the size of the message: all that follows are values and padding. Only
    /// the values of the message if the record is compact and its module not known.
    pub fn bytes<'a>(&'a self, record: &'a Record) -> (Cow<'a, [u8]>, usize) {
        if let Contents::Bytes { bytes, size } = &record.contents {
            return ((&**bytes).into(), *size as usize);
        }
        let words = self.compact_words(record);
        match self.template(record) {
            Some(template) => (template.expand(words).into(), template.size as usize),
            None => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let size = bytes.len();
                (bytes.into(), size)
            }
        }
    }

    /// The bytes of a record's message.
    pub fn message<'a>(&'a self, record: &'a Record) -> Cow<'a, [u8]> {
        match self.bytes(record) {
            (Cow::Borrowed(bytes), size) => bytes.get(..size).unwrap_or(bytes).into(),
            (Cow::Owned(mut bytes), size) => {
                bytes.truncate(size);
                bytes.into()
            }
        }
    }

    /// Returns what identifies the message of a record among those of its site. `records`: all of one site.
    pub fn message_keys<'a>(&'a self, records: &[&'a Record]) -> impl Fn(&'a Record) -> ContentsKey<'a> {
        let template = records.iter().find_map(|record| self.template(record));
        let of_message = template.and_then(Template::leading_message_values);
        move |record| {
            let words = of_message.and_then(|count| self.compact_words(record).get(..count));
            match (&record.contents, words) {
                (Contents::Compact { .. }, Some(words)) => ContentsKey::Words(words),
                _ => ContentsKey::Bytes(self.message(record)),
            }
        }
    }

    /// Identifies the message and the values of a record among those of its site.
    pub fn contents_key<'a>(&'a self, record: &'a Record) -> ContentsKey<'a> {
        match &record.contents {
            Contents::Bytes { bytes, .. } => ContentsKey::Bytes((&**bytes).into()),
            Contents::Compact { .. } => ContentsKey::Words(self.compact_words(record)),
        }
    }

    fn compact_words(&self, record: &Record) -> &[u32] {
        let range = match &record.contents {
            Contents::Compact { words, .. } => words.start as usize..words.end as usize,
            Contents::Bytes { .. } => 0..0,
        };
        let words = self.words.get(range).unwrap_or_default();
        let used = self.template(record).map(|template| template.values as usize);
        used.and_then(|used| words.get(..used)).unwrap_or(words)
    }

    fn template(&self, record: &Record) -> Option<&Template> {
        self.site(record)?.1.template.as_ref()
    }

    /// The site of a compact record, and its table. `None` if its module is not known.
    pub(crate) fn site(&self, record: &Record) -> Option<(&SiteTable, &Site)> {
        let Contents::Compact { table: Some(table), .. } = &record.contents else {
            return None;
        };
        let table = self.tables.get(*table as usize)?;
        Some((table, table.site(record.site)?))
    }
}
