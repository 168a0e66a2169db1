//! Calls unrelated to aborts: submissions, shader modules and pipelines, on devices without and with the layer. A process
//! measures one setup only: some drivers are several times slower on each device after a process's first.

use crate::vk::{Buffer, DEVICE_VARIABLE, Device, DeviceOptions, Gpu, Kernel, Owner, stage};
use crate::{assembly, glsl, measure};
use anyhow::Result;
use ash::vk;
use std::ffi::CString;
use std::time::{Duration, Instant};

/// Layer and extensions of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSetup {
    /// Name for display.
    pub name: &'static str,
    /// Whether the layer is loaded.
    pub layer: bool,
    /// Whether the device enables the extensions.
    pub abort: bool,
}

/// All setups.
pub const SETUPS: [DeviceSetup; 3] = [
    DeviceSetup {
        name: "no layer",
        layer: false,
        abort: false,
    },
    DeviceSetup {
        name: "layer, extension not enabled",
        layer: true,
        abort: false,
    },
    DeviceSetup {
        name: "layer, extension enabled",
        layer: true,
        abort: true,
    },
];

/// Passes the create-info of an instance to `create`.
///
/// # Errors
///
/// That of `create`.
pub fn with_instance_info<R>(
    setup: DeviceSetup,
    create: impl FnOnce(&vk::InstanceCreateInfo<'_>) -> Result<R>,
) -> Result<R> {
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let layer = CString::new(vkabort_test_kit::layer::NAME)?;
    let layers = if setup.layer { vec![layer.as_ptr()] } else { Vec::new() };
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers);
    create(&info)
}

/// Opens the process's device in a new instance.
///
/// # Errors
///
/// A call fails, or there is no such device.
pub fn create_gpu(setup: DeviceSetup) -> Result<Gpu> {
    let name = std::env::var(DEVICE_VARIABLE).ok();
    with_instance_info(setup, |info| Gpu::create(Gpu::loader()?, info, name.as_deref(), None))
}

/// A device and the objects of a submission.
pub struct Calls {
    device: &'static Device<'static>,
    commands: vk::CommandBuffer,
    /// Never submitted.
    scratch: vk::CommandBuffer,
    layout: vk::PipelineLayout,
}

impl Calls {
    /// Creates the objects. They are never destroyed: the process ends with the measurement.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(setup: DeviceSetup) -> Result<Self> {
        let owner = Owner::default();
        let gpu = owner.own(create_gpu(setup)?);
        let options = DeviceOptions {
            abort: setup.abort,
            ..DeviceOptions::default()
        };
        let device = owner.own(Device::with(gpu, options)?);
        let buffer = owner.own(Buffer::storage(device, &[0; 64])?);
        let layout = owner.own(Kernel::bound(device, &[buffer])?).layout;
        let raw = &device.raw;
        // SAFETY: all structures are valid for their calls, and all handles belong to the same device.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(device.family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = raw.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(2);
            let buffers = raw.allocate_command_buffers(&info)?;
            let (commands, scratch) = (buffers[0], buffers[1]);
            let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
            raw.begin_command_buffer(commands, &info)?;
            raw.end_command_buffer(commands)?;
            Ok(Self {
                device,
                commands,
                scratch,
                layout,
            })
        }
    }

    /// Submits `rounds` times, then waits for the queue.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn submit(&self, rounds: u64) -> Result<()> {
        self.time_submissions(u32::try_from(rounds)?).map(drop)
    }

    /// Mean time of a submission over `rounds` of them, excluding the wait after the last.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn time_submissions(&self, rounds: u32) -> Result<Duration> {
        let commands = [self.commands];
        let infos = [vk::SubmitInfo::default().command_buffers(&commands)];
        let start = Instant::now();
        for _ in 0..rounds {
            // SAFETY: the command buffer allows simultaneous use; only this thread uses the queue.
            unsafe {
                self.device
                    .raw
                    .queue_submit(self.device.queue, &infos, vk::Fence::null())
            }?;
        }
        let time = start.elapsed() / rounds;
        // SAFETY: only this thread uses the queue.
        unsafe { self.device.raw.queue_wait_idle(self.device.queue) }?;
        Ok(time)
    }

    /// Begins, ends and resets an empty command buffer.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self) -> Result<()> {
        // SAFETY: the command buffer is never pending, and its pool allows resets.
        unsafe {
            let info = vk::CommandBufferBeginInfo::default();
            self.device.raw.begin_command_buffer(self.scratch, &info)?;
            self.device.raw.end_command_buffer(self.scratch)?;
            Ok(self
                .device
                .raw
                .reset_command_buffer(self.scratch, vk::CommandBufferResetFlags::empty())?)
        }
    }

    /// Creates and destroys a shader module.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn make_module(&self, spirv: &[u32]) -> Result<()> {
        let module = self.module(spirv)?;
        // SAFETY: the module belongs to this device and is unused.
        unsafe { self.device.raw.destroy_shader_module(module, None) };
        Ok(())
    }

    /// Creates a shader module.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn module(&self, spirv: &[u32]) -> Result<vk::ShaderModule> {
        let info = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: valid SPIR-V.
        Ok(unsafe { self.device.raw.create_shader_module(&info, None) }?)
    }

    /// Creates and destroys a compute pipeline.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn make_pipeline(&self, module: vk::ShaderModule) -> Result<()> {
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage(module))
            .layout(self.layout);
        // SAFETY: the handles belong to this device, and the pipeline is unused.
        unsafe {
            let created = self
                .device
                .raw
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let created = created.map_err(|(_, result)| result)?;
            created
                .into_iter()
                .for_each(|pipeline| self.device.raw.destroy_pipeline(pipeline, None));
        }
        Ok(())
    }
}

/// Shaders to measure, by name. The one with an abort needs the extension.
///
/// # Errors
///
/// A shader does not compile.
pub fn shaders(setup: DeviceSetup) -> Result<Vec<(&'static str, Vec<u32>)>> {
    let mut shaders = vec![("without aborts", assembly::assemble(PLAIN)?)];
    if setup.abort {
        shaders.push(("with an abort", glsl::compile("abort/entry_point.comp")?));
    }
    Ok(shaders)
}

/// Measures each call briefly. Returns its name and shortest time.
///
/// # Errors
///
/// A call fails.
pub fn measure_all(setup: DeviceSetup) -> Result<Vec<(String, Duration)>> {
    let calls = Calls::new(setup)?;
    // The first calls of a process are slower.
    calls.time_submissions(SUBMISSIONS)?;
    let mut times = vec![(
        "vkQueueSubmit".to_owned(),
        measure::shortest(30, || calls.time_submissions(SUBMISSIONS))?,
    )];
    let record = || measure::time(|| (0..SUBMISSIONS).try_for_each(|_| calls.record())).map(|time| time / SUBMISSIONS);
    times.push(("record and reset commands".to_owned(), measure::shortest(30, record)?));
    for (name, spirv) in shaders(setup)? {
        let module = calls.module(&spirv)?;
        let make = || measure::time(|| calls.make_module(&spirv));
        times.push((format!("vkCreateShaderModule {name}"), measure::shortest(50, make)?));
        let make = || measure::time(|| calls.make_pipeline(module));
        times.push((format!("vkCreateComputePipelines {name}"), measure::shortest(20, make)?));
    }
    Ok(times)
}

/// Submissions between two waits, and recordings in one measurement.
const SUBMISSIONS: u32 = 64;

/// A compute shader that does nothing.
pub const PLAIN: &str = r#"
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
