//! The sites of several reports, each with the sum of its aborts.

use crate::phrases::count;
use crate::site_report::{SiteReport, place};
use crate::styled::Styled;
use crate::summary::Report;
use crate::text::own_line;
use std::collections::HashMap;
use vkabort_record::escape::one_line;
use vkabort_record::site::{ModuleHash, SiteId};

/// Identifies a site over several reports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SiteKey {
    /// A module has other sites with checks and without.
    Numbered(ModuleHash, SiteId, Option<u32>, Option<String>),
    /// A message that a driver recorded, of an ambiguous or unknown site.
    Message(Vec<String>, String),
}

impl SiteKey {
    pub(crate) fn new(site: &SiteReport) -> Self {
        match (site.module_hash, site.site) {
            (Some(hash), Some(id)) => Self::Numbered(hash, id, site.word_offset, site.check.clone()),
            _ => Self::Message(
                site.also_possible.clone(),
                site.samples.first().map(|s| s.message.text.clone()).unwrap_or_default(),
            ),
        }
    }
}

/// One site of several reports.
#[derive(Clone, Debug)]
pub struct SiteTotal {
    /// The first report of it.
    pub first: SiteReport,
    /// Invocations that aborted there, in all reports.
    pub invocations: u64,
    /// Minimum number of submits in which they aborted.
    pub submits: u64,
}

/// All sites of several reports.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// In the order of their first reports.
    pub sites: Vec<SiteTotal>,
    indices: HashMap<SiteKey, usize>,
}

impl Totals {
    /// The totals of reports.
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut totals = Self::default();
        for report in reports {
            totals.add(report);
        }
        totals
    }

    /// Adds the sites of a report.
    pub fn add(&mut self, report: &Report) {
        for site in &report.sites {
            let next = self.sites.len();
            let index = *self.indices.entry(SiteKey::new(site)).or_insert(next);
            if index == next {
                self.sites.push(SiteTotal {
                    first: site.clone(),
                    invocations: 0,
                    submits: 0,
                });
            }
            if let Some(total) = self.sites.get_mut(index) {
                total.invocations = total.invocations.saturating_add(site.invocations);
                total.submits = total.submits.saturating_add(site.repeats.unwrap_or(1));
            }
        }
    }

    /// Whether the reports do not already show these totals: some site is in several, or there are several sites.
    pub fn is_worth_a_table(&self) -> bool {
        self.sites.len() > 1 || self.sites.iter().any(|site| site.submits > 1)
    }

    /// A table of the sites, most invocations first, each line ended by a line feed. `color`: with ANSI colours.
    pub fn table(&self, color: bool) -> Styled {
        let mut rows: Vec<&SiteTotal> = self.sites.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.invocations));
        let invocations = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.invocations));
        let total = format!(
            "{} aborted at {}",
            count(invocations, "invocation"),
            count(rows.len() as u64, "site")
        );
        let mut text = own_line(&total, color);
        text.push(&Styled::plain(&format!(
            "  {:>11}  {:>7}  site\n",
            "invocations", "submits"
        )));
        for row in rows {
            let place = one_line(&place(&row.first));
            text.push(&Styled::plain(&format!(
                "  {:>11}  {:>7}  {place}\n",
                row.invocations, row.submits
            )));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(sites: &[(u32, u64, Option<u64>)]) -> Report {
        let site = |&(id, invocations, repeats)| SiteReport {
            module_hash: Some(ModuleHash(1)),
            site: Some(SiteId(id)),
            function: Some(format!("f{id}\x1b")),
            invocations,
            repeats,
            ..SiteReport::default()
        };
        Report {
            sites: sites.iter().map(site).collect(),
            ..Report::default()
        }
    }

    #[test]
    fn aborts_of_a_site_are_added_up() {
        let once = report(&[(3, 5, None)]);
        assert!(!Totals::of([&once]).is_worth_a_table());
        let reports = [
            once,
            report(&[(3, 7, None), (1, 100, None)]),
            report(&[(3, 300, Some(77))]),
        ];
        let totals = Totals::of(&reports);
        assert!(totals.is_worth_a_table());
        assert_eq!(
            &*totals.table(false),
            "vkabort: 412 invocations aborted at 2 sites
  invocations  submits  site
          312       79  function `f3\\x1b`, module 0000000000000001
          100        1  function `f1\\x1b`, module 0000000000000001
"
        );
    }
    #[test]
    fn the_sites_of_a_module_with_checks_are_not_those_without() {
        let written = report(&[(0, 1, None)]);
        let mut planted = written.clone();
        for site in &mut planted.sites {
            (site.word_offset, site.check) = (Some(7), Some("divide".into()));
        }
        assert_eq!(Totals::of([&written, &planted]).sites.len(), 2);
    }
}
