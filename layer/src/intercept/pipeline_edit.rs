//! Edits the create-infos of pipelines, whose stages can have modules that only pipeline creation can rewrite:
//!
//! * modules whose constant data, or only its length, a stage specialises: the module is rewritten with both;
//! * modules that are chained into a stage instead of being objects.

use super::MISSING;
use super::shader_module::with_words;
use crate::device::shader::{Rewritten, specialization, without_constants, words_of};
use crate::device::state::{AbortState, Device, EditStorage, Module};
use crate::loader::chain::{self, ChainCopy, Edit};
use ash::vk::{self, Handle, TaggedStructure};
use std::ffi::c_void;
use std::ptr;
use std::slice;
use std::sync::Arc;

type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// The create-info of a kind of pipeline.
pub trait EditCreateInfo: Copy + 'static {
    /// Edits the create-info, a copy of the application's, and adds the modules that its pipeline runs to `modules`.
    ///
    /// # Errors
    /// A module cannot be rewritten or created.
    ///
    /// # Safety
    /// The create-info must be valid until the driver has read it.
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result>;
}

impl EditCreateInfo for vk::GraphicsPipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe {
            if has_stages(self) {
                self.p_stages = editor.stages(self.p_stages, self.stage_count, modules)?;
            }
            editor.libraries(chain::find(self.p_next), modules);
        }
        Ok(())
    }
}

impl EditCreateInfo for vk::ComputePipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { editor.stage(&mut self.stage, modules) }
    }
}

impl EditCreateInfo for vk::RayTracingPipelineCreateInfoKHR<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe {
            self.p_stages = editor.stages(self.p_stages, self.stage_count, modules)?;
            editor.libraries(self.p_library_info.as_ref(), modules);
        }
        Ok(())
    }
}

impl EditCreateInfo for vk::RayTracingPipelineCreateInfoNV<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        self.p_stages = unsafe { editor.stages(self.p_stages, self.stage_count, modules) }?;
        Ok(())
    }
}

/// Edits the create-infos of one command.
pub struct Editor<'a> {
    device: &'a Device,
    state: &'a AbortState,
    /// The data that edited create-infos point to.
    pub storage: EditStorage,
    /// Whether the next layer needs the edited create-infos. If not, the application's own will do.
    pub changed: bool,
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
    unsafe fn stage(&mut self, stage: &mut Stage, modules: &mut Vec<Arc<Module>>) -> Result<(), vk::Result> {
        // SAFETY: the stage is valid (the caller's contract).
        unsafe {
            if stage.module != vk::ShaderModule::null() {
                let Some(module) = self.state.objects.module_of(stage.module) else {
                    return Ok(());
                };
                modules.push(Arc::clone(&module));
                return self.specialize(stage, &module);
            }
            let Some(chained) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) else {
                // A module identifier, or nothing: there is no code to rewrite.
                return Ok(());
            };
            let words = words_of(chained.p_code, chained.code_size);
            let data = specialization(stage.p_specialization_info);
            match self.device.rewrite(self.state, &words, data)? {
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
    unsafe fn specialize(&mut self, stage: &mut Stage, module: &Arc<Module>) -> Result<(), vk::Result> {
        let (true, Some(original)) = (module.depends_on(|_| true), &module.original) else {
            return Ok(());
        };
        // SAFETY: the stage is valid (the caller's contract).
        let data = unsafe { specialization(stage.p_specialization_info) };
        if !module.depends_on(|id| data.contains_key(id)) {
            return Ok(());
        }
        if let Rewritten::Changed { words, module } = self.device.rewrite(self.state, original, data)? {
            stage.module = self.create_module(&vk::ShaderModuleCreateInfo::default().code(&words), &module)?;
            // SAFETY: as above.
            unsafe { self.remove_constants(stage, &module) };
        }
        Ok(())
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
        let edit = |s_type| match s_type {
            vk::ShaderModuleCreateInfo::STRUCTURE_TYPE => Edit::Change,
            _ => Edit::Keep,
        };
        // SAFETY: the chain is valid (the caller's contract).
        let mut copy = unsafe { ChainCopy::new(stage.p_next, edit) };
        let Some(node) = copy.copied::<vk::ShaderModuleCreateInfo<'_>>() else {
            // A structure of unknown size precedes it. A module object takes precedence over a chained module.
            stage.module = self.create_module(&with_words(chained, &words), module)?;
            return Ok(());
        };
        node.code_size = size_of_val(words.as_slice());
        node.p_code = self.storage.keep(words);
        stage.p_next = copy.head();
        self.storage.keep(vec![copy]);
        self.changed = true;
        Ok(())
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
    unsafe fn stages(
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
    unsafe fn libraries(&self, info: Option<&vk::PipelineLibraryCreateInfoKHR<'_>>, modules: &mut Vec<Arc<Module>>) {
        let Some(info) = info.filter(|info| !info.p_libraries.is_null()) else {
            return;
        };
        // SAFETY: an array of that many elements (the caller's contract).
        for library in unsafe { slice::from_raw_parts(info.p_libraries, info.library_count as usize) } {
            modules.extend(
                self.state
                    .objects
                    .modules_of(vk::ObjectType::PIPELINE, library.as_raw()),
            );
        }
    }
}

/// Whether a graphics pipeline has shader stages. A library of other state may have a stale pointer to them.
///
/// # Safety
/// `info` must be valid.
unsafe fn has_stages(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: the chain is valid (the caller's contract).
    let library = unsafe { chain::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next) };
    library.is_none_or(|library| {
        library
            .flags
            .intersects(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER)
    })
}

/// Edits a copy of a single create-info, and returns where it is kept. Null if the application's own will do. Adds the
/// modules that its pipeline runs to `modules`.
///
/// # Errors
/// A module cannot be rewritten or created.
///
/// # Safety
/// `info` must be a valid `I` until the driver has read it.
pub unsafe fn edit_one<I: EditCreateInfo>(
    editor: &mut Editor<'_>,
    info: *const c_void,
    modules: &mut Vec<Arc<Module>>,
) -> Result<*const I, vk::Result> {
    // SAFETY: a valid `I` (the caller's contract).
    let mut copy = unsafe { *info.cast::<I>() };
    // SAFETY: as above.
    unsafe { copy.edit(editor, modules) }?;
    Ok(match editor.changed {
        true => editor.storage.keep(vec![copy]),
        false => ptr::null(),
    })
}
