//! Conformance checks of `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`.
//!
//! A check runs in a process of its own, because it may lose the device, hang, or crash its process: [`runner`] starts
//! the process, [`run_in_process`] runs the check in it. `checks` has the checks, one file for each part of the
//! specifications, on top of `scenario`, the steps that many share, and `gpu`, which makes all Vulkan calls, with the
//! modules of [`shaders`]. [`display`] and [`junit`] format the results. [`probe`] lists the machine's devices.
#![deny(unsafe_code)]

mod check;
pub mod checks;
pub mod display;
// Calls Vulkan.
#[allow(unsafe_code)]
mod gpu;
pub mod junit;
// Calls Vulkan.
#[allow(unsafe_code)]
pub mod probe;
mod rules;
pub mod runner;
mod scenario;
pub mod shaders;
mod verdict;

pub use check::{Check, LOSES};
pub use rules::Rule;
pub use runner::CheckResult;
pub use verdict::{Outcome, Verdict};

use verdict::{CheckOutput, Stop};
use vk_ext::EXTENSION_NAMES;

/// Instead of a check's name: whether the device can be opened. Skips with the reason why no check can run; fails if the
/// name of the device is wrong.
pub const OPEN: &str = "open";

/// Runs one check, or [`OPEN`], in this process. Returns the line with its verdict, or `None` if no check has this name.
pub fn run_in_process(name: &str, device: Option<&str>) -> Option<String> {
    if name == OPEN {
        let opened = match gpu::Gpu::open(device) {
            Err(stop @ (Stop::Skip(_) | Stop::WrongDevice(_))) => Err(stop),
            // Every check requires at least one.
            Ok(gpu) if !EXTENSION_NAMES.iter().any(|name| gpu.has(name)) => {
                gpu.require(&EXTENSION_NAMES).map(|()| String::new())
            }
            // The checks themselves report failed queries.
            _ => Ok(String::new()),
        };
        return Some(Verdict::new(opened).line(None));
    }
    let check = checks::all().find(|check| check.name == name)?;
    let (verdict, device) = match gpu::Gpu::open(device) {
        Ok(gpu) => (judge(check, (check.run)(gpu)), Some(gpu.describe())),
        Err(stop) => (Verdict::new(Err(stop)), None),
    };
    Some(verdict.line(device.as_ref()))
}

/// Failures of a check outside valid usage are warnings.
fn judge(check: &Check, output: CheckOutput) -> Verdict {
    Verdict::new(match output {
        Err(Stop::Fail(detail)) if check.outside_valid_usage => Err(Stop::Warn(detail)),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_check_cites_a_rule() {
        let mut names = BTreeSet::new();
        for check in checks::all() {
            assert!(names.insert(check.name), "{} exists twice", check.name);
            assert!(check.name.contains('.') && !check.name.contains(' '), "{}", check.name);
            assert!(check.rule.section.len() > 10 && check.rule.sentence.len() > 10);
        }
        assert!(names.len() > 50, "only {} checks", names.len());
    }

    #[test]
    fn failures_outside_valid_usage_are_warnings() {
        for check in checks::all() {
            let failed = judge(check, Err(Stop::Fail("observed".into()))).outcome.is_failure();
            assert_eq!(failed, !check.outside_valid_usage, "{}", check.name);
        }
    }
}
