//! The report of a lost device, and of aborts under `on_abort = continue`.

use super::deliver::deliver;
use super::driver_fault::DriverFault;
use super::dump::RawData;
use super::fault_info::fault_info;
use super::native;
use super::pending_commands::{pending_command_buffers, pending_commands};
use super::prints::{deliver_last_prints, deliver_prints};
use super::queue_progress::{queue_progress, without_markers};
use crate::arena::readback::RecordRange;
use crate::device::addresses::Addresses;
use crate::device::state::{AbortState, Device, LossData, Module, Recording, Suspects};
use crate::log::Level;
use crate::settings::OnAbort;
use ash::vk::{self, Handle as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vk_ext::{FaultInfo, fault_flags};
use vkabort_instrument::{Check, Trap};
use vkabort_record::buffer_table::address_in;
use vkabort_record::framing::split;
use vkabort_record::message_data::MessageData;
use vkabort_record::records::{Record, Records};
use vkabort_record::site::CodeHash;
use vkabort_report::{ModuleInfo, QueueUse, Report, ReportOptions};

/// Why a device is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A shader aborted.
    Abort {
        /// The queues became idle before the drain timed out.
        drained: bool,
    },
    /// The driver lost the device.
    Driver,
}

/// Takes the snapshot of a sealed device and delivers the report. Returns the data for `vkGetDeviceFaultDebugInfoKHR` and
/// for `vkGetDeviceFaultReportsKHR`; of the fault reports, the last has `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
pub fn report_loss(device: &Device, state: &AbortState, cause: Cause) -> (LossData, Vec<FaultInfo>) {
    let log = &device.instance.log;
    deliver_last_prints(device, state);
    let mut message_data = MessageData::from(read_records(state, cause));
    let group = state.loss.next_fault_group();
    let mut driver = match cause {
        Cause::Driver if state.emulated.fault => DriverFault::query(device, state, group),
        _ => DriverFault::default(),
    };
    let Suspects { queues, recordings } = state.suspects(&state.queues.values());
    let options = report_options(device, state, queues);
    let mut report = if message_data.is_empty() && cause == Cause::Driver {
        message_data = native::message_data(device, state).into();
        report_of_messages(state, message_data.bytes(), &options, &recordings)
    } else {
        report_of_records(state, message_data.records(), &options, &recordings)
    };
    report.summary.driver = driver.lines();
    if cause == Cause::Driver {
        report.summary.pending = pending_command_buffers(&state.objects, &recordings);
        // SAFETY: the queues live as long as the device, which the driver has lost.
        report.summary.progress = unsafe { queue_progress(state) };
        let without = without_markers(state, &recordings);
        if without > 0 {
            let text = format!("{without} command buffers that were pending have no markers: too many are recorded");
            log.line(Level::Warning, &text);
        }
    }
    let first_message = report.first_message();
    let has_aborts = !report.is_empty();
    let text = first_message
        .clone()
        .or_else(|| driver.text.take())
        .unwrap_or_else(|| "the driver reports the device as lost; no shader has aborted".to_owned());
    if !has_aborts {
        log.line(Level::Error, &text);
        for line in &report.summary.driver {
            log.line(Level::Error, &format!("the driver reports: {line}"));
        }
        for line in &report.summary.pending {
            log.line(Level::Error, &format!("was pending: {line}"));
        }
        for queue in &report.summary.progress {
            log.line(Level::Error, &format!("lost at {}", queue.text()));
        }
    } else {
        let raw = RawData {
            messages: &|| message_data.bytes().into(),
            vendor_binary: &driver.vendor_binary,
        };
        deliver(device, state, report, (message_data.records(), raw), true);
    }
    log_cause(device, state, cause, has_aborts);
    // A driver with VK_KHR_device_fault reports its own losses.
    let faults = if cause == Cause::Driver && !state.emulated.fault && first_message.is_none() {
        Vec::new()
    } else {
        let mut flags = fault_flags::DEVICE_LOST;
        if cause == Cause::Driver && hung(state, message_data.records(), &driver) {
            flags |= fault_flags::WATCHDOG_TIMEOUT;
        }
        let last = fault_info(group, flags, &text);
        driver.reports.into_iter().chain([last]).collect()
    };
    let data = LossData {
        message_data,
        vendor_binary: driver.vendor_binary,
        text,
        by_driver: cause == Cause::Driver,
    };
    (data, faults)
}

/// `on_abort = continue`: delivers a report of new records, and queues a fault report without the flag of a loss.
///
/// `is_new_submit`: no abort is of a submit of the last report.
pub fn report_and_continue(
    device: &Device,
    state: &AbortState,
    records: &Records,
    suspects: Suspects,
    is_new_submit: bool,
) {
    // Shaders printed before they aborted.
    deliver_prints(device, state);
    let options = report_options(device, state, suspects.queues);
    let report = report_of_records(state, records, &options, &suspects.recordings);
    if report.is_empty() {
        return;
    }
    let raw = RawData {
        messages: &|| records.message_data().into(),
        vendor_binary: &[],
    };
    let first_message = report.first_message();
    deliver(device, state, report, (records, raw), is_new_submit);
    if state.report_masked
        && let Some(text) = first_message
    {
        state.faults.push([fault_info(state.loss.next_fault_group(), 0, &text)]);
    }
}

