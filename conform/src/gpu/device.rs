//! A logical device with one queue.

use super::fault::Fault;
use super::instance::Gpu;
use super::result::{Named, code};
use crate::verdict::{CheckOutput, Stop};
use ash::vk;
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vk_ext::{
    DEVICE_FAULT_NAME, FaultCommands, FaultFeatures, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME, ShaderAbortFeatures,
    ShaderConstantDataFeatures,
};

/// Extensions and features to enable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enable {
    /// `VK_KHR_shader_abort` and its feature.
    pub abort: bool,
    /// `VK_KHR_device_fault` and its feature.
    pub fault: bool,
    /// `VK_KHR_shader_constant_data` and its feature.
    pub data: bool,
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
        abort: true,
        fault: true,
        data: true,
        without_features: false,
        maintenance5: false,
        shader_object: false,
    };
    /// `VK_KHR_device_fault` only.
    pub const FAULT: Self = Self {
        abort: false,
        data: false,
        ..Self::ABORT
    };
    /// `VK_KHR_shader_constant_data` only.
    pub const DATA: Self = Self {
        abort: false,
        fault: false,
        ..Self::ABORT
    };

    fn names(&self) -> Vec<&'static CStr> {
        let extensions = [
            (self.abort, SHADER_ABORT_NAME),
            (self.fault, DEVICE_FAULT_NAME),
            (self.data, SHADER_CONSTANT_DATA_NAME),
        ];
        extensions
            .iter()
            .filter(|(enabled, _)| *enabled)
            .map(|(_, name)| *name)
            .collect()
    }
}

/// Objects that [`Device::destroy`] destroys.
pub(super) enum Owned {
    Buffer(vk::Buffer, vk::DeviceMemory),
    Pipeline(
        vk::Pipeline,
        vk::PipelineLayout,
        vk::DescriptorSetLayout,
        vk::DescriptorPool,
    ),
    Cache(vk::PipelineCache),
    Commands(vk::CommandPool, vk::Fence, vk::QueryPool),
    Semaphore(vk::Semaphore),
}

/// A logical device with one compute queue.
pub struct Device {
    pub(super) gpu: &'static Gpu,
    pub(super) raw: ash::Device,
    queue: vk::Queue,
    fault: Option<Fault>,
    owned: Mutex<Vec<Owned>>,
    /// Whether `maintenance5` is enabled.
    pub maintenance5: bool,
}

