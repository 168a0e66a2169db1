//! Consecutive numbers for the prints of each code.

use std::collections::{BTreeMap, HashMap};
use vkabort_record::site::CodeHash;

/// Numbers below a limit, which codes have claimed.
#[derive(Debug)]
pub struct Numbers {
    limit: u32,
    firsts: HashMap<CodeHash, Option<u32>>,
    /// The code of each range and its length, by the first number.
    used: BTreeMap<u32, (CodeHash, u32)>,
}

impl Numbers {
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            firsts: HashMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// The first of `count` numbers for code. `None`: no as many are free in a row.
    ///
    /// The search starts where the code's hash points to: the numbers are a part of the code, which pipeline caches compare.
    pub fn claim(&mut self, code: CodeHash, count: u32) -> Option<u32> {
        if let Some(first) = self.firsts.get(&code) {
            return *first;
        }
        let first = self
            .limit
            .checked_sub(count)
            .and_then(|last| self.find((code.0.0 % (u64::from(last) + 1)) as u32, last, count));
        if let Some(first) = first {
            self.used.insert(first, (code, count));
        }
        self.firsts.insert(code, first);
        first
    }

    fn find(&self, start: u32, last: u32, count: u32) -> Option<u32> {
        for mut at in [start, 0] {
            while at <= last {
                match self.used.range(..at.saturating_add(count)).next_back() {
                    Some((first, (_, used))) if first + used > at => at = first + used,
                    _ => return Some(at),
                }
            }
        }
        None
    }

    /// The code that has claimed a number, and how many of its numbers are before it.
    pub fn owner(&self, number: u32) -> Option<(CodeHash, u32)> {
        let (first, (code, count)) = self.used.range(..=number).next_back()?;
        let site = number - first;
        (site < *count).then_some((*code, site))
    }

    /// All numbers in use with their owners.
    pub fn owners(&self) -> impl Iterator<Item = (u32, (CodeHash, u32))> {
        let used = self.used.iter();
        used.flat_map(|(first, (code, count))| (0..*count).map(move |site| (first + site, (*code, site))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::site::ModuleHash;

    const LIMIT: u32 = 1023;

    fn code(hash: u64) -> CodeHash {
        ModuleHash(hash).into()
    }

    #[test]
    fn numbers_depend_on_the_code_and_do_not_overlap() {
        let mut numbers = Numbers::new(LIMIT);
        assert_eq!(numbers.claim(code(5), 4), Some(5));
        assert_eq!(Numbers::new(LIMIT).claim(code(5), 4), Some(5), "in every run");
        assert_eq!(numbers.claim(code(5), 4), Some(5), "each time");
        assert_eq!(numbers.claim(code(7), 4), Some(9), "7 is in use");
        assert_eq!(numbers.claim(code(3), 2), Some(3));
        assert_eq!(numbers.claim(code(4), 2), Some(13));
        assert_eq!(numbers.owners().count(), 4 + 4 + 2 + 2);
        for (number, owner) in numbers.owners() {
            assert_eq!(numbers.owner(number), Some(owner));
        }
        assert_eq!(numbers.owner(10), Some((code(7), 1)));
        assert_eq!([2, 15, u32::MAX].map(|number| numbers.owner(number)), [None; 3]);
    }

    #[test]
    fn all_numbers_can_be_used() {
        let mut numbers = Numbers::new(LIMIT);
        let mut claims = (0..LIMIT).map(|number| numbers.claim(code(number.into()), 1));
        assert!(claims.all(|first| first.is_some()));
        assert_eq!(numbers.claim(code(9999), 1), None);
        assert_eq!(numbers.claim(code(99999), 5000), None);
        assert_eq!(Numbers::new(LIMIT).claim(code(1), LIMIT), Some(0));
        assert_eq!(Numbers::new(u32::MAX).claim(code(u64::MAX), 2), Some(3));
    }
}
