//! The objects that reports name, and the modules that live objects run.
//!
//! Lifetime: a name ends with its object, because the driver may give the handle to a new one. A module can be reported as long
//! as a shader module, pipeline or shader object of it exists, and for as long as the device once its code has left the layer's
//! sight: as a binary or an identifier, from which pipelines can be created without SPIR-V. A shader module that is destroyed
//! before its pipelines leaves them its name.
//!
//! A pipeline may be destroyed when its work is complete (VUID-vkDestroyPipeline-pipeline-00765), before the layer has reported
//! the aborts of that work. So an object that is destroyed while aborts are not reported is kept, without its handle, until the
//! report that covers them is complete.

use super::module::{Module, ModuleUse};
use super::object_tables::{Object, Tables};
use ash::vk::{self, Handle as _, ObjectType};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use vkabort_record::compact::ShortHash;
use vkabort_record::site::{CodeHash, ModuleHash, SiteTable};
use vkabort_record::specialization::PipelineStage;

/// The types of objects that reports name.
const REPORTED: [ObjectType; 6] = [
    ObjectType::DEVICE,
    ObjectType::QUEUE,
    ObjectType::COMMAND_BUFFER,
    ObjectType::SHADER_MODULE,
    ObjectType::PIPELINE,
    ObjectType::SHADER_EXT,
];

/// The objects of a device. While none has a module with aborts, looking for modules costs one atomic load.
#[derive(Default)]
pub struct Objects {
    tables: RwLock<Tables>,
    has_modules: AtomicBool,
    /// Some command buffer had a name.
    has_command_buffer_names: AtomicBool,
}

