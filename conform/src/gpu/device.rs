//! A device with one queue.

use super::khr::{
    DEVICE_FAULT_NAME, FaultCommands, FaultFeatures, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME, ShaderAbortFeatures,
    ShaderConstantDataFeatures,
};
use super::{Checked, Fault, Gpu, Named, code};
use crate::verdict::Stop;
use ash::vk;
use std::ffi::CStr;
use std::sync::Mutex;

/// What a device is created with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enable {
    /// `VK_KHR_shader_abort` and its feature.
    pub abort: bool,
    /// `VK_KHR_device_fault` and its feature.
    pub fault: bool,
    /// `VK_KHR_shader_constant_data` and its feature.
    pub data: bool,
    /// The extensions above without their features.
    pub without_features: bool,
    /// `VK_KHR_maintenance5` and its feature, where the device has it.
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
    /// Fault queries alone.
    pub const FAULT: Self = Self {
        abort: false,
        data: false,
        ..Self::ABORT
    };
    /// Constant data alone.
    pub const DATA: Self = Self {
        abort: false,
        fault: false,
        ..Self::ABORT
    };

    fn names(&self) -> Vec<&'static CStr> {
        let wanted = [
            (self.abort, SHADER_ABORT_NAME),
            (self.fault, DEVICE_FAULT_NAME),
            (self.data, SHADER_CONSTANT_DATA_NAME),
        ];
        wanted
            .iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, name)| *name)
            .collect()
    }
}

/// What was made from a device.
pub(super) enum Made {
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

/// A device with one queue that computes.
pub struct Device {
    pub(super) gpu: &'static Gpu,
    pub(super) raw: ash::Device,
    queue: vk::Queue,
    fault: Option<Fault>,
    made: Mutex<Vec<Made>>,
    /// `maintenance5` is enabled.
    pub maintenance5: bool,
}

impl Device {
    /// A device, or a skipped check if the physical device lacks an extension.
    pub fn new(gpu: &'static Gpu, enable: Enable) -> Checked<&'static Self> {
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
        // What it depends on is part of Vulkan 1.3, and an extension for a program of Vulkan 1.2.
        let needed = [vk::KHR_MAINTENANCE5_NAME, vk::KHR_DYNAMIC_RENDERING_NAME];
        let maintenance5 = enable.maintenance5 && needed.iter().all(|name| gpu.has(name));
        if maintenance5 {
            names.extend(needed);
            info = info.push_next(&mut maintenance);
        }
        let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let info = info.enabled_extension_names(&names);
        // SAFETY: `info` and what it points to live until the call returns.
        let raw = unsafe { gpu.instance.create_device(gpu.physical, &info, None) }.named("vkCreateDevice")?;
        // SAFETY: the device has this queue.
        let queue = unsafe { raw.get_device_queue(gpu.family, 0) };
        // A loader may hand out pointers to commands that nobody implements: only the extension says whether they are.
        let commands = enable.fault.then(|| FaultCommands::load(&gpu.instance, &raw)).flatten();
        Ok(Box::leak(Box::new(Self {
            gpu,
            raw,
            queue,
            fault: commands.map(|commands| Fault { commands }),
            made: Mutex::new(Vec::new()),
            maintenance5,
        })))
    }

    /// The fault queries.
    pub fn fault(&self) -> Checked<Fault> {
        let missing = "vkGetDeviceProcAddr does not have the commands of VK_KHR_device_fault, which is enabled";
        self.fault.ok_or_else(|| Stop::Fail(missing.into()))
    }

    /// Whether `vkGetDeviceProcAddr` has a command.
    pub fn has_command(&self, name: &CStr) -> bool {
        // SAFETY: the device is alive and the name ends with a NUL.
        unsafe { self.gpu.instance.get_device_proc_addr(self.raw.handle(), name.as_ptr()) }.is_some()
    }

    /// `vkQueueSubmit` without any work.
    pub fn submit_nothing(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device; the checks use it from one thread.
        code(unsafe { self.raw.queue_submit(self.queue, &[], vk::Fence::null()) })
    }

    /// The binary of a shader object of this SPIR-V, for compute shaders over one storage buffer.
    pub fn shader_binary(&self, spirv: &[u32]) -> Checked<Vec<u8>> {
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
            let made = objects.create_shaders(&[info], None).map_err(|(_, result)| result);
            let shader = made.named("vkCreateShadersEXT")?.first().copied().unwrap_or_default();
            objects.get_shader_binary_data(shader).named("vkGetShaderBinaryDataEXT")
        }
    }

    pub(super) fn submit(&self, info: &vk::SubmitInfo<'_>, fence: vk::Fence) -> vk::Result {
        // SAFETY: the kernel that calls this has recorded the commands; the queue is used from one thread.
        code(unsafe { self.raw.queue_submit(self.queue, &[*info], fence) })
    }

    /// `vkQueueWaitIdle`
    pub fn queue_wait_idle(&self) -> vk::Result {
        // SAFETY: the queue belongs to the device; the checks use it from one thread.
        code(unsafe { self.raw.queue_wait_idle(self.queue) })
    }

    /// `vkDeviceWaitIdle`
    pub fn wait_idle(&self) -> vk::Result {
        // SAFETY: the device is alive, and its queue is used from one thread.
        code(unsafe { self.raw.device_wait_idle() })
    }

    pub(super) fn keep(&self, made: Made) {
        self.made
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push(made);
    }

    /// Destroys everything that was made from the device, and the device. The caller uses none of it any more and has
    /// waited for its work, or lost the device.
    pub fn destroy(&self) {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let raw = &self.raw;
        // SAFETY: the handles belong to the device and are destroyed once; nothing uses them, as the caller promises.
        unsafe {
            for made in made.into_iter().rev() {
                match made {
                    Made::Buffer(buffer, memory) => {
                        raw.destroy_buffer(buffer, None);
                        raw.free_memory(memory, None);
                    }
                    Made::Pipeline(pipeline, layout, set_layout, pool) => {
                        raw.destroy_pipeline(pipeline, None);
                        raw.destroy_pipeline_layout(layout, None);
                        raw.destroy_descriptor_pool(pool, None);
                        raw.destroy_descriptor_set_layout(set_layout, None);
                    }
                    Made::Cache(cache) => raw.destroy_pipeline_cache(cache, None),
                    Made::Commands(pool, fence, queries) => {
                        raw.destroy_command_pool(pool, None);
                        raw.destroy_fence(fence, None);
                        raw.destroy_query_pool(queries, None);
                    }
                    Made::Semaphore(semaphore) => raw.destroy_semaphore(semaphore, None),
                }
            }
            raw.destroy_device(None);
        }
    }
}
