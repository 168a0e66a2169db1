//! Devices, and the state of those that use the extensions: plain data, and the state of each feature.

use super::features::addresses::Addresses;
use super::features::loop_clock::LoopClock;
use super::features::prints::Prints;
use super::features::recordings::CommandBuffers;
use super::features::shadow::Shadow;
use super::state::identifiers::Identifiers;
use super::state::{
    CompletionSignals, DeferredCreation, Extensions, FaultQueue, FencePool, Instance, KeptObjects, Loss, Objects,
    Queue, create_fence,
};
use crate::arena::Arena;
use crate::loader::dispatch::DeviceTable;
use crate::loader::handle_map::HandleMap;
use crate::sync::{Arc, Mutex, Ordering};
use ash::vk::{self, Handle as _};
use std::collections::HashMap;
use vkabort_instrument::Options;
use vkabort_report::{Duplicates, Totals};

/// A device.
pub struct Device {
    /// Its handle.
    pub handle: vk::Device,
    /// Its physical device.
    pub physical: vk::PhysicalDevice,
    /// Its instance.
    pub instance: Arc<Instance>,
    /// The process that created it.
    pub process: u32,
    /// The next layer's functions.
    pub next: DeviceTable,
    /// The next layer's `vkGetDeviceProcAddr`.
    pub next_gdpa: vk::PFN_vkGetDeviceProcAddr,
    /// `None`: the device does not use the extensions, and the layer forwards every call.
    pub state: Option<AbortState>,
}

/// State of a device that uses the extensions. By default, of one on which the layer emulates nothing.
#[derive(Default)]
pub struct AbortState {
    /// Extensions that the application enabled, and whose commands it gets.
    pub requested: Extensions,
    /// Enabled extensions: more than those under `enable = always`.
    pub enabled: Extensions,
    /// The enabled extensions that the layer emulates.
    pub emulated: Extensions,
    /// Memory that shaders write their messages to, if the layer emulates `VK_KHR_shader_abort`.
    pub arena: Option<Arena>,
    /// The application enabled `VK_KHR_shader_abort` without the feature `shaderAbort`.
    pub lacks_feature: bool,
    /// Prints of shaders, in memory of the arena.
    pub prints: Option<Prints>,
    /// The buffers that have addresses, if these are tested, in memory of the arena.
    pub addresses: Option<Addresses>,
    /// The shadow area of the check `races`, in memory of the arena.
    pub shadow: Option<Shadow>,
    /// Measures the time that loops run, if they have checks of it.
    pub loop_clock: Option<LoopClock>,
    /// Memory for constant data on a device without aborts: an arena whose records are not used.
    pub constants_only: Option<Arena>,
    /// Options for rewriting modules.
    pub options: Options,
    /// Stages in which the driver lacks stores, so that the layer refuses their aborts (`emulation = partial`).
    pub refused_stages: vk::ShaderStageFlags,
    /// Progress of a device loss.
    pub loss: Loss,
    /// Capabilities of the queue families, by family index.
    pub families: Vec<vk::QueueFlags>,
    /// Queues that the application has used or asked for, by handle.
    pub queues: HandleMap<Queue>,
    /// The commands of command buffers (`commands = on`).
    pub commands: Option<CommandBuffers>,
    /// Fences and semaphores behind their submissions.
    pub signals: CompletionSignals,
    /// Fences for the layer's own waits.
    pub fences: FencePool,
    /// Fault reports not yet returned.
    pub faults: FaultQueue,
    /// Objects that wait for the driver before they are destroyed.
    pub kept: KeptObjects,
    /// Objects that reports name, and modules with aborts.
    pub objects: Objects,
    /// Identifiers of modules that were rewritten.
    pub identifiers: Identifiers,
    /// The driver's `VK_EXT_device_fault` is enabled.
    pub ext_fault: bool,
    /// The application enabled `deviceFaultVendorBinary`.
    pub vendor_binary: bool,
    /// The application enabled `deviceFaultReportMasked`.
    pub report_masked: bool,
    /// `on_abort = continue`: the sites that were reported. `None` before the first report.
    pub duplicates: Mutex<Option<Duplicates>>,
    /// `on_abort = continue`: the aborts of every site.
    pub totals: Mutex<Totals>,
    /// Deferred creations of pipelines, by operation.
    pub deferred: Mutex<HashMap<vk::DeferredOperationKHR, Vec<DeferredCreation>>>,
}

impl AbortState {
    /// Whether the device's modules get checks.
    pub fn sanitizes(&self) -> bool {
        !self.options.sanitize.checks.is_empty()
    }

    /// Whether some invocation has aborted. Two loads, one of mapped host memory. Stays true when the loops of
    /// `trap = hang` are ended, and when a loss by the driver clears the memory.
    pub fn aborted(&self) -> bool {
        self.loss.has_begun() || self.arena.as_ref().is_some_and(|arena| arena.aborted())
    }

    /// Whether shaders may have aborted without a complete report.
    pub fn has_unreported_aborts(&self) -> bool {
        // In this order: a thread that has emptied the arena holds the lock until its report is complete.
        !self.loss.is_lost() && (self.aborted() || self.loss.drain_deadline.try_lock().is_err())
    }

    /// The state of a queue, created on the first use of the handle.
    pub fn queue(&self, device: &Device, handle: vk::Queue) -> Option<&Queue> {
        // SAFETY: entries are removed only when the map is dropped, together with `self`.
        unsafe {
            self.queues.get_or_insert(handle.as_raw() as usize, || {
                // A device without an arena is never drained.
                let fence = self.arena.as_ref();
                let fence = fence.and_then(|_| create_fence(device.handle, &device.next));
                Arc::new(Queue::new(handle, fence.unwrap_or_default()))
            })
        }
    }
}

impl Device {
    /// Whether this process is a child of the one that created the device: after `fork()` it has a copy of the layer's memory,
    /// but none of the driver's threads, and a driver may have excluded its mappings from the copy. The device's aborts are its
    /// creator's to report.
    pub fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }

    /// Whether commands must fail with `VK_ERROR_DEVICE_LOST`.
    pub fn is_lost(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.loss.is_lost())
    }

    /// The drain timed out: the driver may still use the device's objects, so none of them may be destroyed.
    pub fn is_undrained(&self) -> bool {
        self.state
            .as_ref()
            .is_some_and(|state| state.loss.undrained.load(Ordering::Acquire))
    }

    /// The state and the arena of a device on which the layer emulates aborts.
    pub fn arena(&self) -> Option<(&AbortState, &Arena)> {
        let state = self.state.as_ref()?;
        Some((state, state.arena.as_ref()?))
    }
}
