//! Compute pipelines and pipeline caches.

use super::device::{Buffer, Device};
use super::submission::Submission;
use crate::verdict::CheckOutput;
use anyhow::Context;
use ash::vk;
use vkabort_test_kit::vk as kit;

/// A pipeline cache.
pub struct Cache(&'static kit::Device<'static>, vk::PipelineCache);

impl Cache {
    /// Creates a cache with initial `data`.
    pub fn new(device: &Device, data: &[u8]) -> CheckOutput<&'static Self> {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the structure is valid for the call.
        let raw = unsafe { device.kit.raw.create_pipeline_cache(&info, None) }.context("vkCreatePipelineCache")?;
        Ok(device.owner.own(Self(device.kit, raw)))
    }

    /// `vkGetPipelineCacheData`
    pub fn data(&self) -> CheckOutput<Vec<u8>> {
        // SAFETY: the cache belongs to the device.
        let data = unsafe { self.0.raw.get_pipeline_cache_data(self.1) };
        Ok(data.context("vkGetPipelineCacheData")?)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: the cache belongs to the live device, and no call uses it.
        unsafe { self.0.raw.destroy_pipeline_cache(self.1, None) };
    }
}

/// `SpecId` and data of specialization constants.
pub type Specialization<'a> = &'a [(u32, Vec<u32>)];

/// A compute pipeline with buffers at bindings 0, 1, ..
pub struct Kernel(&'static Device, &'static kit::Kernel<'static>);

impl Kernel {
    /// Creates a pipeline from SPIR-V.
    pub fn new(
        device: &'static Device,
        spirv: &[u32],
        buffers: &[&'static Buffer],
        special: Specialization<'_>,
        cache: Option<&Cache>,
    ) -> CheckOutput<Self> {
        let mut values = Vec::new();
        let mut entries = Vec::new();
        for (id, words) in special {
            entries.push(vk::SpecializationMapEntry {
                constant_id: *id,
                offset: values.len() as u32,
                size: words.len() * 4,
            });
            values.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        }
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
        let cache = cache.map_or(vk::PipelineCache::null(), |cache| cache.1);
        let mut kernel = kit::Kernel::bound(device.kit, buffers)?;
        let created = kernel.create(spirv, (!special.is_empty()).then_some(&info), cache);
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
