//! Cases and pipeline caches on a device that compiles but does not execute.

use crate::case::{Case, Context, Layers};
use crate::glsl;
use crate::vk::{Buffer, Cache, Compiled, Device, Gpu, Kernel, compile_only, stage as compute_stage};
use anyhow::Result;
use ash::vk;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::{fmt, fs};
use vkabort_runner::{Outcome, Verdict};

/// Argument that makes the program call [`compile`].
pub const COMPILE: &str = "--compile";

/// Argument that makes the program call [`pipeline_cache`] with the path behind it.
pub const PIPELINE_CACHE: &str = "--pipeline-cache";

/// Output after [`PIPELINE_CACHE`]: the cache contained the pipeline.
pub const HIT: &str = "hit";
/// Output after [`PIPELINE_CACHE`]: the cache did not contain the pipeline.
pub const MISS: &str = "miss";

/// How far a case came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// To its first submission.
    Submitted,
    /// To its end: it submits nothing.
    Ended,
    /// It does not apply to the device; the reason.
    Skipped(String),
    /// A call before the first submission failed; the reason.
    Failed(String),
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitted => f.write_str("submitted"),
            Self::Ended => f.write_str("ended"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
            Self::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}

/// Beginnings of the names of cases that need a device that executes (their threads wait for shaders, or they submit in
/// other ways), or whose devices share an address space.
const EXCLUDED: [&str; 6] = [
    "allocation::",
    "lost_objects::",
    "lost_threads::",
    "lost_timeline::",
    "present::",
    "shader_binary::a_binary_of_another_living_device",
];

/// Whether the case can run so: with our layer above the driver, and with its default settings.
fn applies(case: &Case) -> bool {
    case.can_share_process()
        && case.settings.is_empty()
        && case.rule.is_none()
        && !EXCLUDED.iter().any(|prefix| case.name.starts_with(prefix))
        && matches!(case.layers, Layers::Ours | Layers::OursOnTop | Layers::OursAlone)
}

/// Runs every case that applies, each up to its first submission, and passes its progress to `each`.
pub fn compile(cases: &[Case], mut each: impl FnMut(&Case, &Progress)) {
    compile_only();
    for case in cases.iter().filter(|case| applies(case)) {
        let context = Context::default();
        let progress = match catch_unwind(AssertUnwindSafe(|| Verdict::from((case.run)(&context)))) {
            Ok(verdict) => match verdict.outcome {
                Outcome::Pass => Progress::Ended,
                Outcome::Skip => Progress::Skipped(verdict.detail),
                _ => Progress::Failed(verdict.detail),
            },
            Err(payload) if payload.is::<Compiled>() => Progress::Submitted,
            Err(payload) => resume_unwind(payload),
        };
        each(case, &progress);
    }
}

/// Creates a pipeline with an abort and a loop in a cache that begins with the data in `file`, and writes the cache's data there. Returns
/// whether the cache contained the pipeline.
///
/// # Errors
///
/// A call fails, or the file cannot be written.
pub fn pipeline_cache(file: &Path) -> Result<bool> {
    let gpu = Gpu::open(&Context::default())?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let cache = Cache::new(&device, &fs::read(file).unwrap_or_default())?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let spirv = glsl::compile("waiting/flag.comp")?;
    let mut feedback = vk::PipelineCreationFeedback::default();
    let mut chained = vk::PipelineCreationFeedbackCreateInfo::default().pipeline_creation_feedback(&mut feedback);
    // SAFETY: the handles belong to this device and the structures are valid.
    unsafe {
        let info = vk::ShaderModuleCreateInfo::default().code(&spirv);
        let module = device.raw.create_shader_module(&info, None)?;
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(compute_stage(module))
            .layout(kernel.layout)
            .push_next(&mut chained);
        let created = device.raw.create_compute_pipelines(cache.raw, &[info], None);
        device.raw.destroy_shader_module(module, None);
        kernel.pipeline = created.map_err(|(_, result)| result)?[0];
    }
    fs::write(file, cache.data()?)?;
    Ok(feedback
        .flags
        .contains(vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT))
}
