//! Edits the stages of pipelines, which can have modules that only pipeline creation can rewrite:
//!
//! * modules whose constant data, or only its length, a stage specialises: the module is rewritten with both;
//! * modules that are chained into a stage instead of being objects;
//! * the layer's identifiers of modules, which the driver does not know.
//!
//! Shaders of a pipeline with binaries "are ignored" (`VkPipelineBinaryInfoKHR`), so they are not rewritten.

use super::MISSING;
use super::queue::elements;
use crate::device::shader::{Rewritten, words_of};
use crate::device::specialization::{for_rewritten, specialization, values};
use crate::device::state::{AbortState, Device, EditStorage, Module, ModuleUse, identifiers};
use crate::loader::chain::{self, ChainCopy, Edit};
use ash::vk::{self, TaggedStructure};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

pub(super) type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// Specialization data by `SpecId`.
type Data = BTreeMap<u32, Vec<u8>>;

/// The words of a specialised module, and the module.
type Specialized = (Vec<u32>, Arc<Module>);

/// Edits the create-infos of one command.
pub struct Editor<'a> {
    device: &'a Device,
    pub(super) state: &'a AbortState,
    /// The data that edited create-infos point to.
    pub storage: EditStorage,
    /// Whether the next layer needs the edited create-infos. If not, the application's own will do.
    pub changed: bool,
    /// Binaries replace the stages of the create-info that is being edited.
    pub(super) has_binaries: bool,
}

impl<'a> Editor<'a> {
    /// An editor that has changed nothing.
    pub fn new(device: &'a Device, state: &'a AbortState) -> Self {
        Self {
            device,
            state,
            storage: EditStorage::default(),
            changed: false,
            has_binaries: false,
        }
    }

    /// Edits a copy of a stage, and adds the module that it runs to `modules`.
    ///
    /// # Safety
    /// The stage must be valid until the driver has read it.
    pub(super) unsafe fn stage(&mut self, stage: &mut Stage, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        if self.has_binaries {
            return Ok(());
        }
        // SAFETY: the stage is valid (the caller's contract).
        let (data, name, module) = unsafe {
            let Some((data, module)) = self.rewrite_stage(stage, modules)? else {
                return Ok(());
            };
            let name = (!stage.p_name.is_null()).then(|| CStr::from_ptr(stage.p_name));
            (data, name.unwrap_or_default(), module)
        };
        self.device.check_stage(self.state, stage.stage, name, &module)?;
        let values = values(&module.sites.constants, &data);
        let info = stage.p_specialization_info;
        // SAFETY: the stage is valid (the caller's contract).
        if let Some(info) = unsafe { for_rewritten(info, &module, values.key, &mut self.storage) } {
            stage.p_specialization_info = info;
            self.changed = true;
        }
        modules.push(ModuleUse::of_stage(module, stage.stage, name.to_bytes(), values));
        Ok(())
    }

    /// Makes the stage run the rewritten module. Returns that with the stage's specialization data, and adds the module that it
    /// was rewritten from, if there is one, to `modules`. None if the module has no aborts.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn rewrite_stage(
        &mut self,
        stage: &mut Stage,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<Option<(Data, Arc<Module>)>, vk::Result> {
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            if stage.module != vk::ShaderModule::null() {
                let Some(module) = self.state.objects.module_of(stage.module) else {
                    return Ok(None);
                };
                let data = specialization(stage.p_specialization_info);
                let Some((words, specialized)) = self.specialized(&data, &module)? else {
                    return Ok(Some((data, module)));
                };
                modules.push(module.into());
                let info = vk::ShaderModuleCreateInfo::default().code(&words);
                stage.module = self.create_module(&info, &specialized)?;
                return Ok(Some((data, specialized)));
            }
            let Some(chained) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) else {
                return self.identified(stage, modules);
            };
            let words = words_of(chained.p_code, chained.code_size);
            let data = specialization(stage.p_specialization_info);
            let constants = self.state.constants();
            match self.device.rewrite(self.state, &words, data.clone(), constants)? {
                Rewritten::Unchanged => Ok(None),
                Rewritten::Native { module } => Ok(Some((data, module))),
                Rewritten::Changed { words, module } => {
                    self.replace_chained(stage, chained, words, &module)?;
                    Ok(Some((data, module)))
                }
            }
        }
    }

    /// A module whose constant data, or the length of it, specialization data changes, and its words. It is a module of its own
    /// in reports. None if the data does not.
    fn specialized(&self, data: &Data, module: &Module) -> Result<Option<Specialized>, vk::Result> {
        let (true, Some(original)) = (module.depends_on(|id| data.contains_key(id)), &module.original) else {
            return Ok(None);
        };
        let constants = self.state.constants();
        Ok(
            match self.device.rewrite(self.state, original, data.clone(), constants)? {
                Rewritten::Changed { words, module } => Some((words, module)),
                _ => None,
            },
        )
    }

    /// Replaces an identifier of the layer by the driver's identifier of the words that the stage runs.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn identified(
        &mut self,
        stage: &mut Stage,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<Option<(Data, Arc<Module>)>, vk::Result> {
        type Chained = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'static>;
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            let Some(chained) = chain::find::<Chained>(stage.p_next) else {
                return Ok(None);
            };
            let Some(hash) = identifiers::module_of(elements(chained.p_identifier, chained.identifier_size)) else {
                return Ok(None);
            };
            let Some(module) = self.state.objects.find(hash) else {
                return Ok(None);
            };
            let data = specialization(stage.p_specialization_info);
            let specialized = self.specialized(&data, &module)?;
            let identifier = match &specialized {
                Some((words, _)) => self.identifier(words),
                None => self.state.identifiers.of_driver(hash),
            };
            let Some(identifier) = identifier else {
                return Ok(None);
            };
            let module = match specialized {
                None => module,
                Some((_, specialized)) => {
                    modules.push(module.into());
                    specialized
                }
            };
            let size = identifier.len() as u32;
            let bytes = self.storage.keep(identifier);
            self.change_chained(&mut stage.p_next, |node: &mut Chained| {
                node.identifier_size = size;
                node.p_identifier = bytes;
            });
            Ok(Some((data, module)))
        }
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
        *chain = copy.head();
        self.storage.keep(vec![copy]);
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
