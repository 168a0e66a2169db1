//! Shortens the reports of a device that continues after aborts: a site is shown in full a few times, then counted.

use crate::site_report::SiteReport;
use crate::summary::{Report, Summary};
use crate::totals::SiteKey;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Counts the reports of each site.
#[derive(Debug)]
pub struct Duplicates {
    /// How often a site is shown in full.
    limit: u32,
    /// Minimum time between two reports of repeated aborts.
    interval: Duration,
    sites: Vec<Shown>,
    indices: HashMap<SiteKey, usize>,
    /// Counts of reports that were left without a site, except of invocations.
    withheld: Summary,
    last: Option<Instant>,
}

#[derive(Debug)]
struct Shown {
    times: u32,
    /// Without the invocations that were reported.
    again: SiteReport,
}

impl Duplicates {
    /// Shows a site `limit` times in full, then its counts, at intervals.
    pub fn new(limit: u32, interval: Duration) -> Self {
        Self {
            limit: limit.max(1),
            interval,
            sites: Vec::new(),
            indices: HashMap::new(),
            withheld: Summary::default(),
            last: None,
        }
    }

    /// Removes the sites that were shown often enough, and adds the counts that are due. Returns whether anything is left to
    /// show. `is_new_submit`: the aborts are of other submits than those of the last report.
    pub fn shorten(&mut self, report: &mut Report, now: Instant, is_new_submit: bool) -> bool {
        self.last.get_or_insert(now);
        let is_due = self.last.is_some_and(|last| now.duration_since(last) >= self.interval);
        let was_empty = report.sites.is_empty();
        report.sites.retain(|site| !self.count(site, is_new_submit));
        if is_due {
            self.last = Some(now);
            report.sites.extend(self.take_repeats());
        }
        if report.sites.is_empty() && !was_empty {
            add(&mut self.withheld, &report.summary);
            return false;
        }
        add(&mut report.summary, &std::mem::take(&mut self.withheld));
        report.summary.invocations = report.sites.iter().map(|site| site.invocations).sum();
        true
    }

    /// The counts that were not shown yet, at the end.
    pub fn rest(&mut self) -> Option<Report> {
        let sites = self.take_repeats();
        (!sites.is_empty()).then(|| Report {
            summary: Summary {
                invocations: sites.iter().map(|site| site.invocations).sum(),
                ..std::mem::take(&mut self.withheld)
            },
            sites,
        })
    }

    /// Counts a site. Returns whether it is only counted, because it was shown in full often enough.
    fn count(&mut self, site: &SiteReport, is_new_submit: bool) -> bool {
        let next = self.sites.len();
        let index = *self.indices.entry(SiteKey::new(site)).or_insert(next);
        if index == next {
            self.sites.push(Shown {
                times: 0,
                again: SiteReport {
                    samples: site.samples.iter().take(1).cloned().collect(),
                    invocations: 0,
                    distinct_messages: 0,
                    extent: None,
                    repeats: Some(0),
                    ..site.clone()
                },
            });
        }
        let Some(shown) = self.sites.get_mut(index) else {
            return false;
        };
        if shown.times < self.limit {
            shown.times += 1;
            return false;
        }
        shown.again.invocations = shown.again.invocations.saturating_add(site.invocations);
        let more = u64::from(is_new_submit);
        shown.again.repeats = shown.again.repeats.map(|repeats| repeats.saturating_add(more));
        true
    }

    /// The sites with aborts that were only counted; their counts begin again.
    fn take_repeats(&mut self) -> Vec<SiteReport> {
        let mut repeats = Vec::new();
        for shown in &mut self.sites {
            if shown.again.invocations != 0 {
                repeats.push(shown.again.clone());
                shown.again.invocations = 0;
                shown.again.repeats = Some(0);
            }
        }
        repeats
    }
}

