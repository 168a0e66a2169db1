//! Cost of an abort that is never reached: runs the same kernel with and without it, alternately.

use super::medians;
use crate::case::Context;
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
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

/// Compiles a kernel that reads and computes, with or without an abort at `place`.
fn shader(place: Place, abort: bool) -> Result<Vec<u32>> {
    let check = |here: Place, text: &'static str| if abort && here == place { text } else { "" };
    let text = format!(
        "#version 460\n#extension GL_EXT_abort : enable\nlayout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint rounds; uint count; uint words[]; }};\n\
         void main() {{\n  uint value = gl_GlobalInvocationID.x;\n  uint rounds = rounds;\n\
         for (uint i = 0u; i < rounds; ++i) {{\n    uint at = value & 1023u;\n    {}\n\
         value = value * 1664525u + words[at] + i;\n  }}\n  {}\n\
         words[1024u + gl_GlobalInvocationID.x] = value;\n}}\n",
        check(
            Place::InALoop,
            "if (at >= count) abortEXT(\"%u is beyond %u\", at, count);"
        ),
        check(
            Place::AfterALoop,
            "if (count == 0u) abortEXT(\"%u of nothing\", value);"
        ),
    );
    glsl::compile_compute(&text)
}

/// Median times of a dispatch without and with the abort.
///
/// # Errors
///
/// A call fails.
pub fn never_taken(place: Place) -> Result<(Duration, Duration)> {
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let device = Device::new(&gpu)?;
    let mut words = vec![1; 2 + 1024 + 64 * GROUPS as usize];
    words[1] = 1024;
    let (plain, aborting) = (shader(place, false)?, shader(place, true)?);
    let mut rounds = 16;
    loop {
        words[0] = rounds;
        let buffer = Buffer::near(&device, &words)?;
        let plain = Kernel::new(&device, &plain, &[&buffer])?;
        let aborting = Kernel::new(&device, &aborting, &[&buffer])?;
        dispatch(&plain)?;
        dispatch(&aborting)?;
        if dispatch(&plain)? < LONG_ENOUGH && rounds < 1 << 20 {
            rounds *= 2;
            continue;
        }
        return medians(SAMPLES, || dispatch(&plain), || dispatch(&aborting));
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
