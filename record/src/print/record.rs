//! Reads the records of prints.

use crate::layout::{HEADER_UNITS, SLOT_UNITS, UNIT_WORDS, commit_word, header};
use crate::print::layout::{CHUNKS, COUNTERS, CURSOR_STRIDE, DROPPED_OFFSET};
use crate::site::{CodeHash, ModuleHash};

/// One complete print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintRecord {
    /// The code that wrote it.
    pub code: CodeHash,
    /// Index of its site among the prints of that code.
    pub site: u32,
    /// SPIR-V execution model; `u32::MAX` if it is not known.
    pub execution_model: u32,
    /// IDENTITY of the invocation, see [`crate::layout`].
    pub identity: [u32; 4],
    /// The words of its arguments, and padding.
    pub payload: Box<[u32]>,
}

/// Reads complete records from `words`, which begin with the record at `unit`, a multiple of a slot, and end with the last that is
/// reserved. Calls `each` with them in their order, and returns the number of units that are done with.
///
/// While shaders run, it ends at the first record that is not complete. `is_final`: no shader writes any more; incomplete ones are
/// stepped over. O(words); no word can lead it past the end.
pub fn read_prints(words: &[u32], unit: u32, is_final: bool, mut each: impl FnMut(PrintRecord)) -> u32 {
    let end = u32::try_from(words.len()).unwrap_or(u32::MAX) / UNIT_WORDS;
    let mut at = 0;
    while at < end {
        let of_record = words.get((at * UNIT_WORDS) as usize..).unwrap_or_default();
        let word = |index: u32| of_record.get(index as usize).copied().unwrap_or(0);
        let length = word(header::LENGTH);
        let is_long = length >= HEADER_UNITS && length <= end - at;
        let payload = of_record.get(header::WORDS as usize..(length * u32::from(is_long) * UNIT_WORDS) as usize);
        match payload.filter(|_| word(header::COMMIT) == commit_word(unit.wrapping_add(at))) {
            Some(payload) => {
                each(PrintRecord {
                    code: ModuleHash(u64::from(word(header::HASH_LO)) | u64::from(word(header::HASH_HI)) << 32).into(),
                    site: word(header::SITE),
                    execution_model: word(header::STAGE),
                    identity: [0, 1, 2, 3].map(|at| word(header::IDENTITY + at)),
                    payload: payload.into(),
                });
                at += length.next_multiple_of(SLOT_UNITS);
            }
            None if is_final => {
                at += if is_long {
                    length.next_multiple_of(SLOT_UNITS)
                } else {
                    SLOT_UNITS
                }
            }
            None => break,
        }
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

    const UNIT: u32 = 1000 * SLOT_UNITS;

    /// Records of these payload words, each in a slot or more.
    fn chunk(payloads: &[&[u32]]) -> Vec<u32> {
        let mut words = Vec::new();
        for (site, payload) in (0..).zip(payloads) {
            let units = HEADER_UNITS + (payload.len() as u32).div_ceil(UNIT_WORDS);
            let unit = UNIT + words.len() as u32 / UNIT_WORDS;
            let start = words.len();
            words.extend([commit_word(unit), units, 0, site, 7, 0, 5, 0, 1, 2, 3, 4]);
            words.extend(*payload);
            words.resize(start + (units.next_multiple_of(SLOT_UNITS) * UNIT_WORDS) as usize, 0);
        }
        words
    }

    fn sites(words: &[u32], is_final: bool) -> (Vec<u32>, u32) {
        let mut sites = Vec::new();
        let end = read_prints(words, UNIT, is_final, |record| sites.push(record.site));
        (sites, end)
    }

    #[test]
    fn records_are_read_in_order_up_to_the_first_that_is_not_complete() {
        let mut words = chunk(&[&[], &[1, 2, 3, 4, 5], &[9]]);
        assert_eq!(sites(&words, false), (vec![0, 1, 2], 16));
        words[16] = 0;
        assert_eq!(sites(&words, false), (vec![0], 4));
        assert_eq!(
            sites(&words, true),
            (vec![0, 2], 16),
            "a record of two slots is stepped over"
        );
        words[17] = 0;
        assert_eq!(sites(&words, true), (vec![0, 2], 16), "one without a length, too");
    }

    #[test]
    fn hostile_words_lead_nowhere() {
        let mut words = chunk(&[&[1], &[2]]);
        for length in [0, 2, 5, 1 << 30, u32::MAX] {
            words[1] = length;
            let (found, end) = sites(&words, true);
            assert!(end <= 8 && found.len() <= 2, "{length}");
        }
        assert_eq!(sites(&[], true), (vec![], 0));
        assert_eq!(sites(&[0xAB0F_7EED; 7], false), (vec![], 0));
    }

    #[test]
    fn the_payload_is_that_of_the_record() {
        let words = chunk(&[&[5, 6]]);
        let mut records = Vec::new();
        read_prints(&words, UNIT, false, |record| records.push(record));
        assert_eq!(&*records[0].payload, [5, 6, 0, 0]);
        assert_eq!((records[0].identity, records[0].execution_model), ([1, 2, 3, 4], 5));
        assert_eq!(records[0].code, ModuleHash(7).into());
    }
}
