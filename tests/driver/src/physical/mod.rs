//! `VkPhysicalDevice`: extensions, memory types, queue families and formats.

mod features;
mod properties;

pub use features::{features, features2};
pub use properties::{properties, properties2};

use crate::addresses::GRANULE;
use crate::enumerate::{extension, fill};
use crate::handle::{self, LOADER_MAGIC, Out};
use crate::settings::Settings;
use crate::state::Device;
use ash::vk::{self, MemoryPropertyFlags as Property};
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use vk_ext as khr;

/// A physical device.
#[repr(C)]
pub struct PhysicalDevice {
    _loader: usize,
    /// Index in the instance.
    pub index: usize,
    /// Behaviour of the device.
    pub settings: Arc<Settings>,
}

impl PhysicalDevice {
    /// Creates a physical device and returns its handle.
    pub fn create(index: usize, settings: Arc<Settings>) -> u64 {
        handle::create(Self {
            _loader: LOADER_MAGIC,
            index,
            settings,
        })
    }
}

/// Device extensions under these settings.
fn extensions(settings: &Settings) -> Vec<vk::ExtensionProperties> {
    let listed: [(bool, &CStr); 23] = [
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
        (true, ash::ext::shader_object::NAME),
        (true, ash::khr::maintenance5::NAME),
        (true, khr::PIPELINE_BINARY_NAME),
        (true, khr::DESCRIPTOR_HEAP_NAME),
        (!settings.no_addresses, ash::khr::buffer_device_address::NAME),
        (settings.import, ash::ext::external_memory_host::NAME),
        (settings.device_coherent, ash::amd::device_coherent_memory::NAME),
        (settings.ext_fault, ash::ext::device_fault::NAME),
        (settings.amd_markers, ash::amd::buffer_marker::NAME),
        (settings.nv_markers, ash::nv::device_diagnostic_checkpoints::NAME),
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

pub extern "system" fn enumerate_extensions(
    device: &PhysicalDevice,
    layer: *const c_char,
    count: &mut u32,
    list: *mut vk::ExtensionProperties,
) -> vk::Result {
    if !layer.is_null() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&extensions(&device.settings), count, list) }
}

pub extern "system" fn enumerate_layers(
    _: &PhysicalDevice,
    count: &mut u32,
    list: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&[], count, list) }
}

/// Properties of memory that the device does not cache.
const UNCACHED: Property =
    Property::from_raw(Property::DEVICE_COHERENT_AMD.as_raw() | Property::DEVICE_UNCACHED_AMD.as_raw());

/// Memory types that fulfil a condition, as a bit mask.
pub fn type_bits(settings: &Settings, is_selected: impl Fn(&vk::MemoryType) -> bool) -> u32 {
    let types = memory_types(settings);
    let selected = types.iter().enumerate().filter(|(_, kind)| is_selected(kind));
    selected.fold(0, |bits, (index, _)| bits | 1 << index)
}

/// Memory types that buffers and allocations may use, as a bit mask.
pub fn allowed_types(settings: &Settings, device_coherent: bool) -> u32 {
    type_bits(settings, |kind| {
        device_coherent || !kind.property_flags.intersects(UNCACHED)
    })
}

/// Memory requirements of a buffer or an image of `size` bytes.
pub fn requirements(device: &Device, size: u64) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size,
        alignment: GRANULE,
        memory_type_bits: allowed_types(&device.settings, device.device_coherent),
    }
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

fn memory_properties(settings: &Settings) -> vk::PhysicalDeviceMemoryProperties {
    let mut properties = vk::PhysicalDeviceMemoryProperties::default();
    for (to, from) in properties.memory_types.iter_mut().zip(memory_types(settings)) {
        *to = from;
        properties.memory_type_count += 1;
    }
    properties.memory_heap_count = 2;
    properties.memory_heaps[0] = vk::MemoryHeap {
        size: 1 << 32,
        flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
    };
    properties.memory_heaps[1].size = 1 << 32;
    properties
}

pub extern "system" fn memory(device: &PhysicalDevice, properties: Out<'_, vk::PhysicalDeviceMemoryProperties>) {
    properties.write(memory_properties(&device.settings));
}

pub extern "system" fn memory2(device: &PhysicalDevice, properties: &mut vk::PhysicalDeviceMemoryProperties2<'_>) {
    properties.memory_properties = memory_properties(&device.settings);
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
    let all = Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER | Flags::SPARSE_BINDING | Flags::PROTECTED;
    [family(all, 8), family(Flags::TRANSFER, 2)]
}

pub extern "system" fn queue_families(_: &PhysicalDevice, count: &mut u32, list: *mut vk::QueueFamilyProperties) {
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    let _ = unsafe { fill(&families(), count, list) };
}

pub extern "system" fn queue_families2(_: &PhysicalDevice, count: &mut u32, list: *mut vk::QueueFamilyProperties2<'_>) {
    let families = families();
    if list.is_null() {
        *count = families.len() as u32;
        return;
    }
    *count = (*count).min(families.len() as u32);
    for (index, family) in families.into_iter().enumerate().take(*count as usize) {
        // SAFETY: by the command's valid usage, `list` has `count` elements.
        unsafe { (*list.add(index)).queue_family_properties = family };
    }
}

fn format_properties() -> vk::FormatProperties {
    use vk::FormatFeatureFlags as Flags;
    let images = Flags::SAMPLED_IMAGE | Flags::COLOR_ATTACHMENT | Flags::TRANSFER_SRC | Flags::TRANSFER_DST;
    vk::FormatProperties {
        linear_tiling_features: images,
        optimal_tiling_features: images,
        buffer_features: Flags::VERTEX_BUFFER,
    }
}

pub extern "system" fn format(_: &PhysicalDevice, _: vk::Format, properties: Out<'_, vk::FormatProperties>) {
    properties.write(format_properties());
}

pub extern "system" fn format2(_: &PhysicalDevice, _: vk::Format, properties: &mut vk::FormatProperties2<'_>) {
    properties.format_properties = format_properties();
}

pub extern "system" fn image_format(
    _: &PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::ImageTiling,
    _: vk::ImageUsageFlags,
    _: vk::ImageCreateFlags,
    properties: Out<'_, vk::ImageFormatProperties>,
) -> vk::Result {
    properties.write(vk::ImageFormatProperties {
        max_extent: vk::Extent3D {
            width: 4096,
            height: 4096,
            depth: 256,
        },
        max_mip_levels: 13,
        max_array_layers: 256,
        sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        max_resource_size: 1 << 31,
    });
    vk::Result::SUCCESS
}

pub extern "system" fn sparse_image_format(
    _: &PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    count: Out<'_, u32>,
    _: *mut vk::SparseImageFormatProperties,
) {
    count.write(0);
}

pub extern "system" fn external_buffer(
    device: &PhysicalDevice,
    info: &vk::PhysicalDeviceExternalBufferInfo<'_>,
    properties: &mut vk::ExternalBufferProperties<'_>,
) {
    let host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    let found = &mut properties.external_memory_properties;
    *found = vk::ExternalMemoryProperties::default();
    if device.settings.import && info.handle_type == host {
        found.external_memory_features = vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        found.compatible_handle_types = host;
    }
}
