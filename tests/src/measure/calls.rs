//! Calls that have nothing to do with an abort: submissions, shader modules and pipelines, on a device without the layer
//! and on devices with it. A process measures one way only: some drivers are several times slower for every device but the
//! first that a process makes.

use crate::vk::DEVICE_VARIABLE;
use crate::vk::candidate;
use crate::{assembly, glsl, measure};
use anyhow::{Context as _, Result};
use ash::vk;
use std::ffi::CString;
use std::time::{Duration, Instant};
use vk_ext as khr;
use vkabort_test_kit::device_choice::choose;

/// How a device comes about.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its name.
    pub name: &'static str,
    /// The layer is there.
    pub layer: bool,
    /// The device enables the extensions.
    pub abort: bool,
}

/// All of them.
pub const WAYS: [Way; 3] = [
    Way {
        name: "no layer",
        layer: false,
        abort: false,
    },
    Way {
        name: "layer, extension not enabled",
        layer: true,
        abort: false,
    },
    Way {
        name: "layer, extension enabled",
        layer: true,
        abort: true,
    },
];

/// An instance, a device and what is needed for a submission.
pub struct Calls {
    _entry: ash::Entry,
    _instance: ash::Instance,
    /// The device.
    pub raw: ash::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
}

impl Calls {
    /// It is never destroyed: the process ends with the measurement.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(way: Way) -> Result<Self> {
        // SAFETY: all structures are valid for their calls, and all handles of the same device.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let layer = CString::new(vkabort_test_kit::layer::NAME)?;
            let layers = if way.layer { vec![layer.as_ptr()] } else { Vec::new() };
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_layer_names(&layers);
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let properties = devices.iter().map(|&one| instance.get_physical_device_properties(one));
            let candidates: Vec<_> = properties.map(|properties| candidate(&properties)).collect();
            let chosen = choose(&candidates, std::env::var(DEVICE_VARIABLE).ok().as_deref())?;
            let physical = *devices.get(chosen).context("no device was chosen")?;
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let names = khr::EXTENSION_NAMES.map(std::ffi::CStr::as_ptr);
            let mut abort = khr::ShaderAbortFeatures::new(true);
            let mut fault = khr::FaultFeatures::new(true);
            let mut data = khr::ShaderConstantDataFeatures::new(true);
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            if way.abort {
                info = info
                    .enabled_extension_names(&names)
                    .push_next(&mut abort)
                    .push_next(&mut fault)
                    .push_next(&mut data);
            }
            let raw = instance.create_device(physical, &info, None)?;
            let queue = raw.get_device_queue(0, 0);
            let pool = raw.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&info)?[0];
            let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
            raw.begin_command_buffer(commands, &info)?;
            raw.end_command_buffer(commands)?;
            let info = vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE);
            let bindings = [info];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [raw.create_descriptor_set_layout(&info, None)?];
            let layout =
                raw.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&sets), None)?;
            Ok(Self {
                _entry: entry,
                _instance: instance,
                raw,
                queue,
                commands,
                layout,
            })
        }
    }

    /// Submits so often, and waits at the end.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn submit(&self, rounds: u64) -> Result<()> {
        let commands = [self.commands];
        let infos = [vk::SubmitInfo::default().command_buffers(&commands)];
        for _ in 0..rounds {
            // SAFETY: the command buffer may be pending more than once.
            unsafe { self.raw.queue_submit(self.queue, &infos, vk::Fence::null()) }?;
        }
        // SAFETY: this thread alone uses the queue.
        Ok(unsafe { self.raw.queue_wait_idle(self.queue) }?)
    }

    /// How long each of so many submissions takes to return, without the wait after them.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn submitting(&self, rounds: u32) -> Result<Duration> {
        let commands = [self.commands];
        let infos = [vk::SubmitInfo::default().command_buffers(&commands)];
        let start = Instant::now();
        for _ in 0..rounds {
            // SAFETY: the command buffer may be pending more than once.
            unsafe { self.raw.queue_submit(self.queue, &infos, vk::Fence::null()) }?;
        }
        let time = start.elapsed() / rounds;
        // SAFETY: this thread alone uses the queue.
        unsafe { self.raw.queue_wait_idle(self.queue) }?;
        Ok(time)
    }

    /// A shader module, which is destroyed at once.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn make_module(&self, spirv: &[u32]) -> Result<()> {
        let module = self.module(spirv)?;
        // SAFETY: the module is of this device, and nothing was created from it.
        unsafe { self.raw.destroy_shader_module(module, None) };
        Ok(())
    }

    /// A shader module.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn module(&self, spirv: &[u32]) -> Result<vk::ShaderModule> {
        let info = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: valid SPIR-V.
        Ok(unsafe { self.raw.create_shader_module(&info, None) }?)
    }

    /// A pipeline, which is destroyed at once.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn make_pipeline(&self, module: vk::ShaderModule) -> Result<()> {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout);
        // SAFETY: the handles are of this device.
        unsafe {
            let created = self
                .raw
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let created = created.map_err(|(_, result)| result)?;
            created
                .into_iter()
                .for_each(|pipeline| self.raw.destroy_pipeline(pipeline, None));
        }
        Ok(())
    }
}

/// The shaders that are measured, by name: a module with aborts takes the extension.
///
/// # Errors
///
/// One does not compile.
pub fn shaders(way: Way) -> Result<Vec<(&'static str, Vec<u32>)>> {
    let mut shaders = vec![("without aborts", assembly::assemble(PLAIN)?)];
    if way.abort {
        shaders.push(("with an abort", glsl::compile("abort/entry_point.comp")?));
    }
    Ok(shaders)
}

/// Everything at once, briefly: names of calls with the median of their times.
///
/// # Errors
///
/// A call fails.
pub fn briefly(way: Way) -> Result<Vec<(String, Duration)>> {
    let calls = Calls::new(way)?;
    // The first calls of a process are slower.
    calls.submitting(SUBMISSIONS)?;
    let mut times = vec![(
        "vkQueueSubmit".to_owned(),
        measure::median(30, || calls.submitting(SUBMISSIONS))?,
    )];
    for (name, spirv) in shaders(way)? {
        let module = calls.module(&spirv)?;
        let make = || measure::time(|| calls.make_module(&spirv));
        times.push((format!("vkCreateShaderModule {name}"), measure::median(50, make)?));
        let make = || measure::time(|| calls.make_pipeline(module));
        times.push((format!("vkCreateComputePipelines {name}"), measure::median(20, make)?));
    }
    Ok(times)
}

/// Submissions between two waits.
const SUBMISSIONS: u32 = 64;

/// A compute shader that does nothing.
const PLAIN: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %main = OpFunction %void None %function
    %entry = OpLabel
    OpReturn
    OpFunctionEnd
"#;
