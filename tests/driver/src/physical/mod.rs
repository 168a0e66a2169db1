//! `VkPhysicalDevice`: what it says of itself.

mod features;
mod properties;

pub use features::{features, features2};
pub use properties::{properties, properties2};

use crate::handle;
use crate::instance::PhysicalDevice;
use crate::settings::Settings;
use ash::vk::{self, Handle, MemoryPropertyFlags as Property};
use std::ffi::{CStr, c_char};
use vk_ext as khr;

/// The physical device behind a handle.
///
/// # Safety
/// The handle must be valid.
pub unsafe fn known<'a>(device: vk::PhysicalDevice) -> &'a PhysicalDevice {
    // SAFETY: the caller vouches for the handle.
    unsafe { handle::get(device.as_raw()) }.expect("a physical device")
}

/// Answers a query of a list: the count, or as many elements as there is room for.
///
/// # Safety
/// `count` must be valid, and `list` null or of that many elements.
pub unsafe fn fill<T: Copy>(all: &[T], count: *mut u32, list: *mut T) -> vk::Result {
    // SAFETY: the caller vouches for both.
    unsafe {
        if list.is_null() {
            count.write(all.len() as u32);
            return vk::Result::SUCCESS;
        }
        let written = (count.read() as usize).min(all.len());
        list.copy_from_nonoverlapping(all.as_ptr(), written);
        count.write(written as u32);
        match written < all.len() {
            true => vk::Result::INCOMPLETE,
            false => vk::Result::SUCCESS,
        }
    }
}

/// An entry of a list of extensions.
pub fn extension(name: &CStr, version: u32) -> vk::ExtensionProperties {
    let mut entry = vk::ExtensionProperties {
        spec_version: version,
        ..Default::default()
    };
    copy_text(&mut entry.extension_name, name);
    entry
}

/// Writes a C string into an array of the API.
pub fn copy_text(to: &mut [c_char], text: &CStr) {
    for (to, from) in to.iter_mut().zip(text.to_bytes_with_nul()) {
        *to = from.cast_signed();
    }
}

/// Device extensions that the driver has under these settings.
fn extensions(settings: &Settings) -> Vec<vk::ExtensionProperties> {
    let listed: [(bool, &CStr); 17] = [
        (true, ash::khr::swapchain::NAME),
        (true, ash::khr::display_swapchain::NAME),
        (true, ash::khr::shared_presentable_image::NAME),
        (true, ash::khr::present_wait::NAME),
        (true, ash::khr::deferred_host_operations::NAME),
        (true, ash::khr::acceleration_structure::NAME),
        (true, ash::khr::ray_tracing_pipeline::NAME),
        (true, ash::khr::timeline_semaphore::NAME),
        (true, ash::khr::synchronization2::NAME),
        (true, ash::ext::shader_module_identifier::NAME),
        (settings.addresses, ash::khr::buffer_device_address::NAME),
        (settings.import, ash::ext::external_memory_host::NAME),
        (settings.device_coherent, ash::amd::device_coherent_memory::NAME),
        (settings.ext_fault, ash::ext::device_fault::NAME),
        (settings.native_abort, khr::SHADER_ABORT_NAME),
        (settings.native_fault, khr::DEVICE_FAULT_NAME),
        (settings.native_data, khr::SHADER_CONSTANT_DATA_NAME),
    ];
    listed
        .into_iter()
        .filter(|(there, _)| *there)
        .map(|(_, name)| extension(name, 1))
        .collect()
}

pub unsafe extern "system" fn enumerate_extensions(
    device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    list: *mut vk::ExtensionProperties,
) -> vk::Result {
    if !layer.is_null() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    // SAFETY: as the API has it.
    unsafe { fill(&extensions(&known(device).settings), count, list) }
}

pub unsafe extern "system" fn enumerate_layers(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe { fill(&[], count, list) }
}

/// What the device does not cache.
const UNCACHED: Property =
    Property::from_raw(Property::DEVICE_COHERENT_AMD.as_raw() | Property::DEVICE_UNCACHED_AMD.as_raw());

/// Types that a buffer can be in, and memory be allocated of.
pub fn allowed_types(settings: &Settings, device_coherent: bool) -> u32 {
    let may = |kind: &vk::MemoryType| device_coherent || !kind.property_flags.intersects(UNCACHED);
    let types = memory_types(settings);
    let allowed = types.iter().enumerate().filter(|(_, kind)| may(kind));
    allowed.fold(0, |bits, (index, _)| bits | 1 << index)
}

/// The properties of memory of a kind.
fn memory_kind(kind: &str) -> Property {
    let visible = Property::HOST_VISIBLE | Property::HOST_COHERENT;
    match kind {
        "vram" => Property::DEVICE_LOCAL,
        "bar" => Property::DEVICE_LOCAL | visible,
        "cached" => visible | Property::HOST_CACHED,
        "incoherent" => Property::HOST_VISIBLE | Property::HOST_CACHED,
        "amd_bar" => Property::DEVICE_LOCAL | visible | UNCACHED,
        "amd" => visible | UNCACHED,
        "amd_cached" => visible | Property::HOST_CACHED | UNCACHED,
        _ => visible,
    }
}

