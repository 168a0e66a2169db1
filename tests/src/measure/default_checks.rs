//! Cost of the checks that `--sanitize` plants by default, against those of the validation layer: the compute shaders of the
//! benchmarks, executed. The layers of the process decide who checks, so that one process measures one variant.

use super::shaders::{self, OPERATIONS, Shader, Variant};
use super::{rounds, shortest};
use crate::case::Context;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::time::Instant;
use vkabort_runner::Measurement;

/// Dispatches per shader.
const SAMPLES: usize = 15;
/// Words that an invocation of `gather.comp` reads.
const GATHERED: u32 = 64;
/// Workgroups for the generated loops, of 64 invocations each.
const GROUPS: u32 = 2048;

/// A shader with its contents of buffers, by binding.
struct Job {
    name: String,
    spirv: Vec<u32>,
    buffers: Vec<Vec<u32>>,
    groups: u32,
}

/// Measures the time of a dispatch of each shader, after a proof that the process has the checks of `variant`.
///
/// # Errors
///
/// A call fails, or the checks are missing.
pub fn measure(variant: Variant, mut each: impl FnMut(&Measurement)) -> Result<()> {
    prove(variant)?;
    let gpu = Gpu::open(&Context::default())?;
    for job in jobs(rounds(&gpu))? {
        let device = device(&gpu)?;
        let buffers = job.buffers.iter().map(|words| Buffer::near(&device, words));
        let buffers = buffers.collect::<Result<Vec<_>>>()?;
        let kernel = Kernel::new(&device, &job.spirv, &buffers.iter().collect::<Vec<_>>())?;
        let time = || {
            let submission = kernel.record(job.groups)?;
            let start = Instant::now();
            let result = submission.run();
            let time = start.elapsed();
            ensure!(result == vk::Result::SUCCESS, "{} ended with {result:?}", job.name);
            Ok(time)
        };
        time()?;
        let time = shortest(SAMPLES, time)?;
        each(&Measurement::new(
            &job.name,
            variant.name(),
            "ms",
            time.as_secs_f64() * 1e3,
        ));
    }
    Ok(())
}

fn device(gpu: &Gpu) -> Result<Device<'_>> {
    let abort = false;
    Device::with(
        gpu,
        DeviceOptions {
            abort,
            ..DeviceOptions::default()
        },
    )
}

/// Runs a fault: a check of the layer ends the invocation, one of the validation layer prints a message.
fn prove(variant: Variant) -> Result<()> {
    // Without its safe mode, GPU-AV does not plant its shader sanitizer.
    let (fault, printed) = match variant {
        Variant::GpuAv => ("words[1000000u + words[0]] = 1u;", "out of bounds"),
        _ => ("words[2] = words[0] / words[1];", "divide by zero"),
    };
    let text = format!(
        "layout(local_size_x = 1) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         void main() {{ {fault} words[3] = 1u; }}\n"
    );
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let device = device(&gpu)?;
    let buffer = Buffer::near(&device, &[7, 0, 0, 0])?;
    let kernel = Kernel::new(
        &device,
        &shaders::compile_compute(&text, Variant::Unchecked)?,
        &[&buffer],
    )?;
    let result = kernel.run_to_end(1)?;
    ensure!(result == vk::Result::SUCCESS, "the fault ended with {result:?}");
    let has_ended = buffer.read().get(3) == Some(&0);
    let messages = context.messages.take();
    let is_printed = messages.iter().any(|message| message.contains(printed));
    let expected = match variant {
        Variant::DefaultChecks => (true, false),
        Variant::GpuAv | Variant::ShaderSanitizer => (false, true),
        _ => (false, false),
    };
    ensure!(
        (has_ended, is_printed) == expected,
        "{}: the invocation has ended: {has_ended}, messages: {messages:?}",
        variant.name()
    );
    Ok(())
}

/// The dispatches. `rounds`: iterations of the generated loops.
fn jobs(rounds: u32) -> Result<Vec<Job>> {
    let mut jobs = vec![
        file("copy.comp", 16384, &[1 << 20], [1 << 20, 1 << 20, 0])?,
        file(
            "gather.comp",
            512,
            &[GATHERED, 1024],
            [512 * 64 * GATHERED, 4 * 1024, 4 * 512 * 64],
        )?,
        file("matmul.comp", 64, &[16, 1024, 256], [16 * 256, 256 * 1024, 16 * 1024])?,
        file(
            "matmul_inside.comp",
            64,
            &[1024, 256, 16 * 256, 256 * 1024],
            [16 * 256, 256 * 1024, 16 * 1024],
        )?,
        file(
            "regtile.comp",
            64,
            &[64, 64, 1 << 16, 1 << 16],
            [4 * (64 * 64 + 513), 4 * (64 * 64 + 129), 4 * (513 * 64 + 128)],
        )?,
    ];
    let loops = [8, 32, 128].map(Shader::Loop);
    let operations = OPERATIONS.map(|(check, _)| Shader::Operation(check));
    for shader in loops.into_iter().chain(operations).chain([Shader::Operations]) {
        let modules = shader.compile(Variant::Unchecked)?.context("a shader without checks")?;
        let mut words = vec![1; 2 + 1024 + 64 * GROUPS as usize];
        words.splice(..2, [rounds, 1024]);
        jobs.push(Job {
            name: shader.name(),
            spirv: modules.into_iter().next().context("a module")?,
            buffers: vec![words],
            groups: GROUPS,
        });
    }
    Ok(jobs)
}

/// A file of `bench/shaders`, with the sizes of its buffers in words, and its push constants in a buffer behind these.
fn file(name: &str, groups: u32, constants: &[u32], sizes: [u32; 3]) -> Result<Job> {
    let buffers = sizes.iter().filter(|size| **size > 0);
    let mut buffers: Vec<Vec<u32>> = buffers.map(|size| vec![0; *size as usize]).collect();
    let binding = buffers.len();
    buffers.push(constants.to_vec());
    let text = shaders::file(name)?.replace(
        "layout(push_constant) uniform",
        &format!("layout(set = 0, binding = {binding}) readonly buffer"),
    );
    Ok(Job {
        name: name.to_owned(),
        spirv: shaders::compile_compute(&text, Variant::Unchecked)?,
        buffers,
        groups,
    })
}
