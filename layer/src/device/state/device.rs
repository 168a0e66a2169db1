//! A device, and what the layer keeps for one that uses the extensions.

use super::{Extensions, FaultQueue, FencePool, Instance, Modules, Names, Queue, Rewrites};
use crate::arena::Arena;
use crate::device_loss::Loss;
use crate::loader::dispatch::{DestroyTable, DeviceTable};
use crate::loader::handle_map::HandleMap;
use ash::vk;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use vkabort_instrument::Options;

/// A device.
pub struct Device {
    /// Its handle.
    pub handle: vk::Device,
    /// Its instance.
    pub instance: Arc<Instance>,
    /// The next layer's functions.
    pub next: DeviceTable,
    /// The next layer's functions that destroy objects.
    pub destroy: DestroyTable,
    /// The next layer's `vkGetDeviceProcAddr`.
    pub next_gdpa: vk::PFN_vkGetDeviceProcAddr,
    /// None: the device does not use the extensions, and everything passes.
    pub state: Option<AbortState>,
}

/// What is kept for a device that uses the extensions.
pub struct AbortState {
    /// Extensions that the application enabled.
    pub enabled: Extensions,
    /// Those of them that the layer provides.
    pub emulated: Extensions,
    /// Where shaders write their messages, if the layer provides `VK_KHR_shader_abort`.
    pub arena: Option<Arena>,
    /// How modules are rewritten.
    pub options: Options,
    /// Whether and why the device is lost.
    pub loss: Loss,
    /// What the device's queue families can do.
    pub families: Vec<vk::QueueFlags>,
    /// Queues that were asked for or used.
    pub queues: HandleMap<Queue>,
    /// Fences for waits of the layer's own.
    pub fences: FencePool,
    /// Fault reports.
    pub faults: FaultQueue,
    /// Rewritten modules.
    pub modules: Modules,
    /// Debug-utils names.
    pub names: Names,
    /// The driver's `VK_EXT_device_fault` is on.
    pub ext_fault: bool,
    /// The application enabled vendor binaries.
    pub vendor_binary: bool,
    /// The application enabled `deviceFaultReportMasked`.
    pub report_masked: bool,
    /// What deferred pipeline creations still read, by operation.
    pub deferred: Mutex<HashMap<vk::DeferredOperationKHR, Vec<Rewrites>>>,
}

impl AbortState {
    /// State for a device on which nothing is emulated.
    pub fn watching(enabled: Extensions) -> Self {
        Self {
            enabled,
            emulated: Extensions::default(),
            arena: None,
            options: Options::default(),
            loss: Loss::default(),
            families: Vec::new(),
            queues: HandleMap::new(),
            fences: Default::default(),
            faults: Default::default(),
            modules: Default::default(),
            names: Default::default(),
            ext_fault: false,
            vendor_binary: false,
            report_masked: false,
            deferred: Default::default(),
        }
    }
}

impl Device {
    /// The driver may still be using the device's objects: none of them may be destroyed.
    pub fn is_undrained(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.loss.is_undrained())
    }

    /// The state of a device that uses the extensions and whose aborts the layer handles.
    pub fn arena(&self) -> Option<(&AbortState, &Arena)> {
        let state = self.state.as_ref()?;
        Some((state, state.arena.as_ref()?))
    }
}
