//! Cost of an abort that is never reached: runs variants of the same kernel, alternately.

use super::shaders::{self, Shader, Variant};
use crate::case::Context;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

/// Workgroups per dispatch, of 64 invocations each.
const GROUPS: u32 = 2048;
/// Minimum time of a dispatch: much longer than a submission, much shorter than a watchdog's timeout.
const LONG_ENOUGH: Duration = Duration::from_millis(8);
/// Samples per kernel.
const SAMPLES: usize = 21;

/// Position of the abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a loop, like a bounds check.
    InALoop,
    /// After the loop, like a check of the result.
    AfterALoop,
}

impl Place {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::InALoop => "check in a loop",
            Self::AfterALoop => "check after a loop",
        }
    }
}

/// Compiles a kernel that reads and computes, with a check at `place`.
fn shader(place: Place, variant: Variant) -> Result<Vec<u32>> {
    let check = |here: Place, text: &'static str| if here == place { text } else { "" };
    let text = format!(
        "layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint rounds; uint count; uint words[]; }};\n\
         void main() {{\n  uint value = gl_GlobalInvocationID.x;\n  uint rounds = rounds;\n\
         for (uint i = 0u; i < rounds; ++i) {{\n    uint at = value & 1023u;\n    {}\n\
         value = value * 1664525u + words[at] + i;\n  }}\n  {}\n\
         words[1024u + gl_GlobalInvocationID.x] = value;\n}}\n",
        check(Place::InALoop, "CHECK(at < count, \"%u is beyond the words\", at);"),
        check(Place::AfterALoop, "CHECK(count != 0u, \"%u of nothing\", value);"),
    );
    shaders::compile_compute(&text, variant)
}

/// Shortest times of a dispatch in each variant. The samples of the variants alternate.
///
/// # Errors
///
/// A call fails.
pub fn compare<const N: usize>(place: Place, variants: [Variant; N]) -> Result<[Duration; N]> {
    compare_modules(variants.map(|variant| shader(place, variant)))
}

/// The same for a shader with a planted check.
///
/// # Errors
///
/// A call fails.
pub fn compare_planted<const N: usize>(shader: &Shader, variants: [Variant; N]) -> Result<[Duration; N]> {
    let [driver, _] = Gpu::open(&Context::default())?.driver();
    let joins_tests = !driver.contains("SwiftShader");
    compare_modules(variants.map(|variant| {
        let stages = shader.compile_for(variant, joins_tests)?;
        stages
            .and_then(|stages| stages.into_iter().next())
            .context("the shader has every variant")
    }))
}

fn compare_modules<const N: usize>(modules: [Result<Vec<u32>>; N]) -> Result<[Duration; N]> {
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let device = Device::new(&gpu)?;
    let mut words = vec![1; 2 + 1024 + 64 * GROUPS as usize];
    words[1] = 1024;
    let modules = modules.into_iter().collect::<Result<Vec<_>>>()?;
    let mut rounds = 16;
    loop {
        words[0] = rounds;
        let buffer = Buffer::near(&device, &words)?;
        let kernels = modules.iter().map(|words| Kernel::new(&device, words, &[&buffer]));
        let kernels = kernels.collect::<Result<Vec<_>>>()?;
        let mut shortest = Duration::MAX;
        for kernel in &kernels {
            dispatch(kernel)?;
            shortest = shortest.min(dispatch(kernel)?);
        }
        if shortest < LONG_ENOUGH && rounds < 1 << 20 {
            rounds *= 2;
            continue;
        }
        let mut times = [Duration::MAX; N];
        for _ in 0..SAMPLES {
            for (kernel, time) in kernels.iter().zip(&mut times) {
                *time = dispatch(kernel)?.min(*time);
            }
        }
        return Ok(times);
    }
}

fn dispatch(kernel: &Kernel<'_>) -> Result<Duration> {
    let submission = kernel.record(GROUPS)?;
    let start = Instant::now();
    let result = submission.run();
    let time = start.elapsed();
    ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
    Ok(time)
}
