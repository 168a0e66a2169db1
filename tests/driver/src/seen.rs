//! Commands of this driver alone, which `vkGetDeviceProcAddr` gives by name: tests learn by them what reached the driver.

use crate::handle;
use crate::shader::Pipeline;
use ash::vk::{self, Handle};
use std::sync::{Mutex, PoisonError};

/// Nodes of a chain that are remembered.
const CHAIN: usize = 24;
/// Allocations that are remembered.
const ALLOCATIONS: usize = 4;

/// What reached the driver.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// Objects that were made and not destroyed, over the whole process.
    live: u64,
    /// `pQueueCreateInfos` of the last `vkCreateDevice`.
    queue_infos: u64,
    /// Its `pEnabledFeatures`.
    features: u64,
    /// The nodes of its chain, in order.
    chain: [u64; CHAIN],
    /// Calls of `vkCreateDevice`.
    devices: u32,
    /// The memory types of the last calls of `vkAllocateMemory`, the latest first.
    memory_types: [u32; ALLOCATIONS],
    /// Those calls since the last `vkCreateDevice`.
    allocations: u32,
}

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

fn with(what: impl FnOnce(&mut Seen)) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    what(seen.get_or_insert_default());
}

/// Remembers a create-info.
///
/// # Safety
/// Its chain must be valid.
pub unsafe fn device_created(info: &vk::DeviceCreateInfo<'_>) {
    with(|seen| {
        seen.devices += 1;
        seen.allocations = 0;
        seen.queue_infos = info.p_queue_create_infos as u64;
        seen.features = info.p_enabled_features as u64;
        seen.chain = [0; CHAIN];
        let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
        for place in &mut seen.chain {
            *place = node as u64;
            // SAFETY: the caller vouches for the chain.
            match unsafe { node.as_ref() } {
                Some(base) => node = base.p_next,
                None => break,
            }
        }
    });
}

/// Remembers an allocation.
pub fn memory_allocated(memory_type: u32) {
    with(|seen| {
        seen.memory_types.rotate_right(1);
        seen.memory_types[0] = memory_type;
        seen.allocations += 1;
    });
}

/// `vkabortDriverSeen`
pub unsafe extern "system" fn seen(_: vk::Device, out: *mut Seen) {
    with(|seen| {
        seen.live = handle::live();
        // SAFETY: the test gives a structure of this kind.
        unsafe { out.write(*seen) };
    });
}

/// `vkabortDriverWords`: the SPIR-V of a pipeline's stage as it reached the driver; the count, or as many words as there
/// is room for.
pub unsafe extern "system" fn words(
    _: vk::Device,
    pipeline: vk::Pipeline,
    stage: u32,
    count: *mut u32,
    words: *mut u32,
) -> vk::Result {
    // SAFETY: the test gives a valid pipeline, and an array of as many elements.
    unsafe {
        let stages = handle::get::<Pipeline>(pipeline.as_raw()).map(|pipeline| &pipeline.stages);
        let found = stages.and_then(|stages| stages.get(stage as usize));
        crate::physical::fill(found.map_or(&[][..], Vec::as_slice), count, words)
    }
}
