//! Gathers the sources of a report: everything that it is made of is read here, once.

mod driver_fault;
mod driver_messages;
mod pending_buffers;
mod queue_progress;
mod replay;

use crate::arena::readback::RecordRange;
use crate::device::features::addresses::Addresses;
use crate::device::features::recordings::{Recording, Suspects};
use crate::device::state::{Extensions, Module};
use crate::device::{AbortState, Device};
use ash::vk::{self, Handle as _};
pub use driver_fault::DriverFault;
pub use driver_messages::MAX_BYTES;
use pending_buffers::pending_buffers;
use queue_progress::{queue_progress, without_markers};
use replay::pending_commands;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vkabort_instrument::Trap;
use vkabort_record::message_data::MessageData;
use vkabort_record::records::Records;
use vkabort_record::site::CodeHash;
use vkabort_report::{ModuleInfo, QueueProgress, ReportOptions};

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

/// The sources of a report of aborts, besides their messages.
#[derive(Default)]
pub struct ReportSources<'a> {
    /// Device, arena, and the queues that the aborts may be on.
    pub options: ReportOptions,
    /// The modules that wrote the records, or all modules.
    pub modules: BTreeMap<CodeHash, ModuleInfo>,
    /// The buffers of the device, if they are tracked.
    pub addresses: Option<&'a Addresses>,
}

/// The sources of the report of a loss.
pub struct LossSources<'a> {
    /// Why the device is lost.
    pub cause: Cause,
    /// The messages of shaders.
    pub messages: MessageData,
    /// The messages are the driver's own, which do not name their modules.
    pub is_of_driver: bool,
    /// The sources of the report of these messages.
    pub report: ReportSources<'a>,
    /// The group of the loss's fault reports.
    pub fault_group: u64,
    /// The driver's account of the loss.
    pub driver: DriverFault,
    /// After a loss by the driver: the command buffers that were pending, a line each.
    pub pending: Vec<String>,
    /// After a loss by the driver: the last commands of each queue.
    pub progress: Vec<QueueProgress>,
    /// Number of pending command buffers that have no markers, since others use all slots.
    pub unmarked: usize,
    /// How shaders lose the device.
    pub trap: Trap,
    /// The enabled extensions that the layer emulates.
    pub emulated: Extensions,
    /// Maximum time for which the layer has waited for the queues.
    pub drain_timeout: Duration,
}

/// Reads the sources of a report of these records.
pub fn gather_report<'a>(
    device: &Device,
    state: &'a AbortState,
    records: &Records,
    suspects: Suspects,
) -> ReportSources<'a> {
    let codes: BTreeSet<CodeHash> = records.records.iter().map(|record| record.code).collect();
    let modules = codes.into_iter().filter_map(|code| state.objects.find(code));
    gather_report_of(device, state, modules.collect(), suspects)
}

/// Reads the sources of a report of these modules' aborts.
fn gather_report_of<'a>(
    device: &Device,
    state: &'a AbortState,
    modules: Vec<Arc<Module>>,
    suspects: Suspects,
) -> ReportSources<'a> {
    let info = |module: Arc<Module>| (module.code(), module_info(state, &module, &suspects.recordings));
    ReportSources {
        modules: modules.into_iter().map(info).collect(),
        options: ReportOptions {
            arena_bytes: state.arena.as_ref().map(|arena| u64::from(arena.bytes())),
            device: state.objects.name(vk::ObjectType::DEVICE, device.handle.as_raw()),
            queues: suspects.queues,
            ..ReportOptions::default()
        },
        addresses: state.addresses.as_ref(),
    }
}

/// Reads the sources of the report of a sealed device.
pub fn gather_loss<'a>(device: &Device, state: &'a AbortState, cause: Cause) -> LossSources<'a> {
    let is_by_driver = cause == Cause::Driver;
    let mut messages = MessageData::from(read_records(state, cause));
    let fault_group = state.loss.next_fault_group();
    let driver = match is_by_driver && state.emulated.fault {
        true => DriverFault::query(device, state, fault_group),
        false => DriverFault::default(),
    };
    let suspects = state.suspects(&state.queues.values());
    let (mut pending, mut progress, mut unmarked) = (Vec::new(), Vec::new(), 0);
    if is_by_driver {
        pending = pending_buffers(&state.objects, &suspects.recordings);
        // SAFETY: the queues live as long as the device, which the driver has lost.
        progress = unsafe { queue_progress(state) };
        unmarked = without_markers(state, &suspects.recordings);
    }
    let is_of_driver = is_by_driver && messages.is_empty();
    let report = match is_of_driver {
        true => {
            messages = driver_messages::message_data(device, state).into();
            gather_report_of(device, state, state.objects.all(), suspects)
        }
        false => gather_report(device, state, messages.records(), suspects),
    };
    LossSources {
        cause,
        messages,
        is_of_driver,
        report,
        fault_group,
        driver,
        pending,
        progress,
        unmarked,
        trap: state.options.trap,
        emulated: state.emulated,
        drain_timeout: device.instance.settings.drain_timeout,
    }
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
