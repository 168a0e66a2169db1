//! Conformance checks of `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`.
//!
//! A check is a [`Case`] with a rule, the sentence that it tests. [`checks`] has them, one file for each part of the
//! specifications, on top of `scenario`, the steps that many share, and [`open`], which opens the device, with the modules of
//! [`shaders`]. [`probe`] lists the machine's devices.
#![deny(unsafe_code)]

pub mod checks;
// Calls Vulkan.
#[allow(unsafe_code)]
pub mod open;
// Calls Vulkan.
#[allow(unsafe_code)]
pub mod probe;
mod rules;
mod scenario;
pub mod shaders;

use anyhow::{Result, bail};
use open::{CheckedGpu, skip_without_device};
use serde_json::Value as Json;
use vkabort_runner::{Case, Context};

pub use checks::LOSES;

/// Whether the device can be opened: its detail describes the device as JSON. Skips with the reason why no check can run;
/// fails if the name of the device is wrong, or a query fails.
pub const OPEN: Case = Case::new("open", |context| Ok(opened(context)?.to_string().into()));

fn opened(context: &Context) -> Result<Json> {
    let gpu = context
        .owner
        .own(CheckedGpu::open(context).map_err(skip_without_device)?);
    // Every check requires at least one extension.
    gpu.require_any()?;
    Ok(gpu.describe())
}

/// The check with this name, or [`OPEN`].
///
/// # Errors
///
/// There is no such check.
pub fn find(name: &str) -> Result<Case> {
    match checks::all().chain([OPEN]).find(|case| case.name == name) {
        Some(case) => Ok(case),
        None => bail!("`{name}` is not a check"),
    }
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
            let rule = check.rule.expect("a rule");
            assert!(rule.section.len() > 10 && rule.sentence.len() > 10);
        }
        assert!(names.len() > 50, "only {} checks", names.len());
    }
}
