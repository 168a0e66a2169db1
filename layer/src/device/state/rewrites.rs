//! What the layer's copies of pipeline create-infos point to.

use crate::loader::chain::ChainCopy;
use ash::vk;
use std::any::Any;
use std::ptr;

type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// Everything that edited create-infos point to. Lives until the driver has read them.
#[derive(Default)]
pub struct Rewrites {
    pub chains: Vec<ChainCopy>,
    pub words: Vec<Vec<u32>>,
    pub stages: Vec<Vec<Stage>>,
    /// Modules that exist for this creation only.
    pub modules: Vec<vk::ShaderModule>,
    pub destroy: Option<(vk::Device, vk::PFN_vkDestroyShaderModule)>,
    /// The create-infos that point to all that, where they have to live as long.
    infos: Vec<Box<dyn Any>>,
}

// SAFETY: the pointers are to memory that it owns or that the application keeps for the creation; nothing is shared.
unsafe impl Send for Rewrites {}

impl Drop for Rewrites {
    fn drop(&mut self) {
        if let Some((device, destroy)) = self.destroy {
            for module in &self.modules {
                // SAFETY: made by us for a creation that is over.
                unsafe { destroy(device, *module, ptr::null()) };
            }
        }
    }
}

impl Rewrites {
    /// Keeps create-infos for as long as what they point to.
    pub fn keep_infos<T: 'static>(&mut self, infos: T) {
        self.infos.push(Box::new(infos));
    }
}
