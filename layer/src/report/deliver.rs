//! Delivers a report to people: log, messengers and dump folder.

use super::dump::{self, RawData};
use super::log::{Format, Level};
use super::messengers;
use crate::arena::Arena;
use crate::device::state::{AbortState, Device};
use vkabort_record::report::Report;
use vkabort_record::snapshot::Records;

/// Delivers a report. The dump ignores the user's filter.
pub fn deliver(device: &Device, state: &AbortState, report: &Report, records: &Records, raw: RawData<'_>) {
    let settings = &device.instance.settings;
    let mut filtered = report.clone();
    settings.filter.apply(&mut filtered);
    // Ignored aborts are counted in the report of others, but cause no report of their own.
    if !filtered.sites.is_empty() || report.sites.is_empty() {
        show(device, state, &filtered);
    }
    if let Some(folder) = &settings.dump_dir
        && let Err(error) = dump::write(folder, state, report, records, raw)
    {
        let text = format!("cannot write the dump to {} (dump_dir): {error}", folder.display());
        device.instance.log.line(Level::Error, &text);
    }
}

/// Writes a report to the log and passes it to the messengers.
fn show(device: &Device, state: &AbortState, report: &Report) {
    let log = &device.instance.log;
    if log.is_enabled(Level::Error) {
        log.write(&match log.format() {
            Format::Json => report.json_lines(),
            Format::Text => report.text(log.has_colors()),
        });
    }
    if let Some(warning) = state.arena.as_ref().and_then(Arena::address_warning) {
        log.line(Level::Warning, &warning);
    }
    messengers::send(device, &report.text(false));
}