impl Objects {
    fn write<R>(&self, change: impl FnOnce(&mut Tables) -> R) -> R {
        change(&mut self.tables.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn read<R>(&self, look: impl FnOnce(&Tables) -> R) -> R {
        look(&self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the device has ever had a module with aborts.
    pub fn has_modules(&self) -> bool {
        self.has_modules.load(Ordering::Acquire)
    }

    /// Sets the name of an object; empty: none. Ignores objects that reports do not name.
    pub fn set_name(&self, kind: ObjectType, handle: u64, name: String) {
        if !REPORTED.contains(&kind) {
            return;
        }
        if kind == ObjectType::COMMAND_BUFFER {
            self.has_command_buffer_names.store(true, Ordering::Release);
        }
        self.write(|tables| {
            let object = tables.objects.entry((kind, handle)).or_default();
            object.name = name;
            if object.name.is_empty() && object.modules.is_empty() {
                tables.objects.remove(&(kind, handle));
            }
        });
    }

    /// The name of an object.
    pub fn name(&self, kind: ObjectType, handle: u64) -> Option<String> {
        self.read(|tables| tables.objects.get(&(kind, handle)).map(|object| object.name.clone()))
            .filter(|name| !name.is_empty())
    }

    /// Forgets the names of command buffers: their handles belong to new ones. One atomic load if none ever had a name.
    pub fn forget_command_buffer_names(&self, handles: impl IntoIterator<Item = u64>) {
        if self.has_command_buffer_names.load(Ordering::Acquire) {
            self.write(|tables| {
                for handle in handles {
                    tables.objects.remove(&(ObjectType::COMMAND_BUFFER, handle));
                }
            });
        }
    }

    /// Adds a new object and the modules that it is created from.
    pub fn add(&self, kind: ObjectType, handle: u64, modules: Vec<impl Into<ModuleUse>>) {
        let mut modules: Vec<ModuleUse> = modules.into_iter().map(Into::into).collect();
        if modules.is_empty() && !self.has_modules() {
            return;
        }
        modules.sort_by_key(|used| used.module.code());
        modules.dedup_by(|a, b| a.module.code() == b.module.code() && a.stage == b.stage);
        if !modules.is_empty() {
            self.has_modules.store(true, Ordering::Release);
        }
        self.write(|tables| {
            for used in &modules {
                tables.reportable(&used.module).uses += 1;
            }
            let old = match modules.is_empty() {
                true => tables.objects.remove(&(kind, handle)),
                false => tables.objects.insert(
                    (kind, handle),
                    Object {
                        name: String::new(),
                        modules,
                    },
                ),
            };
            if let Some(old) = old {
                tables.release(&old);
            }
        });
    }

    /// Forgets an object that is about to be destroyed. `has_unreported_aborts`: its work may have aborts that no report
    /// covers yet.
    pub fn remove(&self, kind: ObjectType, handle: u64, has_unreported_aborts: bool) {
        self.write(|tables| {
            let Some(object) = tables.objects.remove(&(kind, handle)) else {
                return;
            };
            if kind == ObjectType::SHADER_MODULE && !object.name.is_empty() {
                for used in &object.modules {
                    tables.reportable(&used.module).name.clone_from(&object.name);
                }
            }
            // A shader module runs only as a part of pipelines.
            if has_unreported_aborts && kind != ObjectType::SHADER_MODULE && !object.modules.is_empty() {
                tables.destroyed.push(((kind, handle), object));
            } else {
                tables.release(&object);
            }
        });
    }

    /// Number of destroyed objects that are kept for a report.
    pub fn destroyed(&self) -> usize {
        self.read(|tables| tables.destroyed.len())
    }

    /// Forgets the first `count` of the destroyed objects: a report that was begun after their destruction is complete.
    pub fn forget_destroyed(&self, count: usize) {
        if count > 0 {
            self.write(|tables| {
                let forgotten: Vec<_> = tables.destroyed.drain(..count.min(tables.destroyed.len())).collect();
                forgotten.iter().for_each(|(_, object)| tables.release(object));
            });
        }
    }

    /// Keeps modules as long as the device, since objects can be created from them without the layer's knowledge.
    pub fn export(&self, modules: Vec<impl Into<ModuleUse>>) {
        if !modules.is_empty() {
            self.has_modules.store(true, Ordering::Release);
            self.write(|tables| {
                for ModuleUse { module, stage, .. } in modules.into_iter().map(Into::into) {
                    let exported = tables.reportable(&module).exported.get_or_insert_default();
                    exported.extend(stage.filter(|stage| !exported.contains(stage)));
                }
            });
        }
    }

    /// The module of a shader module.
    pub fn module_of(&self, handle: vk::ShaderModule) -> Option<Arc<Module>> {
        let modules = self.modules_of(ObjectType::SHADER_MODULE, handle.as_raw());
        modules.into_iter().next_back().map(|used| used.module)
    }

    /// The modules that an object was created from, ordered by the hash of their code.
    pub fn modules_of(&self, kind: ObjectType, handle: u64) -> Vec<ModuleUse> {
        if !self.has_modules() {
            return Vec::new();
        }
        self.read(|tables| {
            let object = tables.objects.get(&(kind, handle));
            object.map_or_else(Vec::new, |object| object.modules.clone())
        })
    }

    /// All modules that can be reported, ordered by the hash of their code.
    pub fn all(&self) -> Vec<Arc<Module>> {
        let mut all: Vec<_> = self.read(|tables| tables.modules.values().map(|r| Arc::clone(&r.module)).collect());
        all.sort_by_key(|module| module.code());
        all
    }

    /// The module with this code.
    pub fn find(&self, code: CodeHash) -> Option<Arc<Module>> {
        self.read(|tables| tables.modules.get(&code).map(|r| Arc::clone(&r.module)))
    }

    /// The site table of the code that may write compact records with this hash.
    pub fn find_sites(&self, hash: ShortHash) -> Option<Arc<SiteTable>> {
        self.read(|tables| {
            let code = tables.compact.get(&hash)?;
            tables.modules.get(code).map(|r| Arc::clone(&r.module.sites))
        })
    }

    /// Whether code may write compact records: it is the first with its short hash.
    pub fn claim_compact(&self, code: CodeHash) -> bool {
        self.write(|tables| *tables.compact.entry(code.into()).or_insert(code) == code)
    }

    /// The name of an application's module: that of the shader module with the lowest handle, or of one that is destroyed.
    /// O(objects).
    pub fn module_name(&self, hash: ModuleHash) -> Option<String> {
        self.read(|tables| {
            let objects = tables.objects.iter();
            let named = objects.filter(|((kind, _), object)| {
                *kind == ObjectType::SHADER_MODULE && !object.name.is_empty() && object.is_of(hash)
            });
            let lowest = named.min_by_key(|((_, handle), _)| *handle);
            let destroyed = tables.modules.values().filter(|r| r.module.sites.module_hash == hash);
            let name = lowest.map(|(_, object)| &object.name);
            let name = name.or_else(|| destroyed.map(|r| &r.name).find(|name| !name.is_empty()))?;
            Some(name.clone())
        })
    }

    /// The stages of pipelines and shader objects that run this code, those of destroyed ones and of binaries included.
    /// O(objects).
    pub fn stages(&self, code: CodeHash) -> Vec<PipelineStage> {
        self.read(|tables| {
            let mut stages = Vec::new();
            for (number, (_, object)) in (0..).zip(tables.all_objects()) {
                let linked = object.uses_of(code).filter(|used| !used.is_in_library);
                stages.extend(
                    linked
                        .filter_map(|used| used.stage.as_ref())
                        .map(|stage| PipelineStage {
                            object: Some(number),
                            name: object.name.clone(),
                            ..stage.clone()
                        }),
                );
            }
            let module = tables.modules.get(&code);
            let exported = module.and_then(|reportable| reportable.exported.as_ref());
            stages.extend(exported.into_iter().flatten().cloned());
            stages
        })
    }
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
