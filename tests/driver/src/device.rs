//! Commands of `VkDevice`.

use crate::call_log;
use crate::handle;
use crate::physical::physical_device;
use crate::queue::{Queue, wait_for_queues};
use crate::settings::Refused;
use crate::state::{Device, device_of, refuses};
use ash::vk::{self, Handle, TaggedStructure};
use std::sync::Arc;

pub unsafe extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let physical = physical_device(physical);
        call_log::device_created(&*info);
        if refuses(&physical.settings, Refused::Device) {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
        let mut device_coherent = false;
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::PhysicalDeviceCoherentMemoryFeaturesAMD::STRUCTURE_TYPE {
                let features = &*node.cast::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>();
                device_coherent = features.device_coherent_memory == vk::TRUE;
            }
            node = base.p_next;
        }
        let created = Device::create(Arc::clone(&physical.settings), device_coherent);
        device.write(vk::Device::from_raw(created));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy(handle: vk::Device, _: *const vk::AllocationCallbacks<'_>) {
    if handle.is_null() {
        return;
    }
    // SAFETY: by the command's valid usage, device and queues are not used afterwards; the queues' threads are joined first.
    unsafe {
        let device = device_of(handle);
        device.lock().ending = true;
        device.changed.notify_all();
        let queues = std::mem::take(&mut *device.queues());
        for queue in queues.into_values() {
            if let Some(queue) = handle::take::<Queue>(queue) {
                queue.join();
            }
        }
        handle::destroy::<Device>(handle.as_raw());
    }
}

pub unsafe extern "system" fn queue(handle: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let found = *device_of(handle)
            .queues()
            .entry((family, index))
            .or_insert_with(|| handle::create(Queue::new(handle)));
        queue.write(vk::Queue::from_raw(found));
    }
}

pub unsafe extern "system" fn queue2(device: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { queue(device, (*info).queue_family_index, (*info).queue_index, out) }
}

pub unsafe extern "system" fn wait_idle(device: vk::Device) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let device = unsafe { device_of(device) };
    match wait_for_queues(device, None) {
        vk::Result::SUCCESS if device.lock().lost => vk::Result::ERROR_DEVICE_LOST,
        result => result,
    }
}
