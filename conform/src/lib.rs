//! A conformance run of `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`.
//!
//! `checks` has what is checked, over `gpu`, which is all of Vulkan that is used, with `shaders`, assembled by `spirv`.
//! `runner` does each check in a process of its own; `show` has the table, the JSON and the JUnit document.
#![deny(unsafe_code)]

pub mod checks;
// Vulkan is called from here.
#[allow(unsafe_code)]
mod gpu;
mod rules;
pub mod runner;
pub mod shaders;
pub mod show;
mod spirv;
pub mod verdict;

use checks::Check;
use verdict::{Checked, Stop, Verdict};

/// Does one check in this process. The line that says how it went.
pub fn line_of(name: &str, device: Option<&str>) -> Option<String> {
    let check = checks::all().find(|check| check.name == name)?;
    let (verdict, described) = match gpu::Gpu::open(device) {
        Ok(gpu) => (verdict_of(check, (check.run)(gpu)), Some(gpu.describe())),
        Err(stop) => (Verdict::of(Err(stop)), None),
    };
    Some(verdict.line(described.as_ref()))
}

fn verdict_of(check: &Check, result: Checked) -> Verdict {
    Verdict::of(match result {
        Err(Stop::Fail(detail)) if check.beyond_valid_usage => Err(Stop::Warn(detail)),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_rules_are_said() {
        let mut seen = BTreeSet::new();
        for check in checks::all() {
            assert!(seen.insert(check.name), "{} is there twice", check.name);
            assert!(check.name.contains('.') && !check.name.contains(' '), "{}", check.name);
            assert!(check.rule.section.len() > 10 && check.rule.sentence.len() > 10);
        }
        assert!(seen.len() > 50, "only {} checks", seen.len());
    }

    #[test]
    fn what_valid_usage_does_not_allow_is_no_failure() {
        let fail = || Err(Stop::Fail("seen".into()));
        for check in checks::all() {
            let failed = verdict_of(check, fail()).outcome.is_failure();
            assert_eq!(failed, !check.beyond_valid_usage, "{}", check.name);
        }
    }
}
