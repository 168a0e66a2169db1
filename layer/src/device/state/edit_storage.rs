//! Storage for the data that the layer's copies of create infos point to.

use super::module::ModuleUse;
use crate::loader::chain::ChainCopy;
use ash::vk;
use std::any::Any;
use std::ffi::c_void;
use std::ptr;

/// Owns the data that edited create infos point to, until the driver has read them.
#[derive(Default)]
pub struct EditStorage {
    /// Arrays of `Copy` types, and the owned nodes of chains.
    kept: Vec<Box<dyn Any>>,
    /// Modules created for a single creation command.
    modules: Vec<vk::ShaderModule>,
    destroy: Option<(vk::Device, vk::PFN_vkDestroyShaderModule)>,
}

// SAFETY: the kept values are `Copy`, so that a thread which drops the storage only frees their memory. Nothing reads them through
// the storage.
unsafe impl Send for EditStorage {}

impl EditStorage {
    /// Stores values and returns their address, which is stable: moving a `Vec` does not move its values.
    pub fn keep<T: Copy + 'static>(&mut self, values: Vec<T>) -> *const T {
        let address = values.as_ptr();
        self.kept.push(Box::new(values));
        address
    }

    /// Stores the copied nodes of a chain, and returns its first node.
    pub fn keep_chain(&mut self, chain: ChainCopy) -> *const c_void {
        let head = chain.head();
        self.kept.push(Box::new(chain.into_owned()));
        head
    }

    /// Stores a module, which is destroyed together with the storage. `destroy` is the next layer's function of `device`.
    pub fn keep_module(
        &mut self,
        device: vk::Device,
        destroy: vk::PFN_vkDestroyShaderModule,
        module: vk::ShaderModule,
    ) {
        self.destroy = Some((device, destroy));
        self.modules.push(module);
    }
}

impl Drop for EditStorage {
    fn drop(&mut self) {
        if let Some((device, destroy)) = self.destroy {
            for module in &self.modules {
                // SAFETY: the layer created the module, the creation that used it is complete, and the device still exists.
                unsafe { destroy(device, *module, ptr::null()) };
            }
        }
    }
}

/// A pipeline creation that was deferred to an operation.
pub struct DeferredCreation {
    /// Data that the driver may read until the operation is destroyed.
    _storage: EditStorage,
    /// The application's output array. `None` once the creation is complete and its handles are recorded.
    pub pipelines: Option<*const vk::Pipeline>,
    /// The modules of each pipeline.
    pub modules: Vec<Vec<ModuleUse>>,
}

// SAFETY: the application keeps the array alive until the operation completes, which any of its threads may do.
unsafe impl Send for DeferredCreation {}

impl DeferredCreation {
    /// A creation that is not complete.
    pub fn new(storage: EditStorage, pipelines: *const vk::Pipeline, modules: Vec<Vec<ModuleUse>>) -> Self {
        Self {
            _storage: storage,
            pipelines: Some(pipelines),
            modules,
        }
    }
}
