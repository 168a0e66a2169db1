//! The prints of a device's modules: how their records are read, and the counters of those without room.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use vkabort_record::print::layout::SHARED_COUNTER;
use vkabort_record::report::PrintPlace;
use vkabort_record::site::{CodeHash, SiteTable};

/// The prints of the modules that a device has rewritten. They are kept as long as the device, since prints may be delivered after
/// their pipelines are destroyed.
#[derive(Default)]
pub struct PrintTables {
    tables: HashMap<CodeHash, Arc<SiteTable>>,
    counters: HashMap<CodeHash, Option<u32>>,
    /// Counters in use: the code of each and their number, by the first.
    used: BTreeMap<u32, (CodeHash, u32)>,
}

impl PrintTables {
    /// The first of `count` counters for code. `None`: no as many are free in a row, so its sites share one.
    ///
    /// The search starts where the code's hash points to: the counters are a part of the code, which pipeline caches compare.
    pub fn claim(&mut self, code: CodeHash, count: u32) -> Option<u32> {
        if let Some(first) = self.counters.get(&code) {
            return *first;
        }
        let first = SHARED_COUNTER
            .checked_sub(count)
            .and_then(|last| self.find((code.0.0 % (u64::from(last) + 1)) as u32, last, count));
        if let Some(first) = first {
            self.used.insert(first, (code, count));
        }
        self.counters.insert(code, first);
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

    /// Keeps the table of code.
    pub fn keep(&mut self, table: &Arc<SiteTable>) {
        self.tables.insert(table.code(), Arc::clone(table));
    }

    /// The table of code.
    pub fn table(&self, code: CodeHash) -> Option<&SiteTable> {
        self.tables.get(&code).map(|table| &**table)
    }

    /// The counters of sites, and where the sites are.
    pub fn counters(&self) -> impl Iterator<Item = (u32, PrintPlace)> {
        let of_code = self.used.iter().flat_map(|(first, (code, count))| {
            let table = self.table(*code);
            (0..*count).map(move |site| {
                let found = table.and_then(|table| Some((table, table.prints.get(site as usize)?)));
                let place = found.map(|(table, site)| PrintPlace::of(table, site));
                (first + site, place.unwrap_or_default())
            })
        });
        of_code.chain([(SHARED_COUNTER, PrintPlace::default())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::site::ModuleHash;

    fn code(hash: u64) -> CodeHash {
        ModuleHash(hash).into()
    }

    #[test]
    fn counters_depend_on_the_code_and_do_not_overlap() {
        let mut tables = PrintTables::default();
        assert_eq!(tables.claim(code(5), 4), Some(5));
        assert_eq!(PrintTables::default().claim(code(5), 4), Some(5), "in every run");
        assert_eq!(tables.claim(code(5), 4), Some(5), "each time");
        assert_eq!(tables.claim(code(7), 4), Some(9), "7 is in use");
        assert_eq!(tables.claim(code(3), 2), Some(3));
        assert_eq!(tables.claim(code(4), 2), Some(13));
        assert_eq!(tables.counters().count(), 4 + 4 + 2 + 2 + 1);
    }

    #[test]
    fn all_counters_can_be_used_and_then_sites_share_one() {
        let mut tables = PrintTables::default();
        let firsts: Vec<_> = (0..SHARED_COUNTER)
            .map(|number| tables.claim(code(number.into()), 1))
            .collect();
        assert!(firsts.iter().all(Option::is_some));
        assert_eq!(tables.claim(code(9999), 1), None);
        assert_eq!(tables.claim(code(99999), 5000), None);
        assert_eq!(PrintTables::default().claim(code(1), SHARED_COUNTER), Some(0));
    }
}
