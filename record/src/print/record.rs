//! Reads the records of prints.

use crate::print::layout::{COUNTERS, DROPPED_OFFSET, SLOT_WORDS, commit_word, header, record_slots};
use crate::site::{CodeHash, SiteTable};
use crate::snapshot::local_index;
use crate::stage::{Identity, Stage};

/// One complete print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintRecord {
    /// The code that wrote it. `None`: its number is that of no known print.
    pub code: Option<CodeHash>,
    /// Index of its site among the prints of that code, else its number.
    pub site: u32,
    /// SPIR-V execution model; `u32::MAX` if it is not known.
    pub execution_model: u32,
    /// IDENTITY of the invocation, see [`crate::layout`].
    pub identity: [u32; 4],
    /// The words of its arguments, and padding.
    pub payload: Box<[u32]>,
}

/// The shape of the records of a print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintShape {
    /// The code that writes them.
    pub code: CodeHash,
    /// Index of its site among the prints of that code.
    pub site: u32,
    /// The execution model. `None`: the first word of the payload.
    pub execution_model: Option<u32>,
    /// The words that identify the invocation.
    pub identity: PrintIdentity,
    /// Words of the payload.
    pub words: u32,
}

/// The words of IDENTITY that the prints of a module store: those that its stage uses, without a LocalInvocationIndex that follows from
/// the workgroup size. All four where it has several entry points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintIdentity {
    /// Number of words, from the first on.
    pub words: u32,
    /// The workgroup size that LocalInvocationIndex follows from.
    pub local_size: Option<[u32; 3]>,
}

impl PrintIdentity {
    /// All words.
    pub const ALL: Self = Self {
        words: 4,
        local_size: None,
    };

    /// That of the prints of a module.
    pub fn of(table: &SiteTable) -> Self {
        let [entry] = table.entry_points.as_slice() else {
            return Self::ALL;
        };
        let identity = Stage::identity_of(entry.execution_model);
        let local_size = entry.constant_local_size().filter(|_| identity == Identity::Global);
        let has_local_index = identity == Identity::Global && local_size.is_none();
        Self {
            words: identity.words() + u32::from(has_local_index),
            local_size,
        }
    }

    /// IDENTITY, of a record's words behind its number.
    fn read(self, words: &[u32]) -> [u32; 4] {
        let mut identity = [0; 4];
        for (word, stored) in identity.iter_mut().zip(words.iter().take(self.words as usize)) {
            *word = *stored;
        }
        if let Some(index) = self.local_size.and_then(|size| local_index(identity, size)) {
            identity[3] = index;
        }
        identity
    }
}

impl PrintShape {
    /// That of a print of a module. `None` if it has no such print.
    pub fn new(table: &SiteTable, site: u32) -> Option<Self> {
        let print = table.prints.get(usize::try_from(site).ok()?)?;
        let arguments: u32 = print.arguments.iter().map(|argument| argument.words()).sum();
        let execution_model = table.execution_model();
        Some(Self {
            code: table.code(),
            site,
            execution_model,
            identity: PrintIdentity::of(table),
            words: arguments + u32::from(execution_model.is_none()),
        })
    }
}

/// Reads complete records from `words`, which begin with the record at `slot` and end with the last that is reserved. Calls `each` with
/// them in their order, and returns the number of slots that are done with. `shape`: of the records of a print, by its number.
///
/// While shaders run, it ends at the first record that is not complete. `is_final`: no shader writes any more; incomplete ones are
/// stepped over. O(words); no word can lead it past the end.
pub fn read_prints(
    words: &[u32],
    slot: u32,
    is_final: bool,
    shape: impl Fn(u32) -> Option<PrintShape>,
    mut each: impl FnMut(PrintRecord),
) -> u32 {
    let end = u32::try_from(words.len()).unwrap_or(u32::MAX) / SLOT_WORDS;
    let mut at = 0;
    while at < end {
        let of_record = words.get((at * SLOT_WORDS) as usize..).unwrap_or_default();
        let word = |index: u32| of_record.get(index as usize).copied().unwrap_or(0);
        if word(header::COMMIT) != commit_word(slot.wrapping_add(at)) {
            if !is_final {
                break;
            }
            at += 1;
            continue;
        }
        let shape = shape(word(header::NUMBER));
        // Of an unknown print, the other slots are no records.
        let identity = shape.map_or(PrintIdentity::ALL, |shape| shape.identity);
        let slots = record_slots(identity.words.saturating_add(shape.map_or(0, |shape| shape.words)));
        let stored = of_record.get(header::IDENTITY as usize..slots.saturating_mul(SLOT_WORDS) as usize);
        let stored = stored.unwrap_or_default();
        let payload = stored.get(identity.words as usize..).unwrap_or_default();
        let (model, arguments) = match shape.map(|shape| shape.execution_model) {
            Some(Some(model)) => (model, payload),
            Some(None) => payload
                .split_first()
                .map_or((u32::MAX, payload), |(model, rest)| (*model, rest)),
            None => (u32::MAX, payload),
        };
        each(PrintRecord {
            code: shape.map(|shape| shape.code),
            site: shape.map_or(word(header::NUMBER), |shape| shape.site),
            execution_model: model,
            identity: identity.read(stored),
            payload: arguments.into(),
        });
        at += slots;
    }
    at.min(end)
}

