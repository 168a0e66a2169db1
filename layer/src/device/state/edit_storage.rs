//! Owns what the layer's copies of create-infos point to.

use ash::vk;
use std::any::Any;
use std::ptr;
use vkabort_record::site::ModuleHash;

/// What edited create-infos point to. Lives until the driver has read them.
#[derive(Default)]
pub struct EditStorage {
    kept: Vec<Box<dyn Any>>,
    /// Modules that exist for one creation.
    modules: Vec<vk::ShaderModule>,
    destroy: Option<(vk::Device, vk::PFN_vkDestroyShaderModule)>,
}

// SAFETY: the values point to memory of their own, or to memory that the application keeps until the creation is complete.
// They are dropped, and not used, by whichever thread completes it.
unsafe impl Send for EditStorage {}

impl EditStorage {
    /// Keeps values, and returns where they are. A `Vec` does not move its values when it is moved.
    pub fn keep<T: 'static>(&mut self, values: Vec<T>) -> *const T {
        let address = values.as_ptr();
        self.kept.push(Box::new(values));
        address
    }

    /// Destroys a module, which `destroy` belongs to, together with this.
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
                // SAFETY: the layer created the module for a creation that is complete; the device is still live.
                unsafe { destroy(device, *module, ptr::null()) };
            }
        }
    }
}

/// A creation of pipelines that was deferred to an operation.
pub struct DeferredCreation {
    /// What the driver still reads, until the operation is destroyed.
    _storage: EditStorage,
    /// The application's output array, until the creation is complete and its handles are remembered.
    pub pipelines: Option<*const vk::Pipeline>,
    /// For each pipeline, the modules that it is created from.
    pub modules: Vec<Vec<ModuleHash>>,
}

// SAFETY: the application keeps the array until the operation is complete, and lets any of its threads complete it.
unsafe impl Send for DeferredCreation {}

impl DeferredCreation {
    /// A creation that is not complete yet.
    pub fn new(storage: EditStorage, pipelines: *const vk::Pipeline, modules: Vec<Vec<ModuleHash>>) -> Self {
        Self {
            _storage: storage,
            pipelines: Some(pipelines),
            modules,
        }
    }
}
