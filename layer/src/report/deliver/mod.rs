//! Delivers a report to people: log, messengers and dump folder.

mod dump;
mod messengers;
pub mod prints;
mod process_exit;

use super::build::LossReport;
use crate::arena::Arena;
use crate::device::state::LossData;
use crate::device::{AbortState, Device};
use crate::locks::{lock, try_lock};
use crate::log::{Format, Level};
use crate::settings::OnAbort;
use prints::history;
use std::time::{Duration, Instant};
use vk_ext::FaultInfo;
use vkabort_record::message_data::MessageData;
use vkabort_report::{Duplicates, Report};

/// Minimum time between two reports of repeated aborts.
const REPEAT_INTERVAL: Duration = Duration::from_secs(10);

/// Delivers the report of a loss. Returns the answers of fault queries, and the fault reports.
pub fn deliver_loss(device: &Device, state: &AbortState, loss: LossReport) -> (LossData, Vec<FaultInfo>) {
    let log = &device.instance.log;
    let LossReport { report, data, .. } = loss;
    for warning in &loss.warnings {
        log.line(Level::Warning, warning);
    }
    if report.is_empty() {
        log.line(Level::Error, &data.text);
        for line in report.summary.loss_lines() {
            log.line(Level::Error, &line);
        }
    } else {
        deliver(device, state, report, (&data.message_data, &data.vendor_binary), true);
    }
    if let Some((level, line)) = &loss.conclusion {
        log.line(*level, line);
    }
    (data, loss.faults)
}

/// Delivers a report. Under `on_abort = continue` a site is shown in full `duplicate_limit` times and then counted. The dump
/// ignores the user's filter, and has all messages and the driver's crash dump. `is_new_submit`: no abort is of a submit of the last
/// report.
pub fn deliver(
    device: &Device,
    state: &AbortState,
    mut report: Report,
    (messages, vendor_binary): (&MessageData, &[u8]),
    is_new_submit: bool,
) {
    let settings = &device.instance.settings;
    if settings.on_abort != OnAbort::Lose {
        let mut filtered = report.clone();
        settings.filter.apply(&mut filtered);
        lock(&state.totals).add(&filtered);
        let mut duplicates = lock(&state.duplicates);
        let new = || Duplicates::new(settings.duplicate_limit, REPEAT_INTERVAL);
        let duplicates = duplicates.get_or_insert_with(new);
        if !duplicates.shorten(&mut report, Instant::now(), is_new_submit) {
            return;
        }
    }
    let mut failure = None;
    let is_new = report.sites.is_empty() || report.sites.iter().any(|site| site.repeats.is_none());
    if let Some(folder) = settings.dump_dir.as_ref().filter(|_| is_new) {
        match dump::write(folder, state, &report, (messages, vendor_binary), &history(state)) {
            Ok(path) => report.summary.dump = Some(path.display().to_string()),
            Err(error) => {
                let folder = folder.display();
                failure = Some(format!("cannot write the dump to {folder} (dump_dir): {error}"));
            }
        }
    }
    let had_sites = !report.sites.is_empty();
    settings.filter.apply(&mut report);
    // Ignored aborts are counted in the report of others, but cause no report of their own.
    if !report.sites.is_empty() || !had_sites {
        device.instance.log.write(&log_text(device, &report));
        if let Some(warning) = state.arena.as_ref().and_then(Arena::address_warning) {
            device.instance.log.line(Level::Warning, &warning);
        }
        messengers::send_report(device, &report);
    }
    if let Some(text) = failure {
        device.instance.log.line(Level::Error, &text);
    }
}

/// A report as the log shows it. Empty if the log shows no errors.
fn log_text(device: &Device, report: &Report) -> String {
    let log = &device.instance.log;
    match log.format() {
        _ if !log.is_enabled(Level::Error) => String::new(),
        Format::Json => report.json_lines(),
        Format::Text => report.text(log.has_colors()),
    }
}

/// The end of a device's log under `on_abort = continue`, when the device is destroyed or the process ends: the repeated aborts
/// since the last report and, in a text log, a table of all sites. A second call returns an empty text, and so does one in a
/// child of the device's process.
pub fn closing_text(device: &Device) -> String {
    let mut text = String::new();
    let Some(state) = device.state.as_ref().filter(|_| !device.is_inherited()) else {
        return text;
    };
    // At the end of the process a thread that will never run again may hold the locks.
    let (Some(mut duplicates), Some(mut totals)) = (try_lock(&state.duplicates), try_lock(&state.totals)) else {
        return text;
    };
    if let Some(mut rest) = duplicates.take().and_then(|mut duplicates| duplicates.rest()) {
        device.instance.settings.filter.apply(&mut rest);
        if !rest.sites.is_empty() {
            text += &log_text(device, &rest);
        }
    }
    let totals = std::mem::take(&mut *totals);
    let log = &device.instance.log;
    if totals.is_worth_a_table() && log.is_enabled(Level::Error) && log.format() == Format::Text {
        text += &totals.table(log.has_colors());
    }
    text
}
