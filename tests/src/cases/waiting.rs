//! Loops that wait for another invocation end when it aborts.

use super::support::{MARK, Ran, run};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::Device;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "waiting::ends_when_the_other_invocation_aborts" => aborted(device, FLAG), logs(&["never sets the flag"]);
    "waiting::ends_with_a_separate_control_block" => aborted(device, FLAG),
        set(&[("control_block", "device")]), alone(), logs(&["never sets the flag"]);
    "waiting::succeeds_when_the_other_invocation_sets_the_flag" => not_aborted(device, FLAG), silent();
    "waiting::for_the_result_of_a_callee_ends" => aborted(device, CALLEE), logs(&["never sets the flag"]);
    "waiting::for_the_result_of_a_callee_succeeds" => not_aborted(device, CALLEE), silent();
};

const SHADERS: [&str; 2] = ["waiting/flag.comp", "waiting/callee.comp"];
/// Index of the shader whose loop itself reads the flag.
const FLAG: usize = 0;
/// Index of the shader whose loop calls a function whose `return` statements depend on the flag.
const CALLEE: usize = 1;

/// Dispatches two workgroups over words that start with `first`; the second waits for the first.
fn dispatch(device: &Device<'_>, shader: &str, first: u32) -> Result<Ran> {
    let mut words = vec![0; 34];
    words[0] = first;
    run(device, &glsl::compile(shader)?, &words)
}

fn aborted(device: &Device<'_>, shader: usize) -> Result<()> {
    let start = Instant::now();
    let (words, payloads) = dispatch(device, SHADERS[shader], MARK)?.lost()?;
    ensure!(payloads == [Payload::text("never sets the flag").bytes()]);
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

fn not_aborted(device: &Device<'_>, shader: usize) -> Result<()> {
    let words = dispatch(device, SHADERS[shader], 1)?.succeeded()?;
    ensure!(words[1] == 1, "the flag was not set");
    ensure!(
        words[2..].iter().all(|&word| word == 1),
        "an invocation did not continue: {words:?}"
    );
    Ok(())
}