impl Device {
    /// Creates a device.
    ///
    /// # Errors
    ///
    /// Skips the check if the physical device lacks an extension; fails it if the call fails.
    pub fn new(gpu: &'static Gpu, enable: Enable) -> CheckOutput<&'static Self> {
        let mut names = enable.names();
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
        let features = !enable.without_features;
        if enable.abort && features {
            info = info.push_next(&mut abort);
        }
        if enable.fault && features {
            info = info.push_next(&mut fault);
        }
        if enable.data && features {
            info = info.push_next(&mut data);
        }
        if gpu.api_version() >= vk::API_VERSION_1_2 {
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
        // SAFETY: `info` and the structures in its chain live until the call returns.
        let raw = unsafe { gpu.instance.create_device(gpu.physical, &info, None) }.named("vkCreateDevice")?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { raw.get_device_queue(gpu.family, 0) };
        // The loader may return pointers to commands that no driver implements: only the enabled extension counts.
        let commands = enable.fault.then(|| FaultCommands::load(&gpu.instance, &raw)).flatten();
        Ok(Box::leak(Box::new(Self {
            gpu,
            raw,
            queue,
            fault: commands.map(|commands| Fault { commands }),
            owned: Mutex::new(Vec::new()),
            maintenance5,
        })))
    }

    /// The fault queries.
    ///
    /// # Errors
    ///
    /// Fails the check if the device does not return the commands.
    pub fn fault(&self) -> CheckOutput<Fault> {
        let missing = "vkGetDeviceProcAddr returns NULL for the commands of VK_KHR_device_fault, which is enabled";
        self.fault.ok_or_else(|| Stop::Fail(missing.into()))
    }

    /// Whether `vkGetDeviceProcAddr` returns a command.
    pub fn has_command(&self, name: &CStr) -> bool {
        // SAFETY: the device is alive and the name ends with a NUL.
        unsafe { self.gpu.instance.get_device_proc_addr(self.raw.handle(), name.as_ptr()) }.is_some()
    }

    /// `vkQueueSubmit` without work.
    pub fn submit_nothing(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device, and one thread uses it.
        code(unsafe { self.raw.queue_submit(self.queue, &[], vk::Fence::null()) })
    }

    /// Binary of a shader object from the SPIR-V of a compute shader with one storage buffer.
    pub fn shader_binary(&self, spirv: &[u32]) -> CheckOutput<Vec<u8>> {
        let objects = ash::ext::shader_object::Device::new(&self.gpu.instance, &self.raw);
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let code: Vec<u8> = spirv.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: the device has the extension enabled, the handles belong to it, and the structures are valid.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = self.raw.create_descriptor_set_layout(&info, None);
            let layouts = [layout.named("vkCreateDescriptorSetLayout")?];
            let info = vk::ShaderCreateInfoEXT::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .code_type(vk::ShaderCodeTypeEXT::SPIRV)
                .code(&code)
                .name(c"main")
                .set_layouts(&layouts);
            let shaders = objects.create_shaders(&[info], None).map_err(|(_, result)| result);
            let shader = shaders
                .named("vkCreateShadersEXT")?
                .first()
                .copied()
                .unwrap_or_default();
            objects.get_shader_binary_data(shader).named("vkGetShaderBinaryDataEXT")
        }
    }

    pub(super) fn submit(&self, info: &vk::SubmitInfo<'_>, fence: vk::Fence) -> vk::Result {
        // SAFETY: `info` names executable command buffers of this device; one thread uses the queue.
        code(unsafe { self.raw.queue_submit(self.queue, &[*info], fence) })
    }

    /// `vkQueueWaitIdle`
    pub fn queue_wait_idle(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device, and one thread uses it.
        code(unsafe { self.raw.queue_wait_idle(self.queue) })
    }

    /// `vkDeviceWaitIdle`
    pub fn wait_idle(&self) -> vk::Result {
        // SAFETY: the device is alive, and one thread uses its queue.
        code(unsafe { self.raw.device_wait_idle() })
    }

    /// Registers an object for [`Device::destroy`].
    pub(super) fn own(&self, object: Owned) {
        self.owned().push(object);
    }

    fn owned(&self) -> MutexGuard<'_, Vec<Owned>> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys the device and all objects created from it. The caller uses none of them afterwards, and has waited for
    /// the work or lost the device.
    pub fn destroy(&self) {
        let owned = std::mem::take(&mut *self.owned());
        let raw = &self.raw;
        // SAFETY: the handles belong to the device and leave `owned` before their only destruction; no work of a finished or
        // lost device uses them.
        unsafe {
            for object in owned.into_iter().rev() {
                match object {
                    Owned::Buffer(buffer, memory) => {
                        raw.destroy_buffer(buffer, None);
                        raw.free_memory(memory, None);
                    }
                    Owned::Pipeline(pipeline, layout, set_layout, pool) => {
                        raw.destroy_pipeline(pipeline, None);
                        raw.destroy_pipeline_layout(layout, None);
                        raw.destroy_descriptor_pool(pool, None);
                        raw.destroy_descriptor_set_layout(set_layout, None);
                    }
                    Owned::Cache(cache) => raw.destroy_pipeline_cache(cache, None),
                    Owned::Commands(pool, fence, queries) => {
                        raw.destroy_command_pool(pool, None);
                        raw.destroy_fence(fence, None);
                        raw.destroy_query_pool(queries, None);
                    }
                    Owned::Semaphore(semaphore) => raw.destroy_semaphore(semaphore, None),
                }
            }
            raw.destroy_device(None);
        }
    }
}
