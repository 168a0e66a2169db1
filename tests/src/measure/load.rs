//! Costs that the layer adds to the start of a program: time of `vkCreateInstance` and `vkCreateDevice`, and memory.
//!
//! The loader loads layers and driver with each instance and unloads them with its end, so each round measures their loading
//! too, from the page cache.

use super::calls::{DeviceSetup, PLAIN, create_gpu, with_instance_info};
use super::{shortest, time};
use crate::assembly;
use crate::memory::resident;
use crate::vk::{Device, DeviceOptions, ExtraDeviceInfo, Gpu, with_create_info};
use anyhow::{Context as _, Result};
use ash::vk;
use std::ptr;
use std::time::Duration;

/// Instances and devices that are created; the shortest times count.
const SAMPLES: usize = 61;

/// Costs of the start of a program.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Time of `vkCreateInstance`.
    pub instance: Duration,
    /// Time of `vkCreateDevice`.
    pub device: Duration,
    /// Bytes of memory of the first instance, its device and a shader module.
    pub memory: usize,
}

/// Measures a setup. The process must not have created an instance before.
///
/// # Errors
///
/// A call fails.
pub fn measure(setup: DeviceSetup) -> Result<Load> {
    let shader = assembly::assemble(if setup.abort { ABORT } else { PLAIN })?;
    let entry = Gpu::loader()?;
    let memory = memory(setup, &shader)?;
    Ok(Load {
        instance: shortest(SAMPLES, || instance(&entry, setup))?,
        device: shortest(SAMPLES, || device(setup))?,
        memory,
    })
}

fn memory(setup: DeviceSetup, shader: &[u32]) -> Result<usize> {
    let before = resident()?;
    let gpu = create_gpu(setup)?;
    let options = DeviceOptions {
        abort: setup.abort,
        ..DeviceOptions::default()
    };
    let device = Device::with(&gpu, options)?;
    let info = vk::ShaderModuleCreateInfo::default().code(shader);
    // SAFETY: valid SPIR-V.
    let module = unsafe { device.raw.create_shader_module(&info, None) }?;
    let after = resident()?;
    // SAFETY: the module belongs to the device and is unused.
    unsafe { device.raw.destroy_shader_module(module, None) };
    Ok(after.saturating_sub(before))
}

fn instance(entry: &ash::Entry, setup: DeviceSetup) -> Result<Duration> {
    with_instance_info(setup, |info| {
        let mut instance = vk::Instance::null();
        // Not ash's `create_instance`, which also looks up every command.
        // SAFETY: the structures are valid for the call.
        let mut create = || unsafe { (entry.fp_v1_0().create_instance)(info, ptr::null(), &mut instance) };
        let time = time(|| Ok(create().result()?))?;
        // SAFETY: the instance was just created.
        unsafe { ash::Instance::load(entry.static_fn(), instance).destroy_instance(None) };
        Ok(time)
    })
}

fn device(setup: DeviceSetup) -> Result<Duration> {
    let gpu = create_gpu(setup)?;
    let commands = gpu.instance.fp_v1_0();
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let family = families
        .iter()
        .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let family = u32::try_from(family.context("no queue computes")?)?;
    let mut device = vk::Device::null();
    let time = with_create_info(family, setup.abort, ExtraDeviceInfo::default(), |info| {
        // SAFETY: the structures are valid for the call.
        time(|| Ok(unsafe { (commands.create_device)(gpu.physical, &info, ptr::null(), &mut device) }.result()?))
    })?;
    // SAFETY: the device was just created.
    unsafe { ash::Device::load(commands, device).destroy_device(None) };
    Ok(time)
}

/// A compute shader that aborts. Not GLSL: its compiler's memory would be used again.
const ABORT: &str = r#"
    OpCapability Shader
    OpCapability !5120 ; AbortKHR
    OpExtension "SPV_KHR_abort"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %seven = OpConstant %uint 7
    %main = OpFunction %void None %function
    %entry = OpLabel
    OpAbortKHR %uint %seven
    OpFunctionEnd
"#;