/// All memory types. Those in the GPU's own memory are of heap 0, the others of heap 1.
pub fn memory_types(settings: &Settings) -> Vec<vk::MemoryType> {
    let of = |kind: &&str| {
        let property_flags = memory_kind(kind);
        let heap_index = u32::from(!property_flags.contains(Property::DEVICE_LOCAL));
        vk::MemoryType {
            property_flags,
            heap_index,
        }
    };
    settings.memory.iter().map(of).collect()
}

pub unsafe extern "system" fn memory(device: vk::PhysicalDevice, properties: *mut vk::PhysicalDeviceMemoryProperties) {
    // SAFETY: as the API has it.
    let (known, properties) = unsafe { (known(device), &mut *properties) };
    *properties = vk::PhysicalDeviceMemoryProperties::default();
    for (to, from) in properties.memory_types.iter_mut().zip(memory_types(&known.settings)) {
        *to = from;
        properties.memory_type_count += 1;
    }
    properties.memory_heap_count = 2;
    properties.memory_heaps[0] = vk::MemoryHeap {
        size: 1 << 32,
        flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
    };
    properties.memory_heaps[1].size = 1 << 32;
}

pub unsafe extern "system" fn memory2(
    device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { memory(device, &raw mut (*properties).memory_properties) }
}

/// One family that does everything and one that only copies.
fn families() -> [vk::QueueFamilyProperties; 2] {
    use vk::QueueFlags as Can;
    let family = |queue_flags, queue_count| vk::QueueFamilyProperties {
        queue_flags,
        queue_count,
        timestamp_valid_bits: 64,
        min_image_transfer_granularity: vk::Extent3D {
            width: 1,
            height: 1,
            depth: 1,
        },
    };
    let all = Can::GRAPHICS | Can::COMPUTE | Can::TRANSFER | Can::SPARSE_BINDING;
    [family(all, 8), family(Can::TRANSFER, 2)]
}

pub unsafe extern "system" fn queue_families(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: as the API has it.
    let _ = unsafe { fill(&families(), count, list) };
}

pub unsafe extern "system" fn queue_families2(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::QueueFamilyProperties2<'_>,
) {
    // SAFETY: as the API has it: an array of as many elements, whose chains stay.
    unsafe {
        if !list.is_null() {
            let room = count.read() as usize;
            for (index, family) in families().into_iter().enumerate().take(room) {
                (*list.add(index)).queue_family_properties = family;
            }
        }
        let there = families().len() as u32;
        count.write(if list.is_null() { there } else { count.read().min(there) });
    }
}

pub unsafe extern "system" fn format(_: vk::PhysicalDevice, _: vk::Format, properties: *mut vk::FormatProperties) {
    use vk::FormatFeatureFlags as Can;
    let images = Can::SAMPLED_IMAGE | Can::COLOR_ATTACHMENT | Can::TRANSFER_SRC | Can::TRANSFER_DST;
    let found = vk::FormatProperties {
        linear_tiling_features: images,
        optimal_tiling_features: images,
        buffer_features: Can::VERTEX_BUFFER,
    };
    // SAFETY: valid by the API's rules.
    unsafe { properties.write(found) };
}

pub unsafe extern "system" fn format2(
    device: vk::PhysicalDevice,
    of: vk::Format,
    properties: *mut vk::FormatProperties2<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { format(device, of, &raw mut (*properties).format_properties) };
}

pub unsafe extern "system" fn image_format(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::ImageTiling,
    _: vk::ImageUsageFlags,
    _: vk::ImageCreateFlags,
    properties: *mut vk::ImageFormatProperties,
) -> vk::Result {
    let found = vk::ImageFormatProperties {
        max_extent: vk::Extent3D {
            width: 4096,
            height: 4096,
            depth: 256,
        },
        max_mip_levels: 13,
        max_array_layers: 256,
        sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        max_resource_size: 1 << 31,
    };
    // SAFETY: valid by the API's rules.
    unsafe { properties.write(found) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn sparse_image_format(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    count: *mut u32,
    _: *mut vk::SparseImageFormatProperties,
) {
    // SAFETY: valid by the API's rules.
    unsafe { count.write(0) };
}

pub unsafe extern "system" fn external_buffer(
    device: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
    properties: *mut vk::ExternalBufferProperties<'_>,
) {
    let host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    // SAFETY: as the API has it.
    unsafe {
        let found = &mut (*properties).external_memory_properties;
        *found = vk::ExternalMemoryProperties::default();
        if known(device).settings.import && (*info).handle_type == host {
            found.external_memory_features = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
            found.compatible_handle_types = host;
        }
    }
}