/// The words of a dump of a print area that are in front of the chunks.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a>(pub &'a [u32]);

impl Control<'_> {
    /// The counters of DROPPED that are not 0, and their values.
    pub fn dropped(self) -> impl Iterator<Item = (u32, u32)> {
        let counters = (0..COUNTERS).map(move |counter| (counter, self.word(DROPPED_OFFSET + 4 * counter)));
        counters.filter(|(_, count)| *count != 0)
    }

    fn word(self, byte_offset: u32) -> u32 {
        self.0.get(byte_offset as usize / 4).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::ModuleHash;

    const SLOT: u32 = 1000;

    /// The print of a number has as many words.
    fn shape(number: u32) -> Option<PrintShape> {
        (number < 100).then_some(PrintShape {
            code: ModuleHash(7).into(),
            site: number,
            execution_model: number.is_multiple_of(2).then_some(5),
            identity: PrintIdentity::ALL,
            words: number,
        })
    }

    /// Records of these payload words.
    fn chunk(payloads: &[&[u32]]) -> Vec<u32> {
        let mut words = Vec::new();
        for payload in payloads {
            let slot = SLOT + words.len() as u32 / SLOT_WORDS;
            words.extend([commit_word(slot), payload.len() as u32, 1, 2, 3, 4]);
            words.extend(*payload);
            words.resize(words.len().next_multiple_of(SLOT_WORDS as usize), 0);
        }
        words
    }

    fn sites(words: &[u32], is_final: bool) -> (Vec<u32>, u32) {
        let mut sites = Vec::new();
        let end = read_prints(words, SLOT, is_final, shape, |record| sites.push(record.site));
        (sites, end)
    }

    #[test]
    fn records_are_read_in_order_up_to_the_first_that_is_not_complete() {
        let mut words = chunk(&[&[], &[1, 2, 3, 4, 5], &[9]]);
        assert_eq!(sites(&words, false), (vec![0, 5, 1], 4));
        words[8] = 0;
        assert_eq!(sites(&words, false), (vec![0], 1));
        assert_eq!(sites(&words, true), (vec![0, 1], 4), "it is stepped over");
        words[9] = 0;
        assert_eq!(sites(&words, true), (vec![0, 1], 4), "one without a number, too");
    }

    #[test]
    fn hostile_words_lead_nowhere() {
        let mut words = chunk(&[&[1], &[2]]);
        for number in [0, 2, 99, 100, u32::MAX] {
            words[1] = number;
            let (found, end) = sites(&words, true);
            assert!(
                end <= 2 && (1..=2).contains(&found.len()) && found[0] == number,
                "{number}"
            );
        }
        assert_eq!(sites(&[], true), (vec![], 0));
        assert_eq!(sites(&[0xAB0F_7EED; 7], false), (vec![], 0));
    }

    #[test]
    fn the_payload_is_that_of_the_record() {
        let words = chunk(&[&[5, 6], &[3, 8, 9]]);
        let mut records = Vec::new();
        read_prints(&words, SLOT, false, shape, |record| records.push(record));
        let models = records.iter().map(|record| record.execution_model);
        assert_eq!(
            models.collect::<Vec<_>>(),
            [5, 3],
            "that of the module, and that in the record"
        );
        assert_eq!(
            (&*records[0].payload, &*records[1].payload),
            (&[5, 6][..], &[8, 9, 0, 0, 0, 0, 0, 0, 0][..])
        );
        assert_eq!(records[0].identity, [1, 2, 3, 4]);
        assert_eq!(records[0].code, Some(ModuleHash(7).into()));
    }

    #[test]
    fn the_local_index_follows_from_the_workgroup_size() {
        let identity = PrintIdentity {
            words: 3,
            local_size: Some([8, 4, 1]),
        };
        assert_eq!(identity.read(&[9, 6, 2, 7]), [9, 6, 2, 17]);
        assert_eq!(PrintIdentity::ALL.read(&[9, 6, 2, 7]), [9, 6, 2, 7]);
        let pixel = PrintIdentity {
            words: 2,
            local_size: None,
        };
        assert_eq!(pixel.read(&[9, 6, 2, 7]), [9, 6, 0, 0], "the others are of the payload");
    }
}
