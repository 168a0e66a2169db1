//! Commands of `VkDevice`.

use crate::call_log;
use crate::enumerate::chained;
use crate::handle::{self, Allocator, Out};
use crate::physical::PhysicalDevice;
use crate::queue::{Queue, wait_for_queues};
use crate::settings::Refused;
use crate::state::{Device, refusal};
use ash::vk;
use std::sync::Arc;

pub extern "system" fn create(
    physical: &PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    allocator: Allocator<'_>,
    device: Out<'_, usize>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the chain is valid.
    let coherent = unsafe {
        call_log::device_created(info);
        chained::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(info)
    };
    if let Some(error) = refusal(&physical.settings, Refused::Device) {
        return error;
    }
    let device_coherent = coherent.is_some_and(|features| features.device_coherent_memory == vk::TRUE);
    let created = Device::new(Arc::clone(&physical.settings), device_coherent);
    handle::create_with(allocator, device, created)
}

pub extern "system" fn destroy(device: Option<&Device>, allocator: Allocator<'_>) {
    let Some(device) = device else { return };
    device.lock().ending = true;
    device.changed.notify_all();
    let queues = std::mem::take(&mut *device.queues.lock());
    // SAFETY: by the command's valid usage, device and queues are not used afterwards; the queues' threads are joined first.
    unsafe {
        for queue in queues.into_values() {
            if let Some(queue) = handle::take::<Queue>(queue) {
                queue.join();
            }
        }
        drop(handle::take_with::<Device>(
            allocator,
            std::ptr::from_ref(device) as u64,
        ));
    }
}

pub extern "system" fn queue(device: &Device, family: u32, index: u32, queue: Out<'_, usize>) {
    let mut queues = device.queues.lock();
    let create = || handle::create(Queue::new(device));
    queue.write(*queues.entry((family, index)).or_insert_with(create) as usize);
}

pub extern "system" fn queue2(device: &Device, info: &vk::DeviceQueueInfo2<'_>, out: Out<'_, usize>) {
    // Queues with other flags have indices of their own.
    queue(
        device,
        info.queue_family_index,
        info.queue_index | info.flags.as_raw() << 16,
        out,
    );
}

pub extern "system" fn wait_idle(device: &Device) -> vk::Result {
    match wait_for_queues(device, None) {
        vk::Result::SUCCESS if device.lock().lost => vk::Result::ERROR_DEVICE_LOST,
        result => result,
    }
}
