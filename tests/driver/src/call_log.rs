//! Extra commands of this driver, available through `vkGetDeviceProcAddr`: tests query which calls reached the driver.

use crate::enumerate::fill;
use crate::handle::{self, Object, Out};
use crate::shader::Pipeline;
use crate::state::Device;
use ash::vk;
use parking_lot::Mutex;
use vkabort_test_kit::call_log::{CHAIN, CallLog};

static LOG: Mutex<Option<CallLog>> = Mutex::new(None);

fn with_log(edit: impl FnOnce(&mut CallLog)) {
    edit(LOG.lock().get_or_insert_default());
}

/// Logs a call of `vkCreateDevice`.
///
/// # Safety
/// The `pNext` chain of `info` must be valid.
pub unsafe fn device_created(info: &vk::DeviceCreateInfo<'_>) {
    with_log(|log| {
        log.devices += 1;
        log.allocations = 0;
        log.queue_infos = info.p_queue_create_infos as u64;
        log.features = info.p_enabled_features as u64;
        log.chain = [0; CHAIN];
        let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
        for entry in &mut log.chain {
            *entry = node as u64;
            // SAFETY: the caller guarantees a valid chain.
            match unsafe { node.as_ref() } {
                Some(base) => node = base.p_next,
                None => break,
            }
        }
    });
}

/// Logs a call of `vkAllocateMemory`.
pub fn memory_allocated(memory_type: u32) {
    with_log(|log| {
        log.memory_types.rotate_right(1);
        log.memory_types[0] = memory_type;
        log.allocations += 1;
    });
}

/// Logs a call of `vkBeginCommandBuffer` or `vkResetCommandBuffer`.
pub fn command_buffer_reset() {
    with_log(|log| log.command_buffer_resets += 1);
}

/// `vkabortDriverCallLog`: copies the log.
pub extern "system" fn call_log(_: &Device, out: Out<'_, CallLog>) {
    with_log(|log| {
        log.live = handle::live();
        log.allocator_mismatches = handle::allocator_mismatches();
        out.write(*log);
    });
}

/// `vkabortDriverWords`: SPIR-V of a pipeline's stage as it reached the driver. Returns the count, or up to `count` words.
pub extern "system" fn words(
    _: &Device,
    pipeline: Object<'_, Pipeline>,
    stage: u32,
    count: &mut u32,
    words: *mut u32,
) -> vk::Result {
    let found = pipeline.stages.get(stage as usize);
    // SAFETY: the caller passes null or an array of `count` words.
    unsafe { fill(found.map_or(&[][..], Vec::as_slice), count, words) }
}
