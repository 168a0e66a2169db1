//! Builds reports from their sources, reads nothing else and delivers nothing.

use super::fault_info::fault_info;
use super::gather::{Cause, LossSources, ReportSources};
use super::loss_text::{concluding_line, one_line_text, warnings};
use crate::device::addresses::Addresses;
use crate::device::state::LossData;
use crate::log::Level;
use vk_ext::{FaultInfo, fault_flags};
use vkabort_instrument::{Check, Trap};
use vkabort_record::buffer_table::address_in;
use vkabort_record::framing::split;
use vkabort_record::message_data::MessageData;
use vkabort_report::{ModuleInfo, Report};

/// A report of a loss, and everything else that is delivered with it.
pub struct LossReport {
    /// The report.
    pub report: Report,
    /// Warnings in front of the report.
    pub warnings: Vec<String>,
    /// The line of the log behind the report.
    pub conclusion: Option<(Level, String)>,
    /// The answers of fault queries.
    pub data: LossData,
    /// The fault reports, of which the last has `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
    pub faults: Vec<FaultInfo>,
}

/// Builds the report of a loss.
pub fn build_loss(mut sources: LossSources<'_>) -> LossReport {
    let mut report = match sources.is_of_driver {
        true => build_report_of_driver(std::mem::take(&mut sources.report), sources.messages.bytes()),
        false => build_report(std::mem::take(&mut sources.report), &sources.messages),
    };
    report.summary.driver = sources.driver.lines();
    report.summary.pending = std::mem::take(&mut sources.pending);
    report.summary.progress = std::mem::take(&mut sources.progress);
    let text = one_line_text(&report, &sources.driver);
    LossReport {
        warnings: warnings(&sources),
        conclusion: concluding_line(&sources, !report.is_empty()),
        faults: faults(&sources, &report, &text),
        data: LossData {
            message_data: sources.messages,
            vendor_binary: sources.driver.vendor_binary,
            text,
            by_driver: sources.cause == Cause::Driver,
        },
        report,
    }
}

/// Builds the report of an arena's records.
pub fn build_report(mut sources: ReportSources<'_>, messages: &MessageData) -> Report {
    let module = |code| sources.modules.remove(&code).unwrap_or_default();
    let mut report = Report::build(messages.records(), module, &sources.options);
    if let Some(addresses) = sources.addresses {
        describe_addresses(addresses, &mut report);
    }
    report
}

/// Builds the report of a driver's message data, which does not name its modules.
fn build_report_of_driver(sources: ReportSources<'_>, message_data: &[u8]) -> Report {
    let modules: Vec<ModuleInfo> = sources.modules.into_values().collect();
    Report::from_payloads(split(message_data).payloads, &modules, &sources.options)
}

/// Adds what the addresses of failed checks have to do with the buffers of the program.
fn describe_addresses(addresses: &Addresses, report: &mut Report) {
    let name = Some(Check::Addresses.name());
    for site in report.sites.iter_mut().filter(|site| site.check.as_deref() == name) {
        let message = site.samples.first().map(|sample| &sample.message);
        let access = message.and_then(|message| address_in(&message.text, &message.bytes));
        site.address = access.map(|(address, bytes)| addresses.describe(address, bytes));
    }
}

/// The fault reports of a loss. None if a driver with `VK_KHR_device_fault` reports it.
fn faults(sources: &LossSources<'_>, report: &Report, text: &str) -> Vec<FaultInfo> {
    let is_by_driver = sources.cause == Cause::Driver;
    if is_by_driver && !sources.emulated.fault && report.first_message().is_none() {
        return Vec::new();
    }
    let watchdog = match is_by_driver && has_hung(sources) {
        true => fault_flags::WATCHDOG_TIMEOUT,
        false => 0,
    };
    let last = fault_info(sources.fault_group, fault_flags::DEVICE_LOST | watchdog, text);
    sources.driver.reports.iter().copied().chain([last]).collect()
}

/// Whether the driver's watchdog ended the loop of `trap = hang`: the driver names no invalid access to memory.
fn has_hung(sources: &LossSources<'_>) -> bool {
    let mut reports = sources.driver.reports.iter();
    sources.trap == Trap::Hang
        && !sources.messages.records().records.is_empty()
        && !reports.any(|report| report.flags & fault_flags::MEMORY_ADDRESS != 0)
}
