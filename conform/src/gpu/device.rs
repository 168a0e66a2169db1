//! A logical device with one queue.

use super::fault::Fault;
use super::instance::Gpu;
use crate::verdict::{CheckOutput, Stop};
use anyhow::Context;
use ash::vk;
use std::ffi::CStr;
use std::ops::Deref;
use vk_ext::{
    DEVICE_FAULT_NAME, EXTENSION_NAMES, FaultFeatures, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME,
    ShaderAbortFeatures, ShaderConstantDataFeatures,
};
use vkabort_test_kit::vk::{self as kit, Owner};

/// Extensions and features to enable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enable {
    /// Those of [`EXTENSION_NAMES`] to enable with their features.
    pub extensions: &'static [&'static CStr],
    /// Leave the features of the extensions above disabled.
    pub without_features: bool,
    /// `VK_KHR_maintenance5` and its feature, if the device supports it.
    pub maintenance5: bool,
    /// `VK_EXT_shader_object` and its feature.
    pub shader_object: bool,
}

impl Enable {
    /// All three extensions.
    pub const ABORT: Self = Self {
        extensions: &EXTENSION_NAMES,
        without_features: false,
        maintenance5: false,
        shader_object: false,
    };
    /// `VK_KHR_device_fault` only.
    pub const FAULT: Self = Self {
        extensions: &[DEVICE_FAULT_NAME],
        ..Self::ABORT
    };
    /// `VK_KHR_shader_constant_data` only.
    pub const DATA: Self = Self {
        extensions: &[SHADER_CONSTANT_DATA_NAME],
        ..Self::ABORT
    };
}

/// A storage buffer of words, mapped persistently and coherently.
pub type Buffer = kit::Buffer<'static>;

/// A compute pipeline with buffers at bindings 0, 1, ..
pub type Kernel = &'static kit::Kernel<'static>;

/// A recorded dispatch with a fence.
pub type Submission = &'static kit::Submission<'static>;

/// A logical device with one compute queue, which owns the objects created from it.
pub struct Device {
    pub(super) kit: &'static kit::Device<'static>,
    pub(super) owner: Owner,
    /// Whether `maintenance5` is enabled.
    pub maintenance5: bool,
}

impl Deref for Device {
    type Target = kit::Device<'static>;

    fn deref(&self) -> &Self::Target {
        self.kit
    }
}

impl Device {
    /// Creates a device.
    ///
    /// # Errors
    ///
    /// Skips the check if the physical device lacks an extension; fails it if the call fails.
    pub fn new(gpu: &'static Gpu, enable: Enable) -> CheckOutput<&'static Self> {
        let mut names = enable.extensions.to_vec();
        gpu.require(&names)?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(gpu.family)
            .queue_priorities(&priorities)];
        let mut abort = ShaderAbortFeatures::new(true);
        let mut fault = FaultFeatures::new(true);
        let mut data = ShaderConstantDataFeatures::new(true);
        let mut int8 = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_int8(true);
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let mut maintenance = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let features: [(&CStr, &mut dyn vk::ExtendsDeviceCreateInfo); 3] = [
            (SHADER_ABORT_NAME, &mut abort),
            (DEVICE_FAULT_NAME, &mut fault),
            (SHADER_CONSTANT_DATA_NAME, &mut data),
        ];
        for (name, feature) in features {
            if names.contains(&name) && !enable.without_features {
                info = info.push_next(feature);
            }
        }
        if gpu.api_version >= vk::API_VERSION_1_2 {
            info = info.push_next(&mut timeline);
            if gpu.has_int8() {
                info = info.push_next(&mut int8);
            }
        }
        let mut objects = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
        if enable.shader_object {
            names.extend([vk::EXT_SHADER_OBJECT_NAME, vk::KHR_DYNAMIC_RENDERING_NAME]);
            gpu.require(&names)?;
            info = info.push_next(&mut objects);
        }
        // maintenance5 requires dynamic rendering, which is an extension for an application of Vulkan 1.2.
        let required = [vk::KHR_MAINTENANCE5_NAME, vk::KHR_DYNAMIC_RENDERING_NAME];
        let maintenance5 = enable.maintenance5 && required.iter().all(|name| gpu.has(name));
        if maintenance5 {
            names.extend(required);
            info = info.push_next(&mut maintenance);
        }
        let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let info = info.enabled_extension_names(&names);
        let owner = Owner::default();
        let kit = owner.own(kit::Device::create(gpu, &info, gpu.family)?);
        Ok(Box::leak(Box::new(Self {
            kit,
            owner,
            maintenance5,
        })))
    }

    /// Creates a buffer with this content.
    pub fn buffer(&self, words: &[u32]) -> CheckOutput<&'static Buffer> {
        Ok(self.owner.own(Buffer::storage(self.kit, words)?))
    }

    /// Creates a pipeline cache with initial `data`.
    pub fn cache(&self, data: &[u8]) -> CheckOutput<&'static kit::Cache<'static>> {
        Ok(self.owner.own(kit::Cache::new(self.kit, data)?))
    }

    /// Creates a pipeline from SPIR-V.
    pub fn kernel(
        &self,
        spirv: &[u32],
        buffers: &[&'static Buffer],
        special: &[(u32, Vec<u8>)],
        cache: Option<&kit::Cache<'_>>,
    ) -> CheckOutput<Kernel> {
        let mut kernel = kit::Kernel::bound(self.kit, buffers)?;
        let created = kernel.create(spirv, special, cache);
        // Owned first: a failed check destroys nothing either.
        let kernel = self.owner.own(kernel);
        created?;
        Ok(kernel)
    }

    /// Records a dispatch of `groups` workgroups.
    pub fn record(&self, kernel: Kernel, groups: u32) -> CheckOutput<Submission> {
        Ok(self.owner.own(kernel.record(groups)?))
    }

    /// The fault queries.
    ///
    /// # Errors
    ///
    /// Fails the check if the device does not return the commands.
    pub fn fault(&self) -> CheckOutput<Fault> {
        let missing = "vkGetDeviceProcAddr returns NULL for the commands of VK_KHR_device_fault, which is enabled";
        let commands = self.kit.fault().map_err(|_| Stop::Fail(missing.into()))?;
        Ok(Fault(*commands))
    }

    /// Binary of a shader object from the SPIR-V of a compute shader with one storage buffer.
    pub fn shader_binary(&self, spirv: &[u32]) -> CheckOutput<Vec<u8>> {
        let objects = ash::ext::shader_object::Device::new(&self.gpu.instance, &self.raw);
        let buffer = self.buffer(&[0])?;
        let bound = kit::Kernel::bound(self.kit, &[buffer])?;
        let code: Vec<u8> = spirv.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: the device has the extension enabled, the handles belong to it, and the structures are valid.
        unsafe {
            let layouts = [self.owner.own(bound).set_layout];
            let info = vk::ShaderCreateInfoEXT::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .code_type(vk::ShaderCodeTypeEXT::SPIRV)
                .code(&code)
                .name(c"main")
                .set_layouts(&layouts);
            let shaders = objects.create_shaders(&[info], None).map_err(|(_, result)| result);
            let shader = shaders.context("vkCreateShadersEXT")?[0];
            let binary = objects.get_shader_binary_data(shader);
            Ok(binary.context("vkGetShaderBinaryDataEXT")?)
        }
    }

    /// Destroys the device and all objects created from it. The caller uses none of them afterwards, and has waited for
    /// the work or lost the device.
    pub fn destroy(&self) {
        // SAFETY: no work of a finished or lost device uses the objects, and the caller uses none of them afterwards.
        unsafe { self.owner.destroy() };
    }
}
