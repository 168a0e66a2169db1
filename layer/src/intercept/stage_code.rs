//! The code of pipeline stages, which can be modules that only pipeline creation can rewrite:
//!
//! * modules whose constant data, or only its length, a stage specialises: the module is rewritten with both;
//! * modules that are chained into a stage instead of being objects;
//! * the layer's identifiers of modules, which the driver does not know;
//! * modules with checks that the driver has refused: they are rewritten without.
//!
//! Shaders of a pipeline with binaries "are ignored" (`VkPipelineBinaryInfoKHR`), so they are not rewritten.

use super::pipeline_edit::{Data, Editor, Stage};
use crate::device::modules::rewrite::{Rewritten, Source, words_of};
use crate::device::state::{Module, ModuleUse, Opaque, identifiers};
use crate::loader::chain;
use crate::loader::ffi::elements;
use ash::vk;
use std::sync::Arc;

/// Words in place of a module's, and their module, unless they have no aborts.
type Replacement = (Vec<u32>, Option<Arc<Module>>);

/// The code that a stage runs, if it may contain aborts.
enum StageCode<'a> {
    /// A module object.
    Object(Arc<Module>),
    /// A module that is chained into the stage.
    Chained(&'a vk::ShaderModuleCreateInfo<'a>),
    /// A module by the layer's identifier, and the driver's identifier of it.
    Identified(Arc<Module>, Vec<u8>),
}

impl Editor<'_> {
    /// Makes the stage run the rewritten module, and returns that. If it is rewritten once more for this stage, adds the module that
    /// it replaces to `modules`, since reports name that. None if the code has no aborts, or if the driver has no identifier of it.
    ///
    /// # Safety
    /// As [`Self::stage`].
    pub(super) unsafe fn replace_code(
        &mut self,
        stage: &mut Stage,
        data: &Data,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<Option<Arc<Module>>, vk::Result> {
        // SAFETY: the stage's chain is valid (the caller's contract).
        let Some(code) = (unsafe { self.code_of(stage) }) else {
            return Ok(None);
        };
        let (module, replacement) = match code {
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
                let replacement = self.replacement(data, &module)?;
                if let Some((words, new)) = &replacement {
                    let info = vk::ShaderModuleCreateInfo::default().code(words);
                    stage.module = self.create_module(&info, new.as_ref().unwrap_or(&module))?;
                }
                (module, replacement)
            }
            StageCode::Identified(module, identifier) => {
                let replacement = self.replacement(data, &module)?;
                let identifier = match &replacement {
                    Some((words, _)) => self.identifier(words),
                    None => Some(identifier),
                };
                let Some(identifier) = identifier else { return Ok(None) };
                let (size, bytes) = (identifier.len() as u32, self.storage.keep(identifier));
                let replace = |node: &mut vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>| {
                    node.identifier_size = size;
                    node.p_identifier = bytes;
                };
                // SAFETY: the stage's chain is valid (the caller's contract).
                unsafe { self.change_chained(&mut stage.p_next, replace) };
                (module, replacement)
            }
        };
        Ok(match replacement {
            Some((_, new)) => {
                modules.push(module.into());
                new
            }
            None => Some(module),
        })
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
            let hash = identifiers::module_of(elements(chained.p_identifier, chained.identifier_size));
            let of_driver = hash.and_then(|hash| self.state.identifiers.of_driver(hash));
            let code =
                of_driver.and_then(|(code, identifier)| Some(StageCode::Identified(objects.find(code)?, identifier)));
            if code.is_none() && chained.identifier_size > 0 {
                self.device.log_opaque(self.state, Opaque::Identifier);
            }
            code
        }
    }

    fn rewrite(&self, words: &[u32], data: &Data) -> Result<Rewritten, vk::Result> {
        let source = Source {
            words,
            specialization: data.clone(),
            memory: self.state.constants(),
        };
        self.device.rewrite(self.state, source)
    }

    /// Whether a module object has checks that the driver has refused since.
    fn is_refused(&self, module: &Module) -> bool {
        module.has_additions() && self.device.runs_without_checks(module.sites.module_hash)
    }

    /// The result of another rewrite, without the checks of a refused module, or if the specialization data changes constant data or
    /// what the code depends on. A specialised module is one of its own in reports.
    fn replacement(&self, data: &Data, module: &Module) -> Result<Option<Replacement>, vk::Result> {
        let is_refused = self.is_refused(module);
        let (true, Some(original)) = (
            is_refused || module.depends_on(|id| data.contains_key(id)),
            &module.original,
        ) else {
            return Ok(None);
        };
        Ok(match self.rewrite(original, data)? {
            Rewritten::Changed { words, module } => Some((words, Some(module))),
            Rewritten::Native { module } => is_refused.then(|| (original.clone(), Some(module))),
            Rewritten::Unchanged => is_refused.then(|| (original.clone(), None)),
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
}
