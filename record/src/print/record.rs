//! Reads the records of prints.

use crate::layout::{UNIT_WORDS, commit_word};
use crate::print::layout::{CHUNKS, COUNTERS, CURSOR_STRIDE, DROPPED_OFFSET, header, record_units};
use crate::site::{CodeHash, SiteTable};

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

/// What the records of a print hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintShape {
    /// The code that writes them.
    pub code: CodeHash,
    /// Index of its site among the prints of that code.
    pub site: u32,
    /// The execution model. `None`: the first word of the payload.
    pub execution_model: Option<u32>,
    /// Words of the payload.
    pub words: u32,
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
            words: arguments + u32::from(execution_model.is_none()),
        })
    }
}

/// Reads complete records from `words`, which begin with the record at `unit` and end with the last that is reserved. Calls `each` with
/// them in their order, and returns the number of units that are done with. `shape`: of the records of a print, by its number.
///
/// While shaders run, it ends at the first record that is not complete. `is_final`: no shader writes any more; incomplete ones are
/// stepped over. O(words); no word can lead it past the end.
pub fn read_prints(
    words: &[u32],
    unit: u32,
    is_final: bool,
    shape: impl Fn(u32) -> Option<PrintShape>,
    mut each: impl FnMut(PrintRecord),
) -> u32 {
    let end = u32::try_from(words.len()).unwrap_or(u32::MAX) / UNIT_WORDS;
    let mut at = 0;
    while at < end {
        let of_record = words.get((at * UNIT_WORDS) as usize..).unwrap_or_default();
        let word = |index: u32| of_record.get(index as usize).copied().unwrap_or(0);
        if word(header::COMMIT) != commit_word(unit.wrapping_add(at)) {
            if !is_final {
                break;
            }
            at += 1;
            continue;
        }
        let shape = shape(word(header::NUMBER));
        let units = record_units(shape.map_or(0, |shape| shape.words));
        let payload = of_record.get(header::WORDS as usize..units.saturating_mul(UNIT_WORDS) as usize);
        let payload = payload.unwrap_or_default();
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
            identity: [0, 1, 2, 3].map(|at| word(header::IDENTITY + at)),
            payload: arguments.into(),
        });
        // Of an unknown print, the units of its arguments are no records.
        at += units;
    }
    at.min(end)
}

/// The words of a dump of a print area that are in front of the chunks.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a>(pub &'a [u32]);

impl Control<'_> {
    /// CURSOR of each chunk.
    pub fn cursors(self) -> [u32; CHUNKS as usize] {
        std::array::from_fn(|chunk| self.word(CURSOR_STRIDE * (chunk as u32 + 1)))
    }

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

    const UNIT: u32 = 1000;

    /// The print of a number has as many words.
    fn shape(number: u32) -> Option<PrintShape> {
        (number < 100).then_some(PrintShape {
            code: ModuleHash(7).into(),
            site: number,
            execution_model: number.is_multiple_of(2).then_some(5),
            words: number,
        })
    }

    /// Records of these payload words.
    fn chunk(payloads: &[&[u32]]) -> Vec<u32> {
        let mut words = Vec::new();
        for payload in payloads {
            let unit = UNIT + words.len() as u32 / UNIT_WORDS;
            words.extend([commit_word(unit), payload.len() as u32, 1, 2, 3, 4]);
            words.extend(*payload);
            words.resize(words.len().next_multiple_of(UNIT_WORDS as usize), 0);
        }
        words
    }

    fn sites(words: &[u32], is_final: bool) -> (Vec<u32>, u32) {
        let mut sites = Vec::new();
        let end = read_prints(words, UNIT, is_final, shape, |record| sites.push(record.site));
        (sites, end)
    }

    #[test]
    fn records_are_read_in_order_up_to_the_first_that_is_not_complete() {
        let mut words = chunk(&[&[], &[1, 2, 3, 4, 5], &[9]]);
        assert_eq!(sites(&words, false), (vec![0, 5, 1], 7));
        words[8] = 0;
        assert_eq!(sites(&words, false), (vec![0], 2));
        assert_eq!(sites(&words, true), (vec![0, 1], 7), "it is stepped over");
        words[9] = 0;
        assert_eq!(sites(&words, true), (vec![0, 1], 7), "one without a number, too");
    }

    #[test]
    fn hostile_words_lead_nowhere() {
        let mut words = chunk(&[&[1], &[2]]);
        for number in [0, 2, 99, 100, u32::MAX] {
            words[1] = number;
            let (found, end) = sites(&words, true);
            assert!(
                end <= 4 && (1..=2).contains(&found.len()) && found[0] == number,
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
        read_prints(&words, UNIT, false, shape, |record| records.push(record));
        let models = records.iter().map(|record| record.execution_model);
        assert_eq!(
            models.collect::<Vec<_>>(),
            [5, 3],
            "that of the module, and that in the record"
        );
        assert_eq!(
            (&*records[0].payload, &*records[1].payload),
            (&[5, 6][..], &[8, 9, 0, 0, 0][..])
        );
        assert_eq!(records[0].identity, [1, 2, 3, 4]);
        assert_eq!(records[0].code, Some(ModuleHash(7).into()));
    }
}
