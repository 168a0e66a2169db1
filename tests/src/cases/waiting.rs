//! Loops that wait for another invocation: when that one aborts, they end too.

use super::{GROUPS, MARK};
use crate::case::{Case, Context};
use crate::expected::Payload;
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case::new("waiting::for_an_invocation_that_aborted_ends", |context| {
        aborted(context, FLAG)
    })
    .logs(&["never sets the flag"]),
    Case::new(
        "waiting::for_an_invocation_whose_control_block_is_apart_ends",
        |context| aborted(context, FLAG),
    )
    .set(&[("control_block", "device")])
    .alone()
    .logs(&["never sets the flag"]),
    Case::new("waiting::for_an_invocation_that_does_not_abort_works", |context| {
        not_aborted(context, FLAG)
    })
    .silent(),
    Case::new("waiting::for_what_a_callee_answers_ends", |context| {
        aborted(context, ASKED)
    })
    .logs(&["never sets the flag"]),
    Case::new("waiting::for_what_a_callee_answers_works", |context| {
        not_aborted(context, ASKED)
    })
    .silent(),
];

/// The loop reads the flag itself.
const FLAG: &str = "waiting/flag.comp";
/// It asks a function, which answers by where it returns.
const ASKED: &str = "waiting/asked.comp";

/// Dispatches two workgroups, the second of which waits for the first, over words that start with `first`. Returns how
/// it ended, the words and the payloads.
fn dispatch(context: &Context, shader: &str, first: u32) -> Result<(vk::Result, Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let mut words = vec![0; 34];
    words[0] = first;
    let buffer = Buffer::storage(&device, &words)?;
    let kernel = Kernel::new(&device, &glsl::compile(shader)?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    let lost = result == vk::Result::ERROR_DEVICE_LOST;
    let payloads = if lost { device.payloads()? } else { Vec::new() };
    Ok((result, buffer.read(), payloads))
}

fn aborted(context: &Context, shader: &str) -> Result<()> {
    let start = Instant::now();
    let (result, words, payloads) = dispatch(context, shader, MARK)?;
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the dispatch ended with {result:?}"
    );
    ensure!(
        payloads == [Payload::text("never sets the flag").bytes()],
        "{payloads:?}"
    );
    ensure!(words[1] == 0, "the flag was set after the abort");
    ensure!(
        words[2..].iter().all(|&word| word == 0),
        "an invocation went on as if it had seen the flag: {words:?}"
    );
    // Two orders of magnitude above what it takes, compiling included.
    ensure!(
        start.elapsed() < Duration::from_secs(20),
        "it took {:?}",
        start.elapsed()
    );
    Ok(())
}

fn not_aborted(context: &Context, shader: &str) -> Result<()> {
    let (result, words, _) = dispatch(context, shader, 1)?;
    ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
    ensure!(words[1] == 1, "the flag was not set");
    ensure!(
        words[2..].iter().all(|&word| word == 1),
        "an invocation did not go on: {words:?}"
    );
    Ok(())
}
