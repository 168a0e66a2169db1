//! Compute pipelines.

use super::device::{Buffer, Cache, Device};
use super::submission::Submission;
use crate::verdict::CheckOutput;
use vkabort_test_kit::vk as kit;

/// A compute pipeline with buffers at bindings 0, 1, ..
pub struct Kernel(&'static Device, &'static kit::Kernel<'static>);

impl Kernel {
    /// Creates a pipeline from SPIR-V.
    pub fn new(
        device: &'static Device,
        spirv: &[u32],
        buffers: &[&'static Buffer],
        special: &[(u32, Vec<u8>)],
        cache: Option<&Cache>,
    ) -> CheckOutput<Self> {
        let mut kernel = kit::Kernel::bound(device.kit, buffers)?;
        let created = kernel.create(spirv, special, cache);
        // Owned first: a failed check destroys nothing either.
        let kernel = device.owner.own(kernel);
        created?;
        Ok(Self(device, kernel))
    }

    /// Records a dispatch of `groups` workgroups.
    pub fn record(&self, groups: u32) -> CheckOutput<Submission> {
        Submission::record(self.0, self.1, groups)
    }
}
