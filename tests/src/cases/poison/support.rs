//! Helpers for the cases of poison and freeze.

use crate::assembly::assemble;
use crate::cases::support;
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;

/// Capability for integers of a width, if the device supports them.
pub(super) fn integers(gpu: &Gpu, width: u32) -> Option<&'static str> {
    let (core, newer) = gpu.features();
    let (supported, capability) = match width {
        8 => (newer.shader_int8, "OpCapability Int8\n"),
        16 => (core.shader_int16, "OpCapability Int16\n"),
        64 => (core.shader_int64, "OpCapability Int64\n"),
        _ => (vk::TRUE, ""),
    };
    (supported == vk::TRUE).then_some(capability)
}

pub(super) fn run(device: &Device<'_>, assembly: &str, words: &[u32]) -> Result<Vec<u32>> {
    support::run(device, &assemble(assembly)?, words)?.succeeded()
}
