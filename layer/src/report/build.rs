//! What is told, and to whom, once a shader has aborted or the driver has lost the device.
//!
//! The report itself is data of the `record` crate; this file collects what it needs and delivers it at once: to the log,
//! to the application's debug-utils messengers, to the dump directory, and to the fault queries.

use super::{driver_fault as fault, dump, native};
use crate::arena::Arena;
use crate::arena::readback::Extent;
use crate::device::state::{AbortState, Device, Messenger, Module, Outcome};
use crate::loader::ffi::{FaultInfo, fault_flag};
use crate::locks::lock;
use crate::report::log::{Format, Level};
use ash::vk;
use std::ffi::{CString, c_void};
use std::sync::Arc;
use vkabort_instrument::Trap;
use vkabort_record::framing::split;
use vkabort_record::report::{ModuleInfo, QueueUse, Report, ReportOptions};
use vkabort_record::site::ModuleHash;
use vkabort_record::snapshot::{Records, message_data};

/// Why a device is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A shader aborted.
    Abort {
        /// The queues came to rest first.
        drained: bool,
    },
    /// The driver said so.
    Driver,
}

/// What remains of a lost device.
pub struct Conclusion {
    /// For the queries of debug information.
    pub outcome: Outcome,
    /// For the queries of reports, the last one flagged.
    pub faults: Vec<FaultInfo>,
}

/// Takes the snapshot of a device that is being lost and delivers the report.
pub fn conclude(device: &Device, state: &AbortState, cause: Cause) -> Conclusion {
    // With `on_abort = continue` some may have been reported and still be there: the queues never came to rest.
    let from = state.loss.reported();
    let extent = match cause {
        Cause::Abort { .. } => Extent::From(from),
        Cause::Driver => Extent::AllFrom(from),
    };
    let records = state
        .arena
        .as_ref()
        .map_or_else(Records::default, |arena| arena.read(extent).records);
    let own = message_data(records.records.iter().map(|r| r.payload.as_slice()));
    let group = state.loss.next_group();
    let mut driver = match cause {
        Cause::Driver if state.emulated.fault => fault::ask_driver(device, state, group),
        _ => fault::DriverFault::default(),
    };
    let options = options(device, state, state.suspects(&state.queues.values()));
    let (mut report, message_data) = if own.is_empty() && cause == Cause::Driver {
        let native = native::messages(device, state);
        let modules: Vec<ModuleInfo> = state.modules.all().iter().map(|m| info(state, m)).collect();
        (
            Report::from_payloads(split(&native).payloads, &modules, &options),
            native,
        )
    } else {
        (build(state, &records, &options), own)
    };
    report.summary.driver = driver.lines();
    let first = report.first_message();
    let loss_text = first
        .clone()
        .or_else(|| driver.text.take())
        .unwrap_or_else(|| "the driver reports the device as lost; no shader has aborted".to_owned());
    if report.is_empty() {
        device.instance.log.line(Level::Error, &loss_text);
        for line in &report.summary.driver {
            let text = format!("the driver says: {line}");
            device.instance.log.line(Level::Error, &text);
        }
    } else {
        deliver(device, state, &report, &records, (&message_data, &driver.vendor_binary));
    }
    if state.options.trap != Trap::Return && cause == (Cause::Abort { drained: true }) {
        let text = "the driver has not lost the device by the trap: the layer reports the loss";
        device.instance.log.line(Level::Warning, text);
    }
    if cause == (Cause::Abort { drained: false }) {
        let waited = device.instance.settings.drain_timeout.as_millis();
        device.instance.log.line(
            Level::Error,
            &format!("the device was still busy {waited} ms after the abort: its objects are leaked, not destroyed"),
        );
    }
    // A driver with VK_KHR_device_fault of its own reports its own losses.
    let faults = if cause == Cause::Driver && !state.emulated.fault && first.is_none() {
        Vec::new()
    } else {
        let mut flags = fault_flag::DEVICE_LOST;
        // A loop was to call the driver's watchdog, and the driver blames no access to memory.
        let hung = state.options.trap == Trap::Hang && cause == Cause::Driver && !records.records.is_empty();
        if hung && !driver.reports.iter().any(|r| r.flags & fault_flag::MEMORY_ADDRESS != 0) {
            flags |= fault_flag::WATCHDOG_TIMEOUT;
        }
        let last = fault::report(group, flags, &loss_text);
        driver.reports.into_iter().chain([last]).collect()
    };
    Conclusion {
        outcome: Outcome {
            message_data,
            vendor_binary: driver.vendor_binary,
            text: loss_text,
            by_driver: cause == Cause::Driver,
        },
        faults,
    }
}

