//! Drivers that end the loops of an invocation after a number of iterations: the layer has to know them.

use crate::case::{Case, cases};
use crate::cases::support::expect_success;
use crate::glsl;
use crate::vk::{Device, WordKernel};
use anyhow::{Context as _, Result, ensure};

const LOG: &str = "layer.log";
/// Iterations of each of the shader's four loops: one of them stays below the limit of lavapipe, two together do not.
const COUNT: u32 = 40_000;

pub(super) const CASES: &[Case] = cases! {
    "loop_limit::is_logged_if_the_driver_has_one" => logged(device),
        alone(), set(&[("log_level", "info"), ("log_file", LOG)]);
};

fn logged(device: &Device<'_>) -> Result<String> {
    let kernel = WordKernel::new(device, &glsl::compile("loops/long.comp")?, &[COUNT, 0, 0, 0, 0, 1, 0])?;
    expect_success(kernel.run_to_end(1)?)?;
    let words = kernel.words();
    let iterations: u32 = words[1..5].iter().sum();
    let log = std::fs::read_to_string(LOG)?;
    let Some((_, text)) = log.lines().find_map(|line| line.split_once(": loops: ")) else {
        let step = |value: u32, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let expected = (4 * COUNT, (0..4 * COUNT).fold(1, step));
        ensure!(
            (iterations, words[5]) == expected,
            "{words:?}, and the log has no limit:\n{log}"
        );
        return Ok("none".into());
    };
    let limit = text.split(' ').find_map(|word| word.parse::<u32>().ok());
    let limit = limit.context("no number")?;
    // The limit counts the iteration in which each loop ends, and every loop has one.
    ensure!(
        words[1] == COUNT && iterations.abs_diff(limit) < 8,
        "{words:?}, but {text}"
    );
    Ok(format!("{iterations} iterations"))
}