/// Whether a record is of an abort that loses the device under `on_abort = continue_checks`: the program's own, of a device for which it
/// has enabled the extension.
pub fn has_losing_abort(device: &Device, state: &AbortState, records: &Records) -> bool {
    let is_own = |record: &Record| {
        let module = state.objects.find(record.code);
        let site = module.as_ref().and_then(|module| module.sites.site(record.site));
        site.is_none_or(|site| site.check.is_none())
    };
    let may_lose = device.instance.settings.on_abort == OnAbort::ContinueChecks && state.requested.abort;
    may_lose && records.records.iter().any(is_own)
}

/// Options for a report whose aborts are on one of `queues`.
fn report_options(device: &Device, state: &AbortState, queues: Vec<QueueUse>) -> ReportOptions {
    ReportOptions {
        arena_bytes: state.arena.as_ref().map(|arena| u64::from(arena.bytes())),
        device: state.objects.name(vk::ObjectType::DEVICE, device.handle.as_raw()),
        queues,
        ..ReportOptions::default()
    }
}

/// Builds the report of an arena's records.
fn report_of_records(
    state: &AbortState,
    records: &Records,
    options: &ReportOptions,
    pending: &[Arc<Recording>],
) -> Report {
    let find_module = |code: CodeHash| match state.objects.find(code) {
        Some(module) => module_info(state, &module, pending),
        None => ModuleInfo::default(),
    };
    let mut report = Report::build(records, &find_module, options);
    if let Some(addresses) = &state.addresses {
        describe_addresses(addresses, &mut report);
    }
    report
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

/// Builds the report of a native driver's message data, which does not name its modules.
fn report_of_messages(
    state: &AbortState,
    message_data: &[u8],
    options: &ReportOptions,
    pending: &[Arc<Recording>],
) -> Report {
    let modules = state.objects.all();
    let modules: Vec<ModuleInfo> = modules
        .iter()
        .map(|module| module_info(state, module, pending))
        .collect();
    Report::from_payloads(split(message_data).payloads, &modules, options)
}

/// A module's sites, its name, the objects that run it, and the commands of pending work that run these.
fn module_info(state: &AbortState, module: &Module, pending: &[Arc<Recording>]) -> ModuleInfo {
    let objects = &state.objects;
    ModuleInfo {
        sites: Some(Arc::clone(&module.sites)),
        name: objects.module_name(module.sites.module_hash),
        stages: objects.stages(module.code()),
        commands: pending_commands(objects, pending, module.code()),
    }
}

/// Reads the records that are not yet reported. Some may be: if the queues never became idle under `on_abort = continue`,
/// reported records stay in the arena.
fn read_records(state: &AbortState, cause: Cause) -> Records {
    let from = state.loss.reported_units.load(Ordering::Relaxed);
    let range = match cause {
        Cause::Abort { .. } => RecordRange::ToCursor(from),
        Cause::Driver => RecordRange::ToEnd(from),
    };
    let arena = state.arena.as_ref();
    let find_sites = &|hash| state.objects.find_sites(hash);
    arena.map_or_else(Records::default, |arena| arena.read(range, find_sites))
}

/// Whether the driver's watchdog ended the loop of `trap = hang`: the driver names no invalid access to memory.
fn hung(state: &AbortState, records: &Records, driver: &DriverFault) -> bool {
    state.options.trap == Trap::Hang
        && !records.records.is_empty()
        && !driver
            .reports
            .iter()
            .any(|r| r.flags & fault_flags::MEMORY_ADDRESS != 0)
}

fn log_cause(device: &Device, state: &AbortState, cause: Cause, has_aborts: bool) {
    let log = &device.instance.log;
    match cause {
        Cause::Driver if has_aborts && state.options.trap == Trap::Return && state.emulated.abort => log.line(
            Level::Error,
            "the driver lost the device, not the layer: a shader has aborted, but that does not lose the driver's device",
        ),
        Cause::Abort { drained: true } if state.options.trap != Trap::Return => log.line(
            Level::Warning,
            "the driver did not lose the device after the trap; the layer reports the loss",
        ),
        Cause::Abort { drained: false } => {
            let timeout = device.instance.settings.drain_timeout.as_millis();
            let text = format!(
                "the device was still busy {timeout} ms after the abort: its objects are kept until it is idle and destroyed, and \
                 its command buffers cannot be recorded again"
            );
            log.line(Level::Error, &text);
        }
        _ => {}
    }
}
