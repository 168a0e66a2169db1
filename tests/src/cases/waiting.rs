//! Loops that wait for another invocation end when it aborts.

use super::support::{MARK, Ran, draw_with_words, run};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::{Context as _, Result, ensure};
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "waiting::ends_when_the_other_invocation_aborts" => aborted(device, FLAG), logs(&["never sets the flag"]);
    "waiting::ends_with_a_separate_control_block" => aborted(device, FLAG),
        set(&[("control_block", "device")]), alone(), logs(&["never sets the flag"]);
    "waiting::is_reported_on_a_device_that_continues" => continues(device), alone(), set(CONTINUE), reports("waiting");
    "waiting::is_not_what_a_counted_loop_does" => counted(gpu), alone(), set(CONTINUE), reports("counted");
    "waiting::succeeds_when_the_other_invocation_sets_the_flag" => not_aborted(device, FLAG), silent();
    "waiting::for_the_result_of_a_callee_ends" => aborted(device, CALLEE), logs(&["never sets the flag"]);
    "waiting::for_the_result_of_a_callee_succeeds" => not_aborted(device, CALLEE), silent();
    "waiting::behind_an_if_ends" => behind(device, "IF"), logs(&["holds the lock"]);
    "waiting::behind_an_else_ends" => behind(device, "ELSE"), logs(&["holds the lock"]);
    "waiting::behind_nested_ifs_ends" => behind(device, "NESTED"), logs(&["holds the lock"]);
    "waiting::behind_nested_ifs_that_wait_ends" => behind(device, "NESTED_WAITS"), logs(&["holds the lock"]);
    "waiting::behind_a_switch_ends" => behind(device, "SWITCH"), logs(&["holds the lock"]);
    "waiting::behind_a_loop_ends" => behind(device, "LOOP"), logs(&["holds the lock"]);
    "waiting::behind_a_switch_in_a_loop_ends" => behind(device, "SWITCH_IN_LOOP"), logs(&["holds the lock"]);
    "waiting::behind_a_loop_condition_ends" => behind(device, "LOOP_CONDITION"), logs(&["holds the lock"]);
    "waiting::behind_an_if_in_the_loop_ends" => behind(device, "IN_THE_LOOP"), logs(&["holds the lock"]);
    "waiting::behind_an_if_in_a_callee_ends" => behind(device, "IN_A_CALLEE"), logs(&["holds the lock"]);
    "waiting::behind_a_call_ends" => behind(device, "CALL"), logs(&["holds the lock"]);
    "waiting::behind_a_call_by_a_callee_ends" => behind(device, "CALLED_LOOP"), logs(&["holds the lock"]);
    "waiting::behind_an_early_return_ends" => behind(device, "RETURNED"), logs(&["holds the lock"]);
    "waiting::behind_a_uniform_if_ends" => behind(device, "UNIFORM"), logs(&["holds the lock"]);
    "waiting::behind_an_if_on_shared_memory_ends" => behind(device, "SHARED"), logs(&["holds the lock"]);
    "waiting::behind_a_kill_ends" => behind_a_kill(device), logs(&["holds the lock"]);
    "waiting::behind_aborts_that_do_not_happen_succeeds" => behind_no_abort(device), silent();
    "waiting::behind_a_kill_that_does_not_happen_succeeds" => behind_no_kill(device), silent();
};

const CONTINUE: &[(&str, &str)] = &[("on_abort", "continue")];

/// Two orders of magnitude above the usual time, compilation included.
const LIMIT: Duration = Duration::from_secs(20);

const SHADERS: [&str; 2] = ["waiting/flag.comp", "waiting/callee.comp"];
/// Index of the shader whose loop itself reads the flag.
const FLAG: usize = 0;
/// Index of the shader whose loop calls a function whose `return` statements depend on the flag.
const CALLEE: usize = 1;

