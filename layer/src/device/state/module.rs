//! Shader modules with aborts, and what was made from them.

use ash::vk;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use vkabort_record::site::{ModuleHash, SiteTable};

/// A module that was rewritten, or one whose aborts the driver runs itself.
pub struct Module {
    /// Its abort sites.
    pub sites: Arc<SiteTable>,
    /// The words as the application gave them, when they are needed again.
    pub original: Option<Vec<u32>>,
    /// The words that went to the driver, when they are to be dumped.
    pub rewritten: Option<Vec<u32>>,
    /// `SpecId`s that a pipeline may specialise and that then need another rewrite.
    pub data_spec_ids: Vec<u32>,
}

#[derive(Default)]
struct Tables {
    /// For decoding: kept for the life of the device, since pipelines outlive their modules.
    by_hash: HashMap<ModuleHash, Arc<Module>>,
    /// For pipeline creation.
    by_handle: HashMap<vk::ShaderModule, Arc<Module>>,
    /// For reports: which modules an object was made from. A handle that is used again replaces its entry.
    users: HashMap<(vk::ObjectType, u64), Vec<ModuleHash>>,
}

/// The modules of a device that have aborts. Devices without any pay one atomic load where a module would be looked up.
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

    /// Whether the device has any.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Remembers a module for decoding.
    pub fn add(&self, module: &Arc<Module>) {
        self.write(|tables| {
            tables
                .by_hash
                .entry(module.sites.module_hash)
                .or_insert_with(|| Arc::clone(module));
        });
    }

    /// Remembers which module a handle stands for.
    pub fn bind(&self, handle: vk::ShaderModule, module: Arc<Module>) {
        use vk::Handle as _;
        self.write(|tables| {
            tables.users.insert(
                (vk::ObjectType::SHADER_MODULE, handle.as_raw()),
                vec![module.sites.module_hash],
            );
            tables.by_handle.insert(handle, module);
        });
    }

    /// Forgets a handle.
    pub fn unbind(&self, handle: vk::ShaderModule) {
        if self.any() {
            self.write(|tables| tables.by_handle.remove(&handle));
        }
    }

    /// The module behind a handle, if it is one of them.
    pub fn bound(&self, handle: vk::ShaderModule) -> Option<Arc<Module>> {
        if !self.any() {
            return None;
        }
        self.read(|tables| tables.by_handle.get(&handle).cloned())
    }

    /// All modules, in the order of their hashes.
    pub fn all(&self) -> Vec<Arc<Module>> {
        let mut all: Vec<_> = self.read(|tables| tables.by_hash.values().cloned().collect());
        all.sort_by_key(|module| module.sites.module_hash);
        all
    }

    /// The module with this hash.
    pub fn find(&self, hash: ModuleHash) -> Option<Arc<Module>> {
        self.read(|tables| tables.by_hash.get(&hash).cloned())
    }

    /// Remembers what an object was made from.
    pub fn used_by(&self, kind: vk::ObjectType, handle: u64, modules: Vec<ModuleHash>) {
        if self.any() {
            self.write(|tables| match modules.is_empty() {
                true => drop(tables.users.remove(&(kind, handle))),
                false => drop(tables.users.insert((kind, handle), modules)),
            });
        }
    }

    /// The modules that an object was made from.
    pub fn made_from(&self, kind: vk::ObjectType, handle: u64) -> Vec<ModuleHash> {
        if !self.any() {
            return Vec::new();
        }
        self.read(|tables| tables.users.get(&(kind, handle)).cloned().unwrap_or_default())
    }

    /// Objects of a kind that were made from a module.
    pub fn users(&self, hash: ModuleHash, kind: vk::ObjectType) -> Vec<u64> {
        self.read(|tables| {
            let mut handles: Vec<u64> = tables
                .users
                .iter()
                .filter(|((k, _), modules)| *k == kind && modules.contains(&hash))
                .map(|((_, handle), _)| *handle)
                .collect();
            handles.sort_unstable();
            handles
        })
    }
}
