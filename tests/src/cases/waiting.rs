//! Loops that wait for another invocation end when it aborts.

use super::support::{MARK, Ran, run};
use crate::case::{Case, Context};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case::new("waiting::ends_when_the_other_invocation_aborts", aborted::<FLAG>).logs(&["never sets the flag"]),
    Case::new("waiting::ends_with_a_separate_control_block", aborted::<FLAG>)
        .set(&[("control_block", "device")])
        .alone()
        .logs(&["never sets the flag"]),
    Case::new(
        "waiting::succeeds_when_the_other_invocation_sets_the_flag",
        not_aborted::<FLAG>,
    )
    .silent(),
    Case::new("waiting::for_the_result_of_a_callee_ends", aborted::<CALLEE>).logs(&["never sets the flag"]),
    Case::new("waiting::for_the_result_of_a_callee_succeeds", not_aborted::<CALLEE>).silent(),
];

const SHADERS: [&str; 2] = ["waiting/flag.comp", "waiting/callee.comp"];
/// Index of the shader whose loop itself reads the flag.
const FLAG: usize = 0;
/// Index of the shader whose loop calls a function whose `return` statements depend on the flag.
const CALLEE: usize = 1;

/// Dispatches two workgroups over words that start with `first`; the second waits for the first.
fn dispatch(context: &Context, shader: &str, first: u32) -> Result<Ran> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let mut words = vec![0; 34];
    words[0] = first;
    run(&device, &glsl::compile(shader)?, &words)
}

fn aborted<const SHADER: usize>(context: &Context) -> Result<()> {
    let start = Instant::now();
    let (words, payloads) = dispatch(context, SHADERS[SHADER], MARK)?.lost()?;
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

fn not_aborted<const SHADER: usize>(context: &Context) -> Result<()> {
    let words = dispatch(context, SHADERS[SHADER], 1)?.succeeded()?;
    ensure!(words[1] == 1, "the flag was not set");
    ensure!(
        words[2..].iter().all(|&word| word == 1),
        "an invocation did not continue: {words:?}"
    );
    Ok(())
}
