//! Code, registers and compile time of the benchmark shaders on the process's device. Nothing executes.

use super::shaders::{Shader, Variant};
use crate::case::Context;
use crate::pipeline::{Code, Pipeline};
use crate::statistics::{CAPTURE, executables, metrics};
use crate::vk::{Device, DeviceOptions, ExtraDeviceInfo, Gpu, khr};
use anyhow::Result;
use ash::vk;
use vkabort_runner::Measurement;

/// Pipelines per shader and variant; the shortest time counts.
const SAMPLES: usize = 5;

/// Compiles the variants of each shader, and passes the results to `each`.
///
/// # Errors
///
/// The device cannot be created, or a shader does not compile to SPIR-V.
pub fn measure(shaders: &[Shader], variants: &[Variant], mut each: impl FnMut(&Measurement)) -> Result<()> {
    let gpu = Gpu::open(&Context::default())?;
    for variant in variants {
        let abort = matches!(
            variant,
            Variant::Layer
                | Variant::WithoutValues
                | Variant::WithLines
                | Variant::WithVariables
                | Variant::ByValue
                | Variant::Planted
                | Variant::Native
        );
        if abort && !gpu.has_extension(khr::SHADER_ABORT_NAME)? {
            continue;
        }
        let takes_addresses = shaders.iter().any(|shader| matches!(shader, Shader::Memory(_)));
        let device = device(&gpu, abort, takes_addresses)?;
        for shader in shaders {
            let name = shader.name();
            let Some(modules) = shader.compile(*variant)? else {
                continue;
            };
            match statistics(&device, &modules) {
                Ok(values) => values
                    .iter()
                    .for_each(|(metric, value)| each(&Measurement::new(&name, variant.name(), metric, *value))),
                Err(error) => each(&Measurement::failed(
                    &name,
                    variant.name(),
                    "compile ms",
                    &format!("{error:#}"),
                )),
            }
        }
    }
    Ok(())
}

fn device(gpu: &Gpu, abort: bool, buffer_device_address: bool) -> Result<Device<'_>> {
    let options = DeviceOptions {
        abort,
        buffer_device_address,
        ..DeviceOptions::default()
    };
    let mut features = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
    let mut more = ExtraDeviceInfo::default();
    if gpu.has_extension(ash::khr::pipeline_executable_properties::NAME)? {
        features.pipeline_executable_info = vk::TRUE;
        more.extensions.push(ash::khr::pipeline_executable_properties::NAME);
        more.features.push(&mut features);
    }
    Device::extended(gpu, options, more)
}

/// Shortest time in milliseconds and metrics of the last stage.
fn statistics(device: &Device<'_>, modules: &[Vec<u32>]) -> Result<Vec<(&'static str, f64)>> {
    let stage = match modules.len() {
        1 => vk::ShaderStageFlags::COMPUTE,
        _ => vk::ShaderStageFlags::FRAGMENT,
    };
    let has_statistics = device
        .gpu
        .has_extension(ash::khr::pipeline_executable_properties::NAME)?;
    let mut sample = 0;
    let mut create = |flags| {
        sample += 1;
        let modules: Vec<Vec<u32>> = modules.iter().map(|words| distinct(words, sample)).collect();
        let modules: Vec<Code<'_>> = modules
            .iter()
            .map(|words| Code {
                words,
                ..Code::default()
            })
            .collect();
        Pipeline::new(device, &modules, flags)
    };
    let time = super::shortest(SAMPLES, || Ok(create(vk::PipelineCreateFlags::empty())?.time))?;
    let mut values = vec![("compile ms", time.as_secs_f64() * 1e3)];
    if has_statistics {
        let pipeline = create(CAPTURE)?;
        values.extend(metrics(&executables(device, pipeline.raw)?, stage));
    }
    Ok(values)
}

/// The module with a generator's version of its own: Turnip and HasVK find pipelines of the same words in a cache of the device,
/// which no application can switch off.
fn distinct(words: &[u32], sample: u32) -> Vec<u32> {
    const GENERATOR: usize = 2;
    // Mesa works around the faults of old versions.
    const FIRST_VERSION: u32 = 1000;
    let mut words = words.to_vec();
    if let Some(generator) = words.get_mut(GENERATOR) {
        *generator = *generator & 0xFFFF_0000 | (FIRST_VERSION + sample);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_differ_in_the_version_of_the_generator_only() {
        let module = [0x0723_0203, 0x1_0500, 8 << 16 | 11, 5, 0];
        assert_eq!(distinct(&module, 1), [0x0723_0203, 0x1_0500, 8 << 16 | 1001, 5, 0]);
        assert_ne!(distinct(&module, 1), distinct(&module, 2));
    }
}
