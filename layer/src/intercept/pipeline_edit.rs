//! Edits the stages of pipelines, which can have modules that only pipeline creation can rewrite:
//!
//! * modules whose constant data, or only its length, a stage specialises: the module is rewritten with both;
//! * modules that are chained into a stage instead of being objects;
//! * the layer's identifiers of modules, which the driver does not know.
//!
//! Shaders of a pipeline with binaries "are ignored" (`VkPipelineBinaryInfoKHR`), so they are not rewritten.

use super::MISSING;
use crate::device::shader::{Rewritten, words_of};
use crate::device::specialization::{for_rewritten, specialization, values};
use crate::device::state::{AbortState, Device, EditStorage, Module, ModuleUse, identifiers};
use crate::loader::chain::{self, ChainCopy, Edit};
use crate::loader::ffi::{elements, string};
use ash::vk::{self, TaggedStructure};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

pub(super) type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// Specialization data by `SpecId`.
type Data = BTreeMap<u32, Vec<u8>>;

/// The words of a specialised module, and the module.
type Specialized = (Vec<u32>, Arc<Module>);

/// Edits the create-infos of one command.
pub struct Editor<'a> {
    pub(super) device: &'a Device,
    pub(super) state: &'a AbortState,
    /// The data that edited create-infos point to.
    pub storage: EditStorage,
    /// Whether an edited create-info differs from the application's. If not, the next layer gets the application's.
    pub changed: bool,
}

/// The code that a stage runs, if it may contain aborts.
enum StageCode<'a> {
    /// A module object.
    Object(Arc<Module>),
    /// A module that is chained into the stage.
    Chained(&'a vk::ShaderModuleCreateInfo<'a>),
    /// A module by the layer's identifier.
    Identified(Arc<Module>),
}

impl<'a> Editor<'a> {
    /// An editor that has changed nothing.
    pub fn new(device: &'a Device, state: &'a AbortState) -> Self {
        Self {
            device,
            state,
            storage: EditStorage::default(),
            changed: false,
        }
    }

