//! Tables of the objects that reports name, and of the modules that can be reported.

use super::module::{Module, ModuleUse};
use ash::vk::ObjectType;
use std::collections::HashMap;
use std::sync::Arc;
use vkabort_record::compact::ShortHash;
use vkabort_record::site::{CodeHash, ModuleHash};
use vkabort_record::specialization::PipelineStage;

/// An object with a name, or created from modules with aborts.
#[derive(Default)]
pub(super) struct Object {
    /// Empty: it has none.
    pub(super) name: String,
    pub(super) modules: Vec<ModuleUse>,
}

impl Object {
    pub(super) fn uses_of(&self, code: CodeHash) -> impl Iterator<Item = &ModuleUse> {
        self.modules.iter().filter(move |used| used.module.code() == code)
    }

    pub(super) fn is_of(&self, hash: ModuleHash) -> bool {
        self.modules.iter().any(|used| used.module.sites.module_hash == hash)
    }
}

/// Code of a module that can be reported.
pub(super) struct Reportable {
    pub(super) module: Arc<Module>,
    /// Objects created from it.
    pub(super) uses: usize,
    /// The last name of a destroyed shader module.
    pub(super) name: String,
    /// Its code has left the layer's sight: the stages that have.
    pub(super) exported: Option<Vec<PipelineStage>>,
}

#[derive(Default)]
pub(super) struct Tables {
    pub(super) modules: HashMap<CodeHash, Reportable>,
    /// The code that may write compact records, that of destroyed modules included.
    pub(super) compact: HashMap<ShortHash, CodeHash>,
    pub(super) objects: HashMap<(ObjectType, u64), Object>,
    /// Destroyed while aborts were not reported, in order, with the handles that they had.
    pub(super) destroyed: Vec<((ObjectType, u64), Object)>,
}

impl Tables {
    pub(super) fn reportable(&mut self, module: &Arc<Module>) -> &mut Reportable {
        self.modules.entry(module.code()).or_insert_with(|| Reportable {
            module: Arc::clone(module),
            uses: 0,
            name: String::new(),
            exported: None,
        })
    }

    /// The objects, those that are destroyed included.
    pub(super) fn all_objects(&self) -> impl Iterator<Item = (&(ObjectType, u64), &Object)> {
        let destroyed = self.destroyed.iter().map(|(key, object)| (key, object));
        self.objects.iter().chain(destroyed)
    }

    /// Gives up an object's modules.
    pub(super) fn release(&mut self, object: &Object) {
        for used in &object.modules {
            let code = used.module.code();
            if let Some(reportable) = self.modules.get_mut(&code) {
                reportable.uses = reportable.uses.saturating_sub(1);
                if reportable.uses == 0 && reportable.exported.is_none() {
                    self.modules.remove(&code);
                }
            }
        }
    }
}
