//! Builds reports from records and from the layer's state.

use crate::device::state::{AbortState, Device, Module};
use ash::vk::{self, Handle as _};
use std::sync::Arc;
use vkabort_record::framing::split;
use vkabort_record::report::{ModuleInfo, QueueUse, Report, ReportOptions};
use vkabort_record::site::ModuleHash;
use vkabort_record::snapshot::Records;

/// Options for a report whose aborts are on one of `suspects`.
pub fn report_options(device: &Device, state: &AbortState, suspects: Vec<QueueUse>) -> ReportOptions {
    ReportOptions {
        arena_bytes: state.arena.as_ref().map(|arena| u64::from(arena.bytes())),
        device: state.objects.name(vk::ObjectType::DEVICE, device.handle.as_raw()),
        queues: suspects,
        ..ReportOptions::default()
    }
}

/// Builds the report of an arena's records.
pub fn build(state: &AbortState, records: &Records, options: &ReportOptions) -> Report {
    let find_module = |hash: ModuleHash| match state.objects.find(hash) {
        Some(module) => module_info(state, &module),
        None => ModuleInfo::default(),
    };
    Report::build(records, &find_module, options)
}

/// Builds the report of a native driver's message data, which does not name its modules.
pub fn build_from_payloads(state: &AbortState, message_data: &[u8], options: &ReportOptions) -> Report {
    let modules = state.objects.all();
    let modules: Vec<ModuleInfo> = modules.iter().map(|module| module_info(state, module)).collect();
    Report::from_payloads(split(message_data).payloads, &modules, options)
}

/// A module's sites, its name, and the objects that run it.
fn module_info(state: &AbortState, module: &Module) -> ModuleInfo {
    let (objects, hash) = (&state.objects, module.sites.module_hash);
    ModuleInfo {
        sites: Some(Arc::clone(&module.sites)),
        name: objects.module_name(hash),
        stages: objects.stages(hash),
    }
}