    /// Edits a copy of a stage, and adds the module that it runs to `modules`.
    ///
    /// # Safety
    /// The stage must be valid until the driver has read it.
    pub(super) unsafe fn stage(&mut self, stage: &mut Stage, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the stage is valid until the driver has read it (the caller's contract).
        unsafe {
            let Some(code) = self.code_of(stage) else { return Ok(()) };
            let data = specialization(stage.p_specialization_info);
            let Some(module) = self.replace_code(stage, code, &data, modules)? else {
                return Ok(());
            };
            let specialization = &mut stage.p_specialization_info;
            let used = self.specialize((stage.stage, stage.p_name), module, &data, specialization)?;
            modules.push(used);
        }
        Ok(())
    }

    /// # Safety
    /// As [`Self::stage`].
    unsafe fn code_of<'s>(&self, stage: &Stage) -> Option<StageCode<'s>> {
        let objects = &self.state.objects;
        if stage.module != vk::ShaderModule::null() {
            return objects.module_of(stage.module).map(StageCode::Object);
        }
        // SAFETY: the stage's chain is valid (the caller's contract).
        unsafe {
            if let Some(chained) = chain::find(stage.p_next) {
                return Some(StageCode::Chained(chained));
            }
            let chained = chain::find::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>>(stage.p_next)?;
            let hash = identifiers::module_of(elements(chained.p_identifier, chained.identifier_size))?;
            objects.find(hash).map(StageCode::Identified)
        }
    }

    /// Makes the stage run the rewritten module, and returns that. If it is rewritten once more because of its specialization,
    /// adds the module that it replaces to `modules`. None if the code has no aborts, or if the driver has no identifier of it.
    ///
    /// # Safety
    /// As [`Self::stage`], whose code must be `code`.
    unsafe fn replace_code(
        &mut self,
        stage: &mut Stage,
        code: StageCode<'_>,
        data: &Data,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<Option<Arc<Module>>, vk::Result> {
        let (module, specialized) = match code {
            StageCode::Chained(chained) => {
                // SAFETY: the chained structure and its code are valid (the caller's contract).
                let words = unsafe { words_of(chained.p_code, chained.code_size) };
                return Ok(match self.rewrite(&words, data)? {
                    Rewritten::Unchanged => None,
                    Rewritten::Native { module } => Some(module),
                    Rewritten::Changed { words, module } => {
                        // SAFETY: the stage's chain is valid (the caller's contract).
                        unsafe { self.replace_chained(stage, chained, words, &module) }?;
                        Some(module)
                    }
                });
            }
            StageCode::Object(module) => {
                let specialized = self.specialized(data, &module)?;
                if let Some((words, specialized)) = &specialized {
                    let info = vk::ShaderModuleCreateInfo::default().code(words);
                    stage.module = self.create_module(&info, specialized)?;
                }
                (module, specialized)
            }
            StageCode::Identified(module) => {
                let specialized = self.specialized(data, &module)?;
                let identifier = match &specialized {
                    Some((words, _)) => self.identifier(words),
                    None => self.state.identifiers.of_driver(module.sites.module_hash),
                };
                let Some(identifier) = identifier else { return Ok(None) };
                let (size, bytes) = (identifier.len() as u32, self.storage.keep(identifier));
                let replace = |node: &mut vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>| {
                    node.identifier_size = size;
                    node.p_identifier = bytes;
                };
                // SAFETY: the stage's chain is valid (the caller's contract).
                unsafe { self.change_chained(&mut stage.p_next, replace) };
                (module, specialized)
            }
        };
        Ok(Some(match specialized {
            Some((_, specialized)) => {
                modules.push(module.into());
                specialized
            }
            None => module,
        }))
    }

    /// Edits the specialization of a stage or shader object, given by its stage and its entry point, that runs `module`.
    ///
    /// # Errors
    /// The stage reaches an abort, whose message it cannot write.
    ///
    /// # Safety
    /// The name must be null or null-terminated, and `info` null or valid until the driver has read it.
    pub(super) unsafe fn specialize(
        &mut self,
        (stage, name): (vk::ShaderStageFlags, *const c_char),
        module: Arc<Module>,
        data: &Data,
        info: &mut *const vk::SpecializationInfo<'static>,
    ) -> Result<ModuleUse, vk::Result> {
        // SAFETY: null or null-terminated (the caller's contract).
        let name = unsafe { string(name) }.unwrap_or_default();
        self.device.check_stage(self.state, stage, name, &module)?;
        let values = values(&module.sites.constants, data);
        // SAFETY: null or valid (the caller's contract).
        if let Some(edited) = unsafe { for_rewritten(*info, &module, values.key, &mut self.storage) } {
            *info = edited;
            self.changed = true;
        }
        Ok(ModuleUse::of_stage(module, stage, name.to_bytes(), values))
    }

    fn rewrite(&self, words: &[u32], data: &Data) -> Result<Rewritten, vk::Result> {
        let constants = self.state.constants();
        self.device.rewrite(self.state, words, data.clone(), constants)
    }

    /// The words and the module of another rewrite, if the specialization data changes constant data, or the length of it. It is
    /// a module of its own in reports.
    fn specialized(&self, data: &Data, module: &Module) -> Result<Option<Specialized>, vk::Result> {
        let (true, Some(original)) = (module.depends_on(|id| data.contains_key(id)), &module.original) else {
            return Ok(None);
        };
        Ok(match self.rewrite(original, data)? {
            Rewritten::Changed { words, module } => Some((words, module)),
            _ => None,
        })
    }

    /// The driver's identifier of a module of these words.
    fn identifier(&self, words: &[u32]) -> Option<Vec<u8>> {
        let get = self.device.next.vkGetShaderModuleCreateInfoIdentifierEXT?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        let mut identifier = vk::ShaderModuleIdentifierEXT::default();
        // SAFETY: the device is live, and the structures are valid.
        unsafe { get(self.device.handle, &info, &mut identifier) };
        Some(identifiers::bytes(&identifier).to_vec())
    }

    /// Replaces the words of a chained module.
    ///
    /// # Safety
    /// As [`Self::stage`]; `chained` must be in the stage's chain.
    unsafe fn replace_chained(
        &mut self,
        stage: &mut Stage,
        chained: &vk::ShaderModuleCreateInfo<'_>,
        words: Vec<u32>,
        module: &Arc<Module>,
    ) -> Result<(), vk::Result> {
        let (size, code) = (size_of_val(words.as_slice()), self.storage.keep(words));
        // SAFETY: the chain is valid (the caller's contract).
        let is_changed = unsafe {
            self.change_chained(&mut stage.p_next, |node: &mut vk::ShaderModuleCreateInfo<'_>| {
                node.code_size = size;
                node.p_code = code;
            })
        };
        if !is_changed {
            // A structure of unknown size precedes it. A module object takes precedence over a chained module.
            let mut info = *chained;
            (info.code_size, info.p_code) = (size, code);
            stage.module = self.create_module(&info, module)?;
        }
        Ok(())
    }

    /// Changes a copy of the structure `T` in a chain. False if the chain has none, or a structure of unknown size precedes it.
    ///
    /// # Safety
    /// The chain must be valid until the driver has read it.
    pub unsafe fn change_chained<T: TaggedStructure>(
        &mut self,
        chain: &mut *const c_void,
        change: impl FnOnce(&mut T),
    ) -> bool {
        let edit = |s_type| {
            if s_type == T::STRUCTURE_TYPE {
                Edit::Change
            } else {
                Edit::Keep
            }
        };
        // SAFETY: the chain is valid (the caller's contract).
        let mut copy = unsafe { ChainCopy::new(*chain, edit) };
        let Some(node) = copy.copied::<T>() else {
            return false;
        };
        change(node);
        *chain = self.storage.keep_chain(copy);
        self.changed = true;
        true
    }

    /// Creates the object of a rewritten module for this command only.
    fn create_module(
        &mut self,
        info: &vk::ShaderModuleCreateInfo<'_>,
        rewritten: &Arc<Module>,
    ) -> Result<vk::ShaderModule, vk::Result> {
        let next = &self.device.next;
        let (Some(create), Some(destroy)) = (next.vkCreateShaderModule, next.vkDestroyShaderModule) else {
            return Err(MISSING);
        };
        let mut module = vk::ShaderModule::null();
        // SAFETY: the device is live, and the create-info valid.
        let result = unsafe { create(self.device.handle, info, ptr::null(), &mut module) };
        self.device.log_refusal("vkCreateShaderModule", result, [rewritten]);
        result.result()?;
        self.storage.keep_module(self.device.handle, destroy, module);
        self.changed = true;
        Ok(module)
    }
}
