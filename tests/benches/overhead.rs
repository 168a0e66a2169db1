//! What the layer costs calls that have nothing to do with an abort: submissions, shader modules and pipelines, with and
//! without it in one run, on the tests' own driver (where next to nothing else is measured) and on lavapipe.
//!
//!     cargo bench -p vkabort-tests --bench overhead
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark that cannot run stops"
)]

use anyhow::{Context as _, Result};
use ash::vk;
use criterion::{BenchmarkId, Criterion};
use std::ffi::CString;
use std::process::ExitCode;
use vkabort_demo::khr;
use vkabort_tests::harness::Placement;
use vkabort_tests::{assembly, glsl, measured};
use xtask::drivers::Known;

fn main() -> ExitCode {
    measured::main(start, measure)
}

/// Runs this program again for each driver, with the layer where the loader finds it and nothing activates it.
fn start() -> Result<()> {
    let layer = xtask::layer::build()?;
    let mut drivers = vec![xtask::layer::build_driver()?];
    drivers.extend(
        Known::Lavapipe
            .find()
            .inspect_err(|reason| eprintln!("skipped: {reason}"))
            .ok(),
    );
    // A process each: lavapipe is several times slower for every device but the first that a process makes.
    for driver in &drivers {
        for way in 0..WAYS.len() {
            measured::again(driver, &layer, Placement::WithoutLayer, &[(WAY, way.to_string())])?;
        }
    }
    Ok(())
}

/// How a device comes about.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    layer: bool,
    /// The device enables the extensions.
    abort: bool,
}

/// Which of [`WAYS`] a process measures.
const WAY: &str = "BENCH_WAY";

const WAYS: [Way; 3] = [
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
struct Bench {
    _entry: ash::Entry,
    _instance: ash::Instance,
    raw: ash::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
}

impl Bench {
    /// It is never destroyed: the process ends with the measurement.
    fn new(way: Way) -> Result<Self> {
        // SAFETY: all structures are valid for their calls, and all handles of the same device.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let layer = CString::new(xtask::layer::NAME)?;
            let layers = if way.layer { vec![layer.as_ptr()] } else { Vec::new() };
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_layer_names(&layers);
            let instance = entry.create_instance(&info, None)?;
            let physical = *instance.enumerate_physical_devices()?.first().context("no device")?;
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

    /// Submits, waits now and then so that nothing piles up.
    fn submit(&self, rounds: u64) {
        let commands = [self.commands];
        let infos = [vk::SubmitInfo::default().command_buffers(&commands)];
        for _ in 0..rounds {
            // SAFETY: the command buffer may be pending more than once.
            unsafe { self.raw.queue_submit(self.queue, &infos, vk::Fence::null()) }.unwrap();
        }
        // SAFETY: nobody else uses the queue.
        unsafe { self.raw.queue_wait_idle(self.queue) }.unwrap();
    }

    fn module(&self, spirv: &[u32]) -> vk::ShaderModule {
        // SAFETY: valid SPIR-V.
        unsafe {
            self.raw
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(spirv), None)
        }
        .unwrap()
    }

    fn pipeline(&self, module: vk::ShaderModule) {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout);
        // SAFETY: the handles are of this device.
        unsafe {
            let made = self
                .raw
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            self.raw.destroy_pipeline(made.unwrap()[0], None);
        }
    }
}

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

fn measure(driver: &str) -> Result<()> {
    let mut criterion = Criterion::default()
        .output_directory(&xtask::target().join("criterion"))
        .configure_from_args();
    let plain = assembly::assemble(PLAIN)?;
    let aborting = glsl::compile("abort/entry_point.comp")?;
    let way = std::env::var(WAY).ok().and_then(|way| way.parse().ok());
    let benches = way
        .and_then(|way: usize| WAYS.get(way).copied())
        .into_iter()
        .map(|way| Ok((way, Bench::new(way).with_context(|| way.name)?)))
        .collect::<Result<Vec<_>>>()?;
    let mut group = criterion.benchmark_group(format!("{driver}/vkQueueSubmit"));
    for (way, bench) in &benches {
        group.bench_function(BenchmarkId::from_parameter(way.name), |b| {
            b.iter_custom(|rounds| {
                let start = std::time::Instant::now();
                bench.submit(rounds);
                start.elapsed()
            });
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateShaderModule"));
    for (way, bench) in &benches {
        let shaders = [("without aborts", &plain), ("with an abort", &aborting)];
        for (what, spirv) in shaders
            .iter()
            .filter(|(what, _)| way.abort || *what == "without aborts")
        {
            group.bench_function(BenchmarkId::new(way.name, what), |b| {
                // SAFETY: the module is of this device, and nothing was made from it.
                b.iter(|| unsafe { bench.raw.destroy_shader_module(bench.module(spirv), None) });
            });
        }
    }
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateComputePipelines"));
    for (way, bench) in &benches {
        let shaders = [("without aborts", &plain), ("with an abort", &aborting)];
        for (what, spirv) in shaders
            .iter()
            .filter(|(what, _)| way.abort || *what == "without aborts")
        {
            let module = bench.module(spirv);
            group.bench_function(BenchmarkId::new(way.name, what), |b| b.iter(|| bench.pipeline(module)));
        }
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
