//! Loops that wait for another invocation end when it aborts.

use super::support::{GROUPS, MARK, expect_lost, expect_success, payloads_if_lost};
use crate::case::{Case, Context};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case::new("waiting::ends_when_the_other_invocation_aborts", |context| {
        aborted(context, FLAG)
    })
    .logs(&["never sets the flag"]),
    Case::new("waiting::ends_with_a_separate_control_block", |context| {
        aborted(context, FLAG)
    })
    .set(&[("control_block", "device")])
    .alone()
    .logs(&["never sets the flag"]),
    Case::new("waiting::succeeds_when_the_other_invocation_sets_the_flag", |context| {
        not_aborted(context, FLAG)
    })
    .silent(),
    Case::new("waiting::for_the_result_of_a_callee_ends", |context| {
        aborted(context, CALLEE)
    })
    .logs(&["never sets the flag"]),
    Case::new("waiting::for_the_result_of_a_callee_succeeds", |context| {
        not_aborted(context, CALLEE)
    })
    .silent(),
];

/// The loop itself reads the flag.
const FLAG: &str = "waiting/flag.comp";
/// The loop calls a function whose `return` statements depend on the flag.
const CALLEE: &str = "waiting/callee.comp";

/// Dispatches two workgroups over words that start with `first`; the second waits for the first. Returns the result, the
/// words and the payloads.
fn dispatch(context: &Context, shader: &str, first: u32) -> Result<(vk::Result, Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let mut words = vec![0; 34];
    words[0] = first;
    let buffer = Buffer::storage(&device, &words)?;
    let kernel = Kernel::new(&device, &glsl::compile(shader)?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    let payloads = payloads_if_lost(&device, result)?;
    Ok((result, buffer.read(), payloads))
}

fn aborted(context: &Context, shader: &str) -> Result<()> {
    let start = Instant::now();
    let (result, words, payloads) = dispatch(context, shader, MARK)?;
    expect_lost(result)?;
    ensure!(
        payloads == [Payload::text("never sets the flag").bytes()],
        "{payloads:?}"
    );
    ensure!(words[1] == 0, "the flag was set after the abort");
    ensure!(
        words[2..].iter().all(|&word| word == 0),
        "an invocation continued without the flag: {words:?}"
    );
    // Two orders of magnitude above the usual time, compilation included.
    ensure!(
        start.elapsed() < Duration::from_secs(20),
        "it took {:?}",
        start.elapsed()
    );
    Ok(())
}

fn not_aborted(context: &Context, shader: &str) -> Result<()> {
    let (result, words, _) = dispatch(context, shader, 1)?;
    expect_success(result)?;
    ensure!(words[1] == 1, "the flag was not set");
    ensure!(
        words[2..].iter().all(|&word| word == 1),
        "an invocation did not continue: {words:?}"
    );
    Ok(())
}
