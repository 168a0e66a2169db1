//! Time from submission to device loss for a dispatch with aborting invocations, compared with the same dispatch without.
//! Each loss needs a new device.

use super::{shortest, shortest_of_each};
use crate::case::Context;
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

/// Samples per dispatch; each creates a device and compiles a pipeline.
const SAMPLES: usize = 7;

/// A dispatch to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// One of 64 invocations aborts.
    One,
    /// A million invocations abort.
    Million,
    /// A workgroup waits in a loop for the invocation that aborts.
    Waiting,
}

impl Dispatch {
    /// Shader, number of workgroups, buffer words without and with an abort.
    fn parameters(self) -> (&'static str, u32, Vec<u32>, Vec<u32>) {
        let marked = |length: usize| {
            let mut words = vec![1; length];
            words[0] = 7;
            words
        };
        let (shader, groups, mut plain, mut aborting) = match self {
            Self::One => ("abort/entry_point.comp", 2, vec![1; 64], marked(64)),
            Self::Million => ("storm/storm.comp", 1 << 14, vec![1; 1 << 20], marked(1 << 20)),
            Self::Waiting => ("waiting/flag.comp", 2, vec![1; 34], marked(34)),
        };
        if self == Self::Waiting {
            // The flag that the workgroup waits for.
            plain[1] = 0;
            aborting[1] = 0;
        }
        (shader, groups, plain, aborting)
    }
}

/// Shortest times from submission to completion without an abort, and to `VK_ERROR_DEVICE_LOST` with one.
///
/// # Errors
///
/// A call fails, or the dispatch does not end as expected.
pub fn to_loss(dispatch: Dispatch) -> Result<(Duration, Duration)> {
    let (shader, groups, plain, aborting) = dispatch.parameters();
    let spirv = glsl::compile(shader)?;
    shortest_of_each(
        SAMPLES,
        || shortest(3, || once(&spirv, groups, &plain, vk::Result::SUCCESS)),
        || once(&spirv, groups, &aborting, vk::Result::ERROR_DEVICE_LOST),
    )
}

fn once(spirv: &[u32], groups: u32, words: &[u32], expected: vk::Result) -> Result<Duration> {
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::near(&device, words)?;
    let kernel = Kernel::new(&device, spirv, &[&buffer])?;
    let submission = kernel.record(groups)?;
    let start = Instant::now();
    let result = submission.run();
    let time = start.elapsed();
    ensure!(result == expected, "the dispatch ended with {result:?}");
    Ok(time)
}
