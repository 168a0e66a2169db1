//! Helpers for the cases of poison and freeze.

use crate::assembly::assemble;
use crate::cases::support;
use crate::vk::Device;
use anyhow::{Result, ensure};

pub(super) fn run(device: &Device<'_>, assembly: &str, words: &[u32]) -> Result<Vec<u32>> {
    support::run(device, &assemble(assembly)?, words)?.succeeded()
}

/// Checks the results of 64 invocations in `words`: for each, the `components` of each of `operations`, as two words each.
/// `expected` and `describe` get the operation and the lane; poison has no expected value.
pub(super) fn check(
    words: &[u32],
    operations: usize,
    components: usize,
    expected: impl Fn(usize, usize) -> Option<u64>,
    describe: impl Fn(usize, usize) -> String,
) -> Result<()> {
    let (words, _) = words.as_chunks::<2>();
    for (at, [low, high]) in words.iter().enumerate() {
        let (k, operation) = (at % components, at / components % operations);
        let lane = at / (components * operations) + k;
        let found = u64::from(*low) | u64::from(*high) << 32;
        let expected = expected(operation, lane);
        ensure!(
            expected.is_none_or(|expected| found == expected),
            "component {k} of {components}: {} is {found:#x}, expected {expected:x?}",
            describe(operation, lane)
        );
    }
    ensure!(words.len() == 64 * operations * components, "{} results", words.len());
    Ok(())
}