/// Adds the counts of `more` that do not belong to a site.
fn add(summary: &mut Summary, more: &Summary) {
    summary.unfinished = summary.unfinished.saturating_add(more.unfinished);
    summary.dropped = summary.dropped.saturating_add(more.dropped);
    summary.ended = summary.ended.saturating_add(more.ended);
    summary.ignored = summary.ignored.saturating_add(more.ignored);
    summary.full |= more.full;
    for (to, from) in [(&mut summary.device, &more.device), (&mut summary.raise, &more.raise)] {
        if to.is_none() {
            to.clone_from(from);
        }
    }
    summary.arena_bytes = summary.arena_bytes.or(more.arena_bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::site::{ModuleHash, SiteId};

    fn report(sites: &[(u32, u64)], dropped: u64) -> Report {
        let site = |&(id, invocations)| SiteReport {
            module_hash: Some(ModuleHash(1)),
            site: Some(SiteId(id)),
            invocations,
            ..SiteReport::default()
        };
        Report {
            sites: sites.iter().map(site).collect(),
            summary: Summary {
                invocations: sites.iter().map(|(_, n)| n).sum(),
                dropped,
                full: dropped > 0,
                ..Summary::default()
            },
        }
    }

    fn shape(report: &Report) -> Vec<(u32, u64, Option<u64>)> {
        let sites = report.sites.iter();
        sites
            .map(|s| (s.site.map_or(0, |id| id.0), s.invocations, s.repeats))
            .collect()
    }

    #[test]
    fn a_site_is_shown_once_and_then_counted_at_intervals() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut duplicates = Duplicates::new(1, Duration::from_secs(10));
        let mut show = |sites, dropped, seconds| {
            let mut report = report(sites, dropped);
            let shown = duplicates.shorten(&mut report, after(seconds), true);
            (
                shown,
                shape(&report),
                report.summary.invocations,
                report.summary.dropped,
            )
        };
        assert_eq!(show(&[(3, 4)], 0, 0), (true, vec![(3, 4, None)], 4, 0));
        assert!(!show(&[(3, 5)], 1, 1).0);
        assert!(!show(&[(3, 6)], 2, 2).0);
        assert_eq!(show(&[(5, 1), (3, 1)], 0, 3), (true, vec![(5, 1, None)], 1, 3));
        assert_eq!(show(&[(3, 1)], 0, 10), (true, vec![(3, 13, Some(4))], 13, 0));
        assert!(!show(&[(3, 2)], 0, 11).0);
        let rest = duplicates.rest().expect("some aborts were only counted");
        assert_eq!((shape(&rest), rest.summary.invocations), (vec![(3, 2, Some(1))], 2));
        assert!(duplicates.rest().is_none());
    }

    #[test]
    fn the_limit_is_the_number_of_full_reports_and_at_least_one() {
        for (limit, full) in [(0, 1), (1, 1), (3, 3)] {
            let mut duplicates = Duplicates::new(limit, Duration::from_secs(10));
            let now = Instant::now();
            let shown = (0..9).filter(|_| duplicates.shorten(&mut report(&[(1, 1)], 0), now, true));
            assert_eq!(shown.count(), full);
        }
    }

    #[test]
    fn reports_of_one_submit_do_not_count_as_several() {
        let mut duplicates = Duplicates::new(1, Duration::from_secs(10));
        let now = Instant::now();
        let mut show = |is_new_submit| duplicates.shorten(&mut report(&[(3, 2)], 0), now, is_new_submit);
        assert!(show(true) && !show(false) && !show(false));
        let rest = duplicates.rest().expect("some aborts were only counted");
        assert_eq!(shape(&rest), [(3, 4, Some(0))]);
        assert!(
            rest.text(false).contains("again: 4 invocations at"),
            "{}",
            rest.text(false)
        );
    }

    #[test]
    fn a_report_without_sites_is_shown() {
        let mut duplicates = Duplicates::new(1, Duration::ZERO);
        assert!(duplicates.shorten(&mut report(&[], 3), Instant::now(), true));
    }
}
