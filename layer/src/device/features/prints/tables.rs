//! The prints of a device's modules: their numbers, how their records are read, and the counters of those without room.

use super::numbers::Numbers;
use std::collections::HashMap;
use std::sync::Arc;
use vkabort_instrument::PrintNumbers;
use vkabort_record::print::layout::SHARED_COUNTER;
use vkabort_record::print::record::{PrintRecord, PrintShape};
use vkabort_record::site::{CodeHash, SiteTable};
use vkabort_report::{PrintLine, PrintPlace};

/// The prints of the modules that a device has rewritten. They are kept as long as the device, since prints may be delivered after
/// their pipelines are destroyed.
pub struct PrintTables {
    tables: HashMap<CodeHash, PrintTable>,
    /// NUMBER of each print.
    numbers: Numbers,
    counters: Numbers,
}

/// The table of code, and the place of each of its prints.
struct PrintTable {
    table: Arc<SiteTable>,
    places: Vec<Arc<PrintPlace>>,
}

impl Default for PrintTables {
    fn default() -> Self {
        Self {
            tables: HashMap::new(),
            numbers: Numbers::new(u32::MAX),
            counters: Numbers::new(SHARED_COUNTER),
        }
    }
}

impl PrintTables {
    /// The numbers of `count` prints of code.
    pub fn claim(&mut self, code: CodeHash, count: u32) -> PrintNumbers {
        PrintNumbers {
            // No memory holds modules with as many prints as there are numbers.
            first: self.numbers.claim(code, count).unwrap_or(0),
            counter: self.counters.claim(code, count),
        }
    }

    /// Keeps the table of code.
    pub fn keep(&mut self, table: &Arc<SiteTable>) {
        let places = table.prints.iter().map(|site| PrintPlace::of(table, site).into());
        let places = places.collect();
        let table = Arc::clone(table);
        self.tables.insert(table.code(), PrintTable { table, places });
    }

    /// The shape of the records of a number.
    pub fn shape(&self, number: u32) -> Option<PrintShape> {
        let (code, site) = self.numbers.owner(number)?;
        PrintShape::new(&self.tables.get(&code)?.table, site)
    }

    /// The line of a record.
    pub fn line(&self, record: &PrintRecord) -> PrintLine {
        let found = record.code.and_then(|code| self.tables.get(&code));
        let table = found.map(|found| &*found.table);
        match found.and_then(|found| found.places.get(record.site as usize)) {
            Some(place) => PrintLine::at(Arc::clone(place), record, table),
            None => PrintLine::new(record, table),
        }
    }

    /// The counters of sites, and where the sites are.
    pub fn counters(&self) -> impl Iterator<Item = (u32, PrintPlace)> {
        let of_sites = self.counters.owners().map(|(counter, (code, site))| {
            let table = self.tables.get(&code);
            let place = table.and_then(|table| table.places.get(site as usize));
            (
                counter,
                place.map_or_else(PrintPlace::default, |place| (**place).clone()),
            )
        });
        of_sites.chain([(SHARED_COUNTER, PrintPlace::default())])
    }
}
