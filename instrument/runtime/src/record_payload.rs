//! Writes the payload of deferred records, by runs of units that the same records have:
//!
//! ```text
//! if (the record has the run's units) {
//!     for each unit: switch (key) { case a: words of a; case b: words of b; .. }, store phi(words)
//! }
//! ```
//!
//! Constants are then moves, and every store occurs once: code for a further site is a comparison and the words that
//! differ. A switch for several units takes no less code and more registers (measured with ACO, NAK and Intel's compiler).

use super::deferred::{DeferredRecord, RecordUnit, RecordWord};
use super::record_writer::Writer;
use rustc_hash::FxHashMap as HashMap;
use vkabort_record::layout::{HEADER_UNITS, UNIT_WORDS};
use vkabort_spirv::{Id, Literal, op};

/// Records with the same words in a unit.
struct Case {
    unit: RecordUnit,
    keys: Vec<u32>,
}

impl Writer<'_> {
    /// Writes the payload; `records` are sorted by descending size.
    pub(super) fn write_payload(&mut self, record: Id, units: Id, mut records: &[&DeferredRecord]) {
        let mut done = 0;
        let all = records.len();
        while let Some(last) = records.last() {
            let end = last.payload_units();
            if end > done {
                let is_guarded = records.len() < all;
                if is_guarded {
                    self.open_if(op::UGreaterThan, units, HEADER_UNITS + done);
                }
                for number in done..end {
                    let words = self.select_words(&cases(records, number));
                    self.runtime.store_words(self.out, record, HEADER_UNITS + number, words);
                }
                if is_guarded && let Some(merge) = self.merges.pop() {
                    self.out.branch(merge);
                    self.out.label(merge);
                }
                done = end;
            }
            let longer = records.partition_point(|record| record.payload_units() > done);
            records = records.get(..longer).unwrap_or(&[]);
        }
    }

    /// The words of a unit, by the record's key.
    fn select_words(&mut self, cases: &[Case]) -> [Id; UNIT_WORDS as usize] {
        let mut words = [Id::NONE; UNIT_WORDS as usize];
        let Some((first, others)) = cases.split_first() else {
            return words;
        };
        let differs: [bool; UNIT_WORDS as usize] =
            std::array::from_fn(|at| others.iter().any(|case| case.unit.get(at) != first.unit.get(at)));
        if !others.is_empty() {
            // Operands of the phis.
            let mut operands: [Vec<(Id, Id)>; UNIT_WORDS as usize] = Default::default();
            let merge = self.out.fresh();
            let labels: Vec<Id> = cases.iter().map(|_| self.out.fresh()).collect();
            // The last case with most keys is the default, which needs no comparison.
            let default = (cases.iter().enumerate()).max_by_key(|(_, case)| case.keys.len());
            let default = default.map_or(0, |(position, _)| position);
            let targets = cases.iter().zip(&labels).enumerate();
            let pairs: Vec<(Literal, Id)> = targets
                .filter(|(position, _)| *position != default)
                .flat_map(|(_, (case, label))| case.keys.iter().map(|key| (Literal(*key), *label)))
                .collect();
            let default = labels.get(default).copied().unwrap_or(merge);
            self.out.op(op::SelectionMerge, (merge, Literal(0)));
            self.out.op(op::Switch, (self.key, default, pairs.as_slice()));
            for (case, label) in cases.iter().zip(labels) {
                self.out.label(label);
                let of_case = case.unit.iter().zip(differs).zip(&mut operands);
                for ((word, _), operands) in of_case.filter(|((_, differs), _)| *differs) {
                    let id = self.word(*word);
                    operands.push((id, label));
                }
                self.out.branch(merge);
            }
            self.out.label(merge);
            let uint = self.out.uint();
            for (id, operands) in words.iter_mut().zip(operands).filter(|(_, o)| !o.is_empty()) {
                *id = self.out.fresh();
                self.out.phi(uint, *id, &operands);
            }
        }
        for ((id, word), _) in words.iter_mut().zip(first.unit).zip(differs).filter(|(_, d)| !d) {
            *id = self.word(word);
        }
        words
    }

    fn word(&mut self, word: RecordWord) -> Id {
        match word {
            RecordWord::Constant(value) => self.out.constant(value),
            RecordWord::Value(slot) => {
                let variable = self.runtime.value(self.out, slot);
                self.out.calculate(op::Load, variable)
            }
        }
    }
}

/// Unit `number` of the payloads of `records`, which all have it.
fn cases(records: &[&DeferredRecord], number: u32) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut positions: HashMap<RecordUnit, usize> = HashMap::default();
    for record in records {
        let unit = record.unit(number);
        let position = *positions.entry(unit).or_insert(cases.len());
        if position == cases.len() {
            cases.push(Case { unit, keys: Vec::new() });
        }
        if let Some(case) = cases.get_mut(position) {
            case.keys.push(record.key);
        }
    }
    cases
}
