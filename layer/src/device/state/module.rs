//! Shader modules with aborts, and the objects created from them.

use ash::vk;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use vkabort_record::site::{ModuleHash, SiteTable};

/// A module that was rewritten, or whose aborts the driver executes natively.
pub struct Module {
    /// Its abort sites.
    pub sites: Arc<SiteTable>,
    /// The application's words, if a pipeline or a dump may need them.
    pub original: Option<Vec<u32>>,
    /// The words passed to the driver, if a dump may need them.
    pub rewritten: Option<Vec<u32>>,
    /// `SpecId`s of constant data, which the rewritten module lacks.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that lengths of constant data depend on.
    pub length_spec_ids: Vec<u32>,
}

impl Module {
    /// Whether a specialization that `specializes` a `SpecId` requires another rewrite.
    pub fn depends_on(&self, specializes: impl Fn(&u32) -> bool) -> bool {
        self.data_spec_ids.iter().chain(&self.length_spec_ids).any(specializes)
    }
}

#[derive(Default)]
struct Tables {
    /// For decoding. Entries live as long as the device, since pipelines outlive their modules.
    by_hash: HashMap<ModuleHash, Arc<Module>>,
    /// For pipeline creation.
    by_handle: HashMap<vk::ShaderModule, Arc<Module>>,
    /// For reports: modules by the object created from them. A reused handle replaces its entry.
    by_object: HashMap<(vk::ObjectType, u64), Vec<ModuleHash>>,
}

/// The modules of a device that have aborts. While there are none, a lookup costs one atomic load.
#[derive(Default)]
pub struct Modules {
    tables: RwLock<Tables>,
    any: AtomicBool,
}

impl Modules {
    fn write<R>(&self, change: impl FnOnce(&mut Tables) -> R) -> R {
        self.any.store(true, Ordering::Release);
        change(&mut self.tables.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn read<R>(&self, look: impl FnOnce(&Tables) -> R) -> R {
        look(&self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the device has ever had a module with aborts.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Adds a module for decoding.
    pub fn add(&self, module: &Arc<Module>) {
        self.write(|tables| {
            tables
                .by_hash
                .entry(module.sites.module_hash)
                .or_insert_with(|| Arc::clone(module));
        });
    }

    /// Binds a handle to its module.
    pub fn bind(&self, handle: vk::ShaderModule, module: Arc<Module>) {
        use vk::Handle as _;
        self.write(|tables| {
            tables.by_object.insert(
                (vk::ObjectType::SHADER_MODULE, handle.as_raw()),
                vec![module.sites.module_hash],
            );
            tables.by_handle.insert(handle, module);
        });
    }

    /// Removes the binding of a handle.
    pub fn unbind(&self, handle: vk::ShaderModule) {
        if self.any() {
            self.write(|tables| tables.by_handle.remove(&handle));
        }
    }

    /// The module bound to a handle.
    pub fn bound(&self, handle: vk::ShaderModule) -> Option<Arc<Module>> {
        if !self.any() {
            return None;
        }
        self.read(|tables| tables.by_handle.get(&handle).cloned())
    }

    /// All modules, ordered by hash.
    pub fn all(&self) -> Vec<Arc<Module>> {
        let mut all: Vec<_> = self.read(|tables| tables.by_hash.values().cloned().collect());
        all.sort_by_key(|module| module.sites.module_hash);
        all
    }

    /// The module with this hash.
    pub fn find(&self, hash: ModuleHash) -> Option<Arc<Module>> {
        self.read(|tables| tables.by_hash.get(&hash).cloned())
    }

    /// Sets the modules that an object was created from.
    pub fn set_modules_of(&self, kind: vk::ObjectType, handle: u64, modules: Vec<ModuleHash>) {
        if self.any() {
            self.write(|tables| match modules.is_empty() {
                true => drop(tables.by_object.remove(&(kind, handle))),
                false => drop(tables.by_object.insert((kind, handle), modules)),
            });
        }
    }

    /// The modules that an object was created from.
    pub fn modules_of(&self, kind: vk::ObjectType, handle: u64) -> Vec<ModuleHash> {
        if !self.any() {
            return Vec::new();
        }
        self.read(|tables| tables.by_object.get(&(kind, handle)).cloned().unwrap_or_default())
    }

    /// Handles of the objects of a type that were created from a module, in ascending order. O(objects).
    pub fn objects_of(&self, hash: ModuleHash, kind: vk::ObjectType) -> Vec<u64> {
        self.read(|tables| {
            let mut handles: Vec<u64> = tables
                .by_object
                .iter()
                .filter(|((k, _), modules)| *k == kind && modules.contains(&hash))
                .map(|((_, handle), _)| *handle)
                .collect();
            handles.sort_unstable();
            handles
        })
    }
}
