//! Builds reports from their sources, reads nothing else and delivers nothing.

use super::fault_info::fault_info;
use super::gather::{Cause, LossSources, ReportSources};
use super::loss_text::{concluding_line, one_line_text, warnings};
use crate::device::features::addresses::Addresses;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::Extensions;
    use crate::report::gather::DriverFault;
    use std::time::Duration;

    /// The sources of a loss without aborts.
    fn sources(cause: Cause, answers_faults: bool) -> LossSources<'static> {
        LossSources {
            cause,
            messages: MessageData::default(),
            is_of_driver: cause == Cause::Driver,
            report: ReportSources::default(),
            fault_group: 3,
            driver: DriverFault::default(),
            pending: Vec::new(),
            progress: Vec::new(),
            unmarked: 0,
            trap: Trap::Return,
            emulated: Extensions {
                fault: answers_faults,
                ..Extensions::default()
            },
            drain_timeout: Duration::from_millis(5),
        }
    }

    #[test]
    fn a_loss_without_aborts_has_the_text_of_the_driver() {
        let mut named = sources(Cause::Driver, true);
        named.driver.text = Some("page fault".to_owned());
        named.pending = vec!["a command buffer without a name with 1 command".to_owned()];
        let loss = build_loss(named);
        assert!(loss.report.is_empty() && loss.data.by_driver);
        assert_eq!(loss.data.text, "page fault");
        assert_eq!(
            loss.report.summary.loss_lines(),
            [
                "the driver reports: page fault",
                "was pending: a command buffer without a name with 1 command"
            ]
        );
        let flags: Vec<u32> = loss.faults.iter().map(|fault| fault.flags).collect();
        assert_eq!(flags, [fault_flags::DEVICE_LOST]);
        let nameless = build_loss(sources(Cause::Driver, false));
        assert_eq!(
            nameless.data.text,
            "the driver reports the device as lost; no shader has aborted"
        );
        assert!(nameless.faults.is_empty(), "the driver reports it");
    }

    #[test]
    fn incomplete_sources_and_other_losses_than_asked_for_have_lines() {
        let mut incomplete = sources(Cause::Abort { drained: false }, true);
        incomplete.unmarked = 2;
        incomplete.driver.cut_from = Some(1 << 30);
        let loss = build_loss(incomplete);
        assert_eq!(
            loss.warnings,
            [
                "the driver's crash dump has 1073741824 bytes, of which 67108864 are read",
                "2 command buffers that were pending have no markers: too many are recorded"
            ]
        );
        let (level, line) = loss.conclusion.expect("a line");
        assert_eq!(level, Level::Error);
        assert!(
            line.starts_with("the device was still busy 5 ms after the abort"),
            "{line}"
        );
        let mut trapped = sources(Cause::Abort { drained: true }, true);
        assert!(
            build_loss(sources(Cause::Abort { drained: true }, true))
                .conclusion
                .is_none()
        );
        trapped.trap = Trap::Fault;
        let (level, line) = build_loss(trapped).conclusion.expect("a line");
        assert_eq!(level, Level::Warning);
        assert!(
            line.starts_with("the driver did not lose the device after the trap"),
            "{line}"
        );
    }
}
