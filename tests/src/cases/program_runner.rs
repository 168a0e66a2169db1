//! Runs a program on a driver and in the interpreter, and compares the memory that both leave.

use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use std::ffi::CString;
use vkabort_oracle::check::Subject;
use vkabort_oracle::check::compute_run::{ComputeRun, initial_buffers, interpret_compute};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::interpret::Region;

/// Result of one program.
pub(super) enum Outcome {
    /// All messages were as expected.
    Passed { messages: usize },
    /// It takes too many steps to interpret, has no compute shader, needs a missing capability, or is miscompiled.
    NotApplicable,
    /// The compiler emitted an invalid module.
    Invalid,
}

/// Runs a program without aborts, then with each invocation aborting at a random tick or not at all.
pub(super) fn check(
    gpu: &Gpu,
    subject: Subject<'_>,
    entry: CString,
    invocations: usize,
    original: Option<&[u32]>,
    choices: &mut Choices,
) -> Result<Outcome> {
    let interpreted = |due: &[u32]| interpret_compute(subject, due).map_err(anyhow::Error::msg);
    let never = vec![0; invocations];
    let Some(undisturbed) = interpreted(&never)? else {
        return Ok(Outcome::NotApplicable);
    };
    if let Some(original) = original {
        let found = run(gpu, original, &entry, &never).context("the original")?;
        found.compare(&undisturbed).context("the original, on the driver")?;
    }
    let found = run(gpu, subject.words, &entry, &never)?;
    found.compare(&undisturbed).context("without a taken abort")?;
    // With several invocations, some may run to their end.
    let first = u32::from(invocations == 1);
    let moment = |last: &u32| choices.between(first.min(*last), *last);
    let due: Vec<u32> = undisturbed.ticks.iter().map(moment).collect();
    let Some(expected) = interpreted(&due)? else {
        return Ok(Outcome::NotApplicable);
    };
    let found = run(gpu, subject.words, &entry, &due)?;
    found
        .compare(&expected)
        .with_context(|| format!("invocations abort at {due:?}"))?;
    Ok(Outcome::Passed {
        messages: undisturbed.messages.len() + expected.messages.len(),
    })
}

fn run(gpu: &Gpu, words: &[u32], entry: &CString, due: &[u32]) -> Result<Observed> {
    let device = Device::new(gpu)?;
    let mut buffers = Vec::new();
    for (number, (binding, words)) in (0..).zip(initial_buffers(due)) {
        ensure!(number == binding, "bindings are not consecutive");
        buffers.push(Buffer::storage(&device, &words)?);
    }
    let bound: Vec<&Buffer<'_>> = buffers.iter().collect();
    let kernel = Kernel::with_entry(&device, words, entry, &bound)?;
    let (_submission, result) = kernel.run(1)?;
    let payloads = match result {
        vk::Result::SUCCESS => Vec::new(),
        vk::Result::ERROR_DEVICE_LOST => device.payloads()?,
        other => bail!("the dispatch ended with {other:?}"),
    };
    Ok(Observed {
        lost: result == vk::Result::ERROR_DEVICE_LOST,
        buffers: buffers.iter().map(Buffer::read).collect(),
        payloads,
    })
}

/// Observable results of a run.
struct Observed {
    lost: bool,
    buffers: Vec<Vec<u32>>,
    payloads: Vec<Vec<u8>>,
}

impl Observed {
    fn compare(&self, expected: &ComputeRun) -> Result<()> {
        ensure!(
            self.lost != expected.messages.is_empty(),
            "the device is {}lost, and there are {} messages",
            if self.lost { "" } else { "not " },
            expected.messages.len()
        );
        for (binding, words) in &expected.buffers {
            let found = self.buffers.get(*binding as usize).context("unexpected binding")?;
            super::support::same_words(found, words).with_context(|| format!("buffer {binding}"))?;
        }
        // The order of messages is undefined.
        let mut left = self.payloads.clone();
        for message in &expected.messages {
            match left.iter().position(|payload| matches(payload, message)) {
                Some(at) => drop(left.swap_remove(at)),
                None => bail!("no message is {:02x?}; the rest are {left:02x?}", message.bytes()),
            }
        }
        ensure!(left.is_empty(), "{} extra messages: {left:02x?}", left.len());
        Ok(())
    }
}

/// Whether a payload equals a message, ignoring undefined bits.
fn matches(payload: &[u8], message: &Region) -> bool {
    let undef = message.shadow().iter().chain(std::iter::repeat(&0));
    let mut bytes = payload.iter().zip(message.bytes()).zip(undef);
    payload.len() == message.bytes().len() && bytes.all(|((found, expected), undef)| (found ^ expected) & !undef == 0)
}
