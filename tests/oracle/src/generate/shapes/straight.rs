//! Straight code with many accesses to shared memory and to buffers.

use super::ACCESSES;
use super::shared_arrays::{Use, Writer};
use crate::op;

impl Writer<'_> {
    pub(super) fn straight(&mut self) {
        self.entry_point(|writer| {
            writer.initialize(Self::store_element);
            let (fewest, most) = ACCESSES;
            let mut left = writer.choices.between(fewest, most);
            while left > 0 {
                // Half of the programs have all accesses between two barriers.
                let count = match writer.choices.chance(50) {
                    true => left,
                    false => writer.choices.between(1, left),
                };
                let uses = [(); 2].map(|()| writer.choose_use());
                for _ in 0..count {
                    writer.access(uses);
                }
                writer.barrier();
                left -= count;
            }
        });
    }

    /// An access to one of the arrays, in the way that it is used, or to a buffer.
    pub(super) fn access(&mut self, uses: [Use; 2]) {
        let sum = self.sum();
        if self.choices.chance(25) {
            return self.access_buffer();
        }
        let ([first, second], [of_first, of_second]) = (self.memory.arrays, uses);
        let (array, usage) = match self.choices.chance(50) {
            true => (first, of_first),
            false => (second, of_second),
        };
        let (number, is_own) = self.place(usage, sum);
        if is_own && self.choices.chance(50) {
            self.store_element(array, number, sum);
        } else {
            let value = self.load_element(array, number);
            self.add(value);
        }
    }

    fn access_buffer(&mut self) {
        let sum = self.sum();
        if self.choices.chance(40) {
            let value = self.load_data(sum);
            return self.add(value);
        }
        let word = self.own_word();
        match self.choices.chance(50) {
            true => self.push(op::Store, &[word, sum]),
            false => {
                let value = self.word(op::Load, &[word]);
                self.add(value);
            }
        }
    }
}