/// `on_abort = continue`: delivers the report of what is new, and a fault report that is not a loss.
pub fn go_on(device: &Device, state: &AbortState, records: &Records, suspects: Vec<QueueUse>) {
    let report = build(state, records, &options(device, state, suspects));
    if report.is_empty() {
        return;
    }
    let data = message_data(records.records.iter().map(|r| r.payload.as_slice()));
    deliver(device, state, &report, records, (&data, &[]));
    if state.report_masked
        && let Some(text) = report.first_message()
    {
        state.faults.push([fault::report(state.loss.next_group(), 0, &text)]);
    }
}

fn options(device: &Device, state: &AbortState, suspects: Vec<QueueUse>) -> ReportOptions {
    use vk::Handle as _;
    ReportOptions {
        arena_bytes: state.arena.as_ref().map(|arena| u64::from(arena.bytes())),
        device: state.names.get(vk::ObjectType::DEVICE, device.handle.as_raw()),
        queues: suspects,
        ..ReportOptions::default()
    }
}

fn build(state: &AbortState, records: &Records, options: &ReportOptions) -> Report {
    let known = |hash: ModuleHash| match state.modules.find(hash) {
        Some(module) => info(state, &module),
        None => ModuleInfo::default(),
    };
    Report::build(records, &known, options)
}

/// What is known of a module: its sites, its name, and the names of what was made from it.
fn info(state: &AbortState, module: &Module) -> ModuleInfo {
    let names = |kind| -> Vec<String> {
        let users = state.modules.users(module.sites.module_hash, kind);
        users
            .into_iter()
            .filter_map(|handle| state.names.get(kind, handle))
            .collect()
    };
    let mut pipelines = names(vk::ObjectType::PIPELINE);
    pipelines.extend(names(vk::ObjectType::SHADER_EXT));
    pipelines.sort();
    pipelines.dedup();
    ModuleInfo {
        sites: Some(Arc::clone(&module.sites)),
        name: names(vk::ObjectType::SHADER_MODULE).into_iter().next(),
        pipelines,
    }
}

/// `raw`: the messages, and the driver's crash dump.
fn deliver(device: &Device, state: &AbortState, report: &Report, records: &Records, raw: (&[u8], &[u8])) {
    let instance = &device.instance;
    let mut told = report.clone();
    instance.settings.filter.apply(&mut told);
    // What a user does not want to hear of is only counted beside what he does.
    if !told.sites.is_empty() || report.sites.is_empty() {
        tell(device, state, &told);
    }
    if let Some(folder) = &instance.settings.dump_dir
        && let Err(error) = dump::write(folder, state, report, records, raw)
    {
        instance
            .log
            .line(Level::Error, &format!("the dump could not be written: {error}"));
    }
}

/// Writes to the log and calls the messengers.
fn tell(device: &Device, state: &AbortState, report: &Report) {
    let instance = &device.instance;
    if instance.log.takes(Level::Error) {
        match instance.log.format() {
            Format::Json => instance.log.write(&report.json_lines()),
            Format::Text => {
                let color = instance.log.is_terminal();
                instance.log.write(&report.text(color));
            }
        }
    }
    if let Some(unfixed) = state.arena.as_ref().and_then(Arena::unfixed) {
        instance.log.line(Level::Warning, &unfixed);
    }
    to_messengers(device, &report.text(false));
}

/// Calls the application's messengers, with the device as the object concerned.
fn to_messengers(device: &Device, text: &str) {
    use vk::Handle as _;
    let mut heard: Vec<(usize, *mut c_void)> = Vec::new();
    // Copied first: a callback may create or destroy messengers of other instances.
    let messengers: Vec<Messenger> = lock(&device.instance.messengers).clone();
    let message = CString::new(text.replace('\0', "")).unwrap_or_default();
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: vk::ObjectType::DEVICE,
        object_handle: device.handle.as_raw(),
        ..Default::default()
    }];
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(c"vkabort")
        .message(&message)
        .objects(&objects);
    for messenger in messengers {
        let Some(callback) = messenger.callback else { continue };
        let who = (callback as usize, messenger.user_data);
        let wants = messenger
            .severity
            .contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            && messenger.types.contains(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL);
        // The one given at instance creation is usually the same as the one created later.
        if !wants || heard.contains(&who) {
            continue;
        }
        heard.push(who);
        // SAFETY: the application registered the callback for this, with this argument; the data lives long enough.
        unsafe {
            callback(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
                vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
                &data,
                messenger.user_data,
            );
        }
    }
}
