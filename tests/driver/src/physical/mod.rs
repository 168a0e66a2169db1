//! `VkPhysicalDevice`: extensions, memory types, queue families and formats.

mod features;
mod object;
mod properties;

pub use features::{features, features2};
pub use object::{PhysicalDevice, physical_device};
pub use properties::{properties, properties2};

use crate::enumerate::{extension, fill};
use crate::settings::Settings;
use ash::vk::{self, MemoryPropertyFlags as Property};
use std::ffi::{CStr, c_char};
use vk_ext as khr;

/// Device extensions under these settings.
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
        .filter(|(supported, _)| *supported)
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { fill(&extensions(&physical_device(device).settings), count, list) }
}

pub unsafe extern "system" fn enumerate_layers(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { fill(&[], count, list) }
}

/// Properties of memory that the device does not cache.
const UNCACHED: Property =
    Property::from_raw(Property::DEVICE_COHERENT_AMD.as_raw() | Property::DEVICE_UNCACHED_AMD.as_raw());

/// Memory types that buffers and allocations may use, as a bit mask.
pub fn allowed_types(settings: &Settings, device_coherent: bool) -> u32 {
    let is_allowed = |kind: &vk::MemoryType| device_coherent || !kind.property_flags.intersects(UNCACHED);
    let types = memory_types(settings);
    let allowed = types.iter().enumerate().filter(|(_, kind)| is_allowed(kind));
    allowed.fold(0, |bits, (index, _)| bits | 1 << index)
}

/// Property flags of a memory kind.
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

/// All memory types. Device-local types use heap 0, the others heap 1.
pub fn memory_types(settings: &Settings) -> Vec<vk::MemoryType> {
    let memory_type = |kind: &&str| {
        let property_flags = memory_kind(kind);
        let heap_index = u32::from(!property_flags.contains(Property::DEVICE_LOCAL));
        vk::MemoryType {
            property_flags,
            heap_index,
        }
    };
    settings.memory.iter().map(memory_type).collect()
}

pub unsafe extern "system" fn memory(device: vk::PhysicalDevice, properties: *mut vk::PhysicalDeviceMemoryProperties) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let (physical, properties) = unsafe { (physical_device(device), &mut *properties) };
    *properties = vk::PhysicalDeviceMemoryProperties::default();
    for (to, from) in properties.memory_types.iter_mut().zip(memory_types(&physical.settings)) {
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { memory(device, &raw mut (*properties).memory_properties) }
}

/// One family with all capabilities and one transfer-only family.
fn families() -> [vk::QueueFamilyProperties; 2] {
    use vk::QueueFlags as Flags;
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
    let all = Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER | Flags::SPARSE_BINDING;
    [family(all, 8), family(Flags::TRANSFER, 2)]
}

pub unsafe extern "system" fn queue_families(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let _ = unsafe { fill(&families(), count, list) };
}

pub unsafe extern "system" fn queue_families2(
    _: vk::PhysicalDevice,
    count: *mut u32,
    list: *mut vk::QueueFamilyProperties2<'_>,
) {
    // SAFETY: by the command's valid usage, `list` has `count` elements with valid `pNext` chains.
    unsafe {
        if !list.is_null() {
            let room = count.read() as usize;
            for (index, family) in families().into_iter().enumerate().take(room) {
                (*list.add(index)).queue_family_properties = family;
            }
        }
        let total = families().len() as u32;
        count.write(if list.is_null() { total } else { count.read().min(total) });
    }
}

pub unsafe extern "system" fn format(_: vk::PhysicalDevice, _: vk::Format, properties: *mut vk::FormatProperties) {
    use vk::FormatFeatureFlags as Flags;
    let images = Flags::SAMPLED_IMAGE | Flags::COLOR_ATTACHMENT | Flags::TRANSFER_SRC | Flags::TRANSFER_DST;
    let found = vk::FormatProperties {
        linear_tiling_features: images,
        optimal_tiling_features: images,
        buffer_features: Flags::VERTEX_BUFFER,
    };
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { properties.write(found) };
}

pub unsafe extern "system" fn format2(
    device: vk::PhysicalDevice,
    of: vk::Format,
    properties: *mut vk::FormatProperties2<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { count.write(0) };
}

pub unsafe extern "system" fn external_buffer(
    device: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
    properties: *mut vk::ExternalBufferProperties<'_>,
) {
    let host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let found = &mut (*properties).external_memory_properties;
        *found = vk::ExternalMemoryProperties::default();
        if physical_device(device).settings.import && (*info).handle_type == host {
            found.external_memory_features = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
            found.compatible_handle_types = host;
        }
    }
}