/// Forms of `waiting/behind.comp`.
const FORMS: [&str; 15] = [
    "IF",
    "ELSE",
    "NESTED",
    "NESTED_WAITS",
    "SWITCH",
    "LOOP",
    "SWITCH_IN_LOOP",
    "LOOP_CONDITION",
    "IN_THE_LOOP",
    "IN_A_CALLEE",
    "CALL",
    "CALLED_LOOP",
    "RETURNED",
    "UNIFORM",
    "SHARED",
];
const BEHIND: &str = "waiting/behind.comp";
const KILL: [&str; 2] = ["stage/cover.vert", "waiting/behind.frag"];

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
    ensure!(start.elapsed() < LIMIT, "it took {:?}", start.elapsed());
    Ok(())
}

/// The 32 invocations that wait are ended without a message, so the report counts them.
fn continues(device: &Device<'_>) -> Result<()> {
    let words = dispatch(device, SHADERS[FLAG], MARK)?.succeeded()?;
    ensure!(
        words[1..].iter().all(|&word| word == 0),
        "an invocation continued: {words:?}"
    );
    Ok(())
}

/// One invocation aborts, the others count to a number in memory.
fn counted(gpu: &Gpu) -> Result<()> {
    let (_, newer) = gpu.features();
    gpu.require(newer.vulkan_memory_model, "vulkanMemoryModel")?;
    let options = DeviceOptions {
        vulkan_memory_model: true,
        ..DeviceOptions::default()
    };
    let device = Device::with(gpu, options)?;
    let mut words = vec![0; 64];
    (words[0], words[20]) = (MARK, 10);
    let words = run(&device, &glsl::compile("waiting/counted.comp")?, &words)?.succeeded()?;
    ensure!(words[21..].iter().all(|&word| word == MARK + 10), "{words:?}");
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

/// Compiles a form of a shader in which one invocation takes a lock that the others wait for.
fn form(name: &str) -> Result<Vec<u32>> {
    let text = std::fs::read_to_string(glsl::folder().join(BEHIND))?;
    let (version, rest) = text.split_once('\n').context("no #version")?;
    glsl::compile_compute(&format!("{version}\n#define {name}\n{rest}"))
}

/// The holder of the lock aborts.
fn behind(device: &Device<'_>, name: &str) -> Result<()> {
    let mut words = vec![0; 66];
    words[0] = MARK;
    let spirv = form(name)?;
    let start = Instant::now();
    let (words, payloads) = run(device, &spirv, &words)?.lost()?;
    // A loop in a workgroup that has started earlier or later may run before the lock is taken.
    let text = Payload::text("holds the lock").bytes();
    ensure!(
        !payloads.is_empty() && payloads.iter().all(|payload| *payload == text),
        "{payloads:?}"
    );
    ensure!(words[2 + 5] == 0, "the invocation continued after the abort");
    ensure!(start.elapsed() < LIMIT, "it took {:?}", start.elapsed());
    Ok(())
}

fn behind_no_abort(device: &Device<'_>) -> Result<()> {
    for name in FORMS {
        let words = run(device, &form(name)?, &[0; 66])?.succeeded()?;
        ensure!(words[1] == 0, "{name}: the lock is {}", words[1]);
        ensure!(words[2..].iter().all(|&word| word == 1), "{name}: {words:?}");
    }
    Ok(())
}

/// The holder of the lock is a fragment.
fn behind_a_kill(device: &Device<'_>) -> Result<()> {
    let start = Instant::now();
    let (_, ran) = draw_with_words(device, &KILL, [17, 42])?;
    let (_, payloads) = ran.lost()?;
    ensure!(payloads == [Payload::text("holds the lock").bytes()]);
    ensure!(start.elapsed() < LIMIT, "it took {:?}", start.elapsed());
    Ok(())
}

fn behind_no_kill(device: &Device<'_>) -> Result<()> {
    let (_, ran) = draw_with_words(device, &KILL, [1000, 1000])?;
    ran.succeeded()?;
    Ok(())
}
