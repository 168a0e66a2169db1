//! A logical device that owns its objects, for programs that may have to leak them.

use crate::{Buffer, Cache, Device, FaultQueries, Gpu, Kernel, Owner, Submission};
use anyhow::{Context, Result};
use ash::vk;
use std::ffi::CStr;
use std::ops::Deref;
use vk_ext::{
    DEVICE_FAULT_NAME, EXTENSION_NAMES, FaultFeatures, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME,
    ShaderAbortFeatures, ShaderConstantDataFeatures,
};

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

/// A storage buffer of words that an [`OwnedDevice`] owns.
pub type LeakedBuffer = &'static Buffer<'static>;

/// A compute pipeline that an [`OwnedDevice`] owns.
pub type LeakedKernel = &'static Kernel<'static>;

/// A recorded dispatch with a fence that an [`OwnedDevice`] owns.
pub type LeakedSubmission = &'static Submission<'static>;

/// A logical device with one compute queue, which owns the objects created from it.
///
/// A program leaks it, in an [`Owner`], where a driver that crashes in a destruction would hide the result of the program.
pub struct OwnedDevice {
    device: &'static Device<'static>,
    pub(crate) owner: Owner,
    /// Whether `maintenance5` is enabled.
    pub maintenance5: bool,
}

impl Deref for OwnedDevice {
    type Target = Device<'static>;

    fn deref(&self) -> &Self::Target {
        self.device
    }
}

impl OwnedDevice {
    /// Creates a device with a queue of `family`.
    ///
    /// # Errors
    ///
    /// The call fails. [`Skip`](crate::Skip) if the physical device lacks an extension.
    pub fn new(gpu: &'static Gpu, family: u32, enable: Enable) -> Result<Self> {
        let mut names = enable.extensions.to_vec();
        gpu.require_extensions(&names)?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
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
            gpu.require_extensions(&names)?;
            info = info.push_next(&mut objects);
        }
        // maintenance5 requires dynamic rendering, which is an extension for an application of Vulkan 1.2.
        let required = [vk::KHR_MAINTENANCE5_NAME, vk::KHR_DYNAMIC_RENDERING_NAME];
        let maintenance5 = enable.maintenance5 && gpu.require_extensions(&required).is_ok();
        if maintenance5 {
            names.extend(required);
            info = info.push_next(&mut maintenance);
        }
        let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let info = info.enabled_extension_names(&names);
        let owner = Owner::default();
        let device = owner.own(Device::create(gpu, &info, family)?);
        Ok(Self {
            device,
            owner,
            maintenance5,
        })
    }

    /// The device, for as long as its owner does not destroy it.
    pub(crate) fn raw_device(&self) -> &'static Device<'static> {
        self.device
    }

    /// Creates a buffer with this content.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn buffer(&self, words: &[u32]) -> Result<LeakedBuffer> {
        Ok(self.owner.own(Buffer::storage(self.device, words)?))
    }

    /// Creates a pipeline cache with initial `data`.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn cache(&self, data: &[u8]) -> Result<&'static Cache<'static>> {
        Ok(self.owner.own(Cache::new(self.device, data)?))
    }

    /// Creates a pipeline from SPIR-V.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn kernel(
        &self,
        spirv: &[u32],
        buffers: &[LeakedBuffer],
        special: &[(u32, Vec<u8>)],
        cache: Option<&Cache<'_>>,
    ) -> Result<LeakedKernel> {
        let mut kernel = Kernel::bound(self.device, buffers)?;
        let created = kernel.create(spirv, special, cache);
        // Owned first: a failure destroys nothing either.
        let kernel = self.owner.own(kernel);
        created?;
        Ok(kernel)
    }

    /// Records a dispatch of `groups` workgroups.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, kernel: LeakedKernel, groups: u32) -> Result<LeakedSubmission> {
        Ok(self.owner.own(kernel.record(groups)?))
    }

    /// The fault queries.
    ///
    /// # Errors
    ///
    /// The device does not return the commands.
    pub fn fault_queries(&self) -> Result<FaultQueries> {
        let missing = "vkGetDeviceProcAddr returns NULL for the commands of VK_KHR_device_fault, which is enabled";
        Ok(FaultQueries(*self.device.fault().ok().context(missing)?))
    }

    /// Binary of a shader object from the SPIR-V of a compute shader with one storage buffer.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn shader_binary(&self, spirv: &[u32]) -> Result<Vec<u8>> {
        let objects = ash::ext::shader_object::Device::new(&self.gpu.instance, &self.raw);
        let buffer = self.buffer(&[0])?;
        let bound = Kernel::bound(self.device, &[buffer])?;
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
            objects.destroy_shader(shader, None);
            binary.context("vkGetShaderBinaryDataEXT")
        }
    }

    /// Destroys the device and all objects created from it, as dropping it does. The caller uses none of them afterwards, and has waited for
    /// the work or lost the device.
    pub fn destroy(&self) {
        // SAFETY: no work of a finished or lost device uses the objects, and the caller uses none of them afterwards.
        unsafe { self.owner.destroy() };
    }
}

impl Drop for OwnedDevice {
    fn drop(&mut self) {
        self.destroy();
    }
}
