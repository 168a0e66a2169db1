//! Pipeline caches.

use crate::Device;
use anyhow::{Context, Result};
use ash::vk;

/// A pipeline cache.
pub struct Cache<'device> {
    device: &'device Device<'device>,
    /// The cache.
    pub raw: vk::PipelineCache,
}

impl<'device> Cache<'device> {
    /// Creates a cache with initial `data`.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn new(device: &'device Device<'device>, data: &[u8]) -> Result<Self> {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the structure is valid for the call.
        let raw = unsafe { device.raw.create_pipeline_cache(&info, None) }.context("vkCreatePipelineCache")?;
        Ok(Self { device, raw })
    }

    /// `vkGetPipelineCacheData`
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn data(&self) -> Result<Vec<u8>> {
        // SAFETY: the cache belongs to the device.
        unsafe { self.device.raw.get_pipeline_cache_data(self.raw) }.context("vkGetPipelineCacheData")
    }
}

impl Drop for Cache<'_> {
    fn drop(&mut self) {
        // SAFETY: the cache belongs to the live device, and no call uses it.
        unsafe { self.device.raw.destroy_pipeline_cache(self.raw, None) };
    }
}
