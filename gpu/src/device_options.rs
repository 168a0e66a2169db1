//! Extensions and features that a device enables.

use crate::khr;
use ash::vk;
use std::ffi::CStr;

/// Extensions and features of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceOptions {
    /// Whether to enable the three abort extensions and their features.
    pub abort: bool,
    /// Whether to enable `bufferDeviceAddress`.
    pub buffer_device_address: bool,
    /// Whether to enable `vulkanMemoryModel`.
    pub vulkan_memory_model: bool,
}

impl DeviceOptions {
    /// The abort extensions, and `bufferDeviceAddress`.
    pub const ADDRESSES: Self = Self {
        abort: true,
        buffer_device_address: true,
        vulkan_memory_model: false,
    };
}

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            abort: true,
            buffer_device_address: false,
            vulkan_memory_model: false,
        }
    }
}

/// Additions to [`DeviceOptions`].
#[derive(Default)]
pub struct ExtraDeviceInfo<'a> {
    /// More device extensions.
    pub extensions: Vec<&'a CStr>,
    /// More feature structures.
    pub features: Vec<&'a mut dyn vk::ExtendsDeviceCreateInfo>,
}

/// Passes the create-info of a device to `create`: one queue of a family, `more`, and the three extensions with their features if
/// `abort`.
pub fn with_create_info<R>(
    family: u32,
    abort: bool,
    more: ExtraDeviceInfo<'_>,
    create: impl FnOnce(vk::DeviceCreateInfo<'_>) -> R,
) -> R {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let mut aborts = khr::ShaderAbortFeatures::new(true);
    let mut fault = khr::FaultFeatures::new(true);
    let mut data = khr::ShaderConstantDataFeatures::new(true);
    let mut names: Vec<_> = more.extensions.iter().map(|name| name.as_ptr()).collect();
    if abort {
        names.extend(khr::EXTENSION_NAMES.map(CStr::as_ptr));
    }
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names);
    for features in more.features {
        info = info.push_next(features);
    }
    if abort {
        info = info.push_next(&mut aborts).push_next(&mut fault).push_next(&mut data);
    }
    create(info)
}
