//! Prints and the memory for them: it is used again once work is complete, and prints without room are counted.

use super::deliver::{self, Received};
use super::prints::shader;
use super::support::{expect_success, without_abort};
use crate::case::{Case, Context, cases};
use crate::vk::{Buffer, Gpu, Kernel, Submission};
use anyhow::{Result, ensure};
use ash::vk;
use std::collections::{BTreeMap, VecDeque};

/// Chunks of 477 prints.
const SMALL: &[(&str, &str)] = &[("printf", "on"), ("printf_size", "65536")];

pub(super) const CASES: &[Case] = cases! {
    "prints::room_three_frames_in_flight" => frames(context, 3, false), set(SMALL);
    "prints::room_frames_that_are_polled" => frames(context, 2, true), set(SMALL);
    "prints::room_a_dispatch_that_prints_too_much" => overflow(context), set(SMALL),
        logs(&[" prints of print.comp:10 have no room (printf_size)\n", " prints of print.comp:11 have no room (printf_size)\n"]);
    "prints::room_a_million_prints" => million(context), alone(), set(&[("printf", "on")]);
};

/// Prints of a frame.
const OF_FRAME: u32 = 32;
const FRAMES: u32 = 200;

/// Submits frames, each of which prints, while `in_flight` of them run: in total 13 times more than a chunk holds. Every print arrives
/// once, and those of a frame before those of the frames that follow on its fence.
fn frames(context: &Context, in_flight: usize, polls: bool) -> Result<()> {
    let received = Received::default();
    let gpu = deliver::open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)),
    )?;
    let device = without_abort(&gpu)?;
    let buffers: Vec<Buffer<'_>> = (0..FRAMES)
        .map(|frame| Buffer::storage(&device, &[[7; OF_FRAME as usize].as_slice(), &[frame]].concat()))
        .collect::<Result<_>>()?;
    let spirv = shader("debugPrintfEXT(\"%u %u\", words[32], i);")?;
    let mut pending: VecDeque<Submission<'_>> = VecDeque::new();
    let mut kernels = Vec::new();
    let wait = |submission: Submission<'_>| {
        while polls && submission.status() == vk::Result::NOT_READY {
            std::thread::yield_now();
        }
        expect_success(submission.wait())
    };
    for buffer in &buffers {
        let kernel = Kernel::new(&device, &spirv, &[buffer])?;
        let submission = kernel.record(1)?;
        expect_success(submission.submit())?;
        pending.push_back(submission);
        kernels.push(kernel);
        if pending.len() == in_flight
            && let Some(oldest) = pending.pop_front()
        {
            wait(oldest)?;
        }
    }
    pending.into_iter().try_for_each(wait)?;
    let texts = received.take();
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for text in &texts {
        *found.entry(text.clone()).or_default() += 1;
    }
    let missing: Vec<String> = (0..FRAMES * OF_FRAME)
        .map(|print| format!("print.comp:10: {} {}", print / OF_FRAME, print % OF_FRAME))
        .filter(|text| found.get(text) != Some(&1))
        .collect();
    let expected = (FRAMES * OF_FRAME) as usize;
    ensure!(
        texts.len() == expected && missing.is_empty(),
        "{} prints of {expected} arrived; not once: {:?}",
        texts.len(),
        missing.iter().take(9).collect::<Vec<_>>()
    );
    Ok(())
}

/// The first prints are kept; the others are counted by their site. While a dispatch runs, the layer may make another chunk the
/// current one, so more than a chunk may be kept.
fn overflow(context: &Context) -> Result<()> {
    let received = Received::default();
    let gpu = deliver::open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)),
    )?;
    print_twice(&gpu)?;
    let texts = received.take();
    for (line, text) in [(10, "first"), (11, "second")] {
        let kept = texts
            .iter()
            .filter(|found| **found == format!("print.comp:{line}: {text}"))
            .count();
        let dropped = texts.iter().find_map(|found| {
            let (count, place) = found.strip_prefix("vkabort: ")?.split_once(" prints of ")?;
            place
                .starts_with(&format!("print.comp:{line} "))
                .then(|| count.parse::<usize>())
        });
        let dropped = dropped.transpose()?.unwrap_or(0);
        ensure!(
            kept + dropped == 1024,
            "{line}: {kept} arrived and {dropped} are counted"
        );
        ensure!(dropped > 0, "the others of {line} are not counted");
    }
    Ok(())
}

/// Two dispatches of 1,024 invocations each, which print in one submission.
fn print_twice(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[7; 1024])?;
    let first = Kernel::new(&device, &shader("debugPrintfEXT(\"first\");")?, &[&buffer])?;
    let second = Kernel::new(&device, &shader("\ndebugPrintfEXT(\"second\");")?, &[&buffer])?;
    let submission = Submission::record(&device, |raw, commands| {
        first.dispatch(raw, commands, 1024 / 32);
        second.dispatch(raw, commands, 1024 / 32);
    })?;
    expect_success(submission.run())
}

/// As many as one dispatch may print: printed and counted ones are together a million.
fn million(context: &Context) -> Result<()> {
    const COUNT: u32 = 1 << 20;
    let received = Received::default();
    let gpu = deliver::open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)),
    )?;
    let device = without_abort(&gpu)?;
    let buffer = Buffer::storage(&device, &vec![7; COUNT as usize])?;
    let kernel = Kernel::new(&device, &shader("debugPrintfEXT(\"%u\", i);")?, &[&buffer])?;
    expect_success(kernel.run_to_end(COUNT / 32)?)?;
    let texts = received.take();
    let of_chunk = ((1 << 24) - 4416) / 256;
    ensure!(texts.len() >= of_chunk, "only {} arrived", texts.len());
    Ok(())
}
