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
use crate::device::specialization::{specialization, without_constants};
use crate::device::state::{AbortState, Device, EditStorage, Module, identifiers};
use crate::loader::chain::{self, ChainCopy, Edit};
use ash::vk::{self, Handle, TaggedStructure};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::slice;
use std::sync::Arc;

pub(super) type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// The words of a specialised module, and the module.
type Specialized = (Vec<u32>, Arc<Module>);

/// Edits the create-infos of one command.
pub struct Editor<'a> {
    device: &'a Device,
    state: &'a AbortState,
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
    pub(super) unsafe fn stage(&mut self, stage: &mut Stage, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        if self.has_binaries {
            return Ok(());
        }
        let first = modules.len();
        // SAFETY: the stage is valid (the caller's contract).
        let entry = unsafe {
            self.rewrite_stage(stage, modules)?;
            (!stage.p_name.is_null()).then(|| CStr::from_ptr(stage.p_name))
        };
        let (device, state) = (self.device, self.state);
        let mut added = modules.iter().skip(first);
        added.try_for_each(|module| device.check_stage(state, stage.stage, entry.unwrap_or_default(), module))
    }

    /// # Safety
    /// As [`Self::stage`].
    unsafe fn rewrite_stage(&mut self, stage: &mut Stage, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            if stage.module != vk::ShaderModule::null() {
                let Some(module) = self.state.objects.module_of(stage.module) else {
                    return Ok(());
                };
                modules.push(Arc::clone(&module));
                return self.specialize(stage, &module, modules);
            }
            let Some(chained) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) else {
                return self.identified(stage, modules);
            };
            let words = words_of(chained.p_code, chained.code_size);
            let data = specialization(stage.p_specialization_info);
            match self.device.rewrite(self.state, &words, data, self.state.constants())? {
                Rewritten::Unchanged => Ok(()),
                Rewritten::Native { module } => {
                    modules.push(module);
                    Ok(())
                }
                Rewritten::Changed { words, module } => {
                    modules.push(Arc::clone(&module));
                    self.remove_constants(stage, &module);
                    self.replace_chained(stage, chained, words, &module)
                }
            }
        }
    }

    /// Rewrites a module again if the stage specialises its constant data or the length of it.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn specialize(
        &mut self,
        stage: &mut Stage,
        module: &Module,
        modules: &mut Vec<Arc<Module>>,
    ) -> Result<(), vk::Result> {
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            if let Some((words, module)) = self.specialized(stage, module)? {
                modules.push(Arc::clone(&module));
                stage.module = self.create_module(&vk::ShaderModuleCreateInfo::default().code(&words), &module)?;
                self.remove_constants(stage, &module);
            }
        }
        Ok(())
    }

    /// A module whose constant data the stage specialises, which is a module of its own in reports, and its words. None
    /// if the stage does not.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn specialized(&self, stage: &Stage, module: &Module) -> Result<Option<Specialized>, vk::Result> {
        let (true, Some(original)) = (module.depends_on(|_| true), &module.original) else {
            return Ok(None);
        };
        // SAFETY: the stage is valid (the caller's contract).
        let data = unsafe { specialization(stage.p_specialization_info) };
        if !module.depends_on(|id| data.contains_key(id)) {
            return Ok(None);
        }
        Ok(
            match self
                .device
                .rewrite(self.state, original, data, self.state.constants())?
            {
                Rewritten::Changed { words, module } => Some((words, module)),
                _ => None,
            },
        )
    }

    /// Replaces an identifier of the layer by the driver's identifier of the words that the stage runs.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn identified(&mut self, stage: &mut Stage, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        type Chained = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'static>;
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            let Some(chained) = chain::find::<Chained>(stage.p_next) else {
                return Ok(());
            };
            let Some(hash) = identifiers::module_of(elements(chained.p_identifier, chained.identifier_size)) else {
                return Ok(());
            };
            let Some(module) = self.state.objects.find(hash) else {
                return Ok(());
            };
            let specialized = self.specialized(stage, &module)?;
            let identifier = match &specialized {
                Some((words, _)) => self.identifier(words),
                None => self.state.identifiers.of_driver(hash),
            };
            let Some(identifier) = identifier else {
                return Ok(());
            };
            modules.push(module);
            if let Some((_, module)) = specialized {
                self.remove_constants(stage, &module);
                modules.push(module);
            }
            let size = identifier.len() as u32;
            let bytes = self.storage.keep(identifier);
            self.change_chained(&mut stage.p_next, |node: &mut Chained| {
                node.identifier_size = size;
                node.p_identifier = bytes;
            });
            Ok(())
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

    /// Removes the constants that the rewritten module no longer has from a stage's specialization.
    ///
    /// # Safety
    /// As [`Self::stage`].
    unsafe fn remove_constants(&mut self, stage: &mut Stage, module: &Module) {
        let info = stage.p_specialization_info;
        // SAFETY: the stage is valid (the caller's contract).
        if let Some(info) = unsafe { without_constants(info, &module.data_spec_ids, &mut self.storage) } {
            stage.p_specialization_info = info;
            self.changed = true;
        }
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

    /// Edits a copy of an array of stages, and returns where the copy is kept.
    ///
    /// # Safety
    /// `stages` must be null or have `count` elements, which are valid until the driver has read them.
    pub(super) unsafe fn stages(
        &mut self,
        stages: *const Stage,
        count: u32,
        modules: &mut Vec<Arc<Module>>,
    ) -> Result<*const Stage, vk::Result> {
        if stages.is_null() || count == 0 {
            return Ok(stages);
        }
        // SAFETY: an array of `count` elements (the caller's contract).
        let mut copies = unsafe { slice::from_raw_parts(stages, count as usize) }.to_vec();
        for copy in &mut copies {
            // SAFETY: the stage is valid (the caller's contract).
            unsafe { self.stage(copy, modules) }?;
        }
        Ok(self.storage.keep(copies))
    }

    /// Adds the modules of the libraries that a pipeline is linked from to `modules`.
    ///
    /// # Safety
    /// `info` must be valid.
    pub(super) unsafe fn libraries(
        &self,
        info: Option<&vk::PipelineLibraryCreateInfoKHR<'_>>,
        modules: &mut Vec<Arc<Module>>,
    ) {
        let Some(info) = info else { return };
        // SAFETY: an array of that many elements (the caller's contract).
        for library in unsafe { elements(info.p_libraries, info.library_count) } {
            modules.extend(
                self.state
                    .objects
                    .modules_of(vk::ObjectType::PIPELINE, library.as_raw()),
            );
        }
    }
}
