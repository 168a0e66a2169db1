//! A report: its sites, and the rows of its summary.

use crate::commands::QueueProgress;
use crate::phrases::{count, dump};
use crate::rows::{is_false, is_zero, report_rows};
use crate::site_report::SiteReport;

/// A report of all aborts of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The sites that aborted, in the order of their first aborts.
    pub sites: Vec<SiteReport>,
    /// Counts over all sites, and aborts that were not recorded.
    pub summary: Summary,
}

report_rows! {
    /// Counts over all sites.
    #[derive(Eq)]
    Summary, with lines of Report:
    /// Name of the device.
    device: Option<String> [absent if "Option::is_none"];
    /// Invocations whose messages were recorded.
    invocations: u64
        [line 9: |report| report.has_no_abort().then(|| "no shader aborted".to_owned())];
    /// Messages that were started but not completed.
    unfinished: u64
        [line 2: |report| match report.summary.unfinished {
            0 => None,
            1 => Some("1 message was started but not completed".to_owned()),
            n => Some(format!("{n} messages were started but not completed")),
        }];
    /// Aborts that did not fit into the arena.
    dropped: u64;
    /// Whether the arena was too small for some messages.
    full: bool
        [line 1: |report| report.summary.full.then(|| full(&report.summary))];
    /// Invocations that were ended in loops that may wait for one that aborted.
    ended: u64 [absent if "is_zero"]
        [line 3: |report| match report.summary.ended {
            0 => None,
            1 => Some("1 more invocation was ended, in a loop that may wait for one that aborted".to_owned()),
            n => Some(format!("{n} more invocations were ended, in loops that may wait for one that aborted")),
        }];
    /// Whether the abort count was lost with the device: there may have been more aborts.
    control_lost: bool [absent if "is_false"]
        [line 4: |report| report.summary.control_lost.then(|| {
            "the abort count was lost with the device: there may have been more aborts".to_owned()
        })];
    /// The driver's own description of a device loss, by line.
    driver: Vec<String> [absent if "Vec::is_empty"]
        [line 5: |report| driver_lines(&report.summary)];
    /// The command buffers that were pending when the driver lost the device, with their labels, by line.
    pending: Vec<String> [absent if "Vec::is_empty"]
        [line 6: |report| pending_lines(&report.summary)];
    /// How far the queues came before the driver lost the device, if markers tell.
    progress: Vec<QueueProgress> [absent if "Vec::is_empty"]
        [line 7: |report| progress_lines(&report.summary)];
    /// Invocations at sites that the filter removed from the report.
    ignored: u64 [absent if "is_zero"]
        [line 8: |report| (report.summary.ignored > 0).then(|| {
            let kind = if report.sites.is_empty() { "invocation" } else { "more invocation" };
            format!("{} aborted at sites that the filter ignores", count(report.summary.ignored, kind))
        })];
    /// Size of the arena, in bytes.
    arena_bytes: Option<u64> [absent if "Option::is_none"];
    /// The setting to raise for a larger arena.
    raise: Option<String> [absent if "Option::is_none"];
    /// Folder of the dump. With sites, the last one that is shown in full names it.
    dump: Option<String> [absent if "Option::is_none"]
        [line 10: |report| report.summary.dump.as_deref().filter(|_| report.sites.is_empty()).map(dump)];
}

impl Summary {
    /// The lines about a loss by the driver, in their order in the text.
    pub fn loss_lines(&self) -> Vec<String> {
        [driver_lines(self), pending_lines(self), progress_lines(self)].concat()
    }
}

fn driver_lines(summary: &Summary) -> Vec<String> {
    let lines = summary.driver.iter();
    lines.map(|line| format!("the driver reports: {line}")).collect()
}

fn pending_lines(summary: &Summary) -> Vec<String> {
    let lines = summary.pending.iter();
    lines.map(|line| format!("was pending: {line}")).collect()
}

fn progress_lines(summary: &Summary) -> Vec<String> {
    let queues = summary.progress.iter();
    queues.map(|queue| format!("lost at {}", queue.text())).collect()
}

impl Report {
    /// Whether no site is reported and no message is missing.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.summary.unfinished == 0 && self.summary.dropped == 0
    }

    /// Text of the first message.
    pub fn first_message(&self) -> Option<String> {
        Some(self.sites.first()?.samples.first()?.message.text.clone())
    }

    /// Whether the report says that there was no abort.
    fn has_no_abort(&self) -> bool {
        self.sites.is_empty() && !self.summary.full && self.summary.unfinished == 0 && self.summary.ignored == 0
    }
}

/// `2 more aborts did not fit into the arena of 1024 bytes: raise the setting `arena_size` to see them`.
fn full(summary: &Summary) -> String {
    let count = count(summary.dropped, "more abort");
    let arena = match summary.arena_bytes {
        Some(bytes) => format!("the arena of {bytes} bytes"),
        None => "the arena".to_owned(),
    };
    let advice = match &summary.raise {
        Some(setting) => format!(": raise the setting `{setting}` to see them"),
        None => String::new(),
    };
    format!("{count} did not fit into {arena}{advice}")
}
