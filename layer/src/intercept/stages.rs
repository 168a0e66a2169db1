//! The shader stages of pipelines that are created: modules that only pipeline creation can rewrite.
//!
//! Two kinds: modules whose constant data a stage specialises (data and length may change, so the module is rewritten
//! again with that data), and modules that are chained into a stage instead of being objects.

use super::MISSING;
use crate::device::shader::{Rewritten, Specialization, specialization, words_of};
use crate::device::state::{AbortState, Device, Module, Rewrites};
use crate::loader::chain::{self, ChainCopy, Edit};
use ash::vk::{self, Handle, TaggedStructure};
use std::ptr;
use std::slice;
use std::sync::Arc;
use vkabort_record::site::ModuleHash;

const CHAINED: vk::StructureType = vk::ShaderModuleCreateInfo::STRUCTURE_TYPE;

type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// One creation command.
pub struct Creation<'a> {
    device: &'a Device,
    state: &'a AbortState,
    /// What edited create-infos point to.
    pub kept: Rewrites,
    /// Something was edited: the application's own create-infos will not do.
    pub changed: bool,
}

/// What pipelines are created from.
pub trait CreateInfo: Copy + 'static {
    /// Edits a create-info in place (it is a copy) and says which modules its pipeline runs.
    ///
    /// # Safety
    /// The create-info must be valid.
    unsafe fn edit(&mut self, creation: &mut Creation<'_>, modules: &mut Vec<ModuleHash>) -> Result<(), vk::Result>;
}

impl CreateInfo for vk::GraphicsPipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, creation: &mut Creation<'_>, modules: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the create-info.
        unsafe {
            if has_stages(self) {
                self.p_stages = creation.stages(self.p_stages, self.stage_count, modules)?;
            }
            creation.libraries(self.p_next, modules);
        }
        Ok(())
    }
}

impl CreateInfo for vk::ComputePipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, creation: &mut Creation<'_>, modules: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the create-info.
        unsafe { creation.stage(&mut self.stage, modules) }
    }
}

impl CreateInfo for vk::RayTracingPipelineCreateInfoKHR<'static> {
    unsafe fn edit(&mut self, creation: &mut Creation<'_>, modules: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the create-info.
        unsafe {
            self.p_stages = creation.stages(self.p_stages, self.stage_count, modules)?;
            if let Some(libraries) = self.p_library_info.as_ref() {
                creation.library_list(libraries, modules);
            }
        }
        Ok(())
    }
}

impl CreateInfo for vk::RayTracingPipelineCreateInfoNV<'static> {
    unsafe fn edit(&mut self, creation: &mut Creation<'_>, modules: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the create-info.
        self.p_stages = unsafe { creation.stages(self.p_stages, self.stage_count, modules) }?;
        Ok(())
    }
}

impl<'a> Creation<'a> {
    /// Nothing is edited yet.
    pub fn new(device: &'a Device, state: &'a AbortState) -> Self {
        Self {
            device,
            state,
            kept: Rewrites::default(),
            changed: false,
        }
    }

    /// Edits a stage in place (it is a copy) and says which modules it runs.
    ///
    /// # Safety
    /// The stage must be valid.
    unsafe fn stage(&mut self, stage: &mut Stage, hashes: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the stage.
        unsafe {
            if stage.module != vk::ShaderModule::null() {
                let Some(module) = self.state.modules.bound(stage.module) else {
                    return Ok(());
                };
                hashes.push(module.sites.module_hash);
                return self.specialise(stage, &module);
            }
            let Some(inline) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next, CHAINED) else {
                // An identifier, or nothing at all: nothing to rewrite.
                return Ok(());
            };
            let words = words_of(inline.p_code, inline.code_size);
            let data = specialization(stage.p_specialization_info);
            match self.device.rewrite(self.state, &words, data)? {
                Rewritten::Unchanged => Ok(()),
                Rewritten::Known { module } => {
                    hashes.push(module.sites.module_hash);
                    Ok(())
                }
                Rewritten::Changed { words, module } => {
                    hashes.push(module.sites.module_hash);
                    self.take_data(stage, &module);
                    self.replace_inline(stage, inline, words)
                }
            }
        }
    }

    /// Rewrites a module once more if the stage specialises its constant data.
    ///
    /// # Safety
    /// The stage must be valid.
    unsafe fn specialise(&mut self, stage: &mut Stage, module: &Arc<Module>) -> Result<(), vk::Result> {
        let (false, Some(original)) = (module.data_spec_ids.is_empty(), &module.original) else {
            return Ok(());
        };
        // SAFETY: the caller vouches for the stage.
        let data = unsafe { specialization(stage.p_specialization_info) };
        // All of it goes along: the length of constant data may be another constant.
        if !module.data_spec_ids.iter().any(|id| data.contains_key(id)) {
            return Ok(());
        }
        match self.device.rewrite(self.state, original, data)? {
            Rewritten::Unchanged | Rewritten::Known { .. } => Ok(()),
            Rewritten::Changed { words, .. } => {
                let info = vk::ShaderModuleCreateInfo::default().code(&words);
                stage.module = self.temporary(&info)?;
                // SAFETY: as above.
                unsafe { self.take_data(stage, module) };
                Ok(())
            }
        }
    }

    /// Takes the constants that a rewrite has used up out of a stage's specialisation.
    ///
    /// # Safety
    /// The stage must be valid.
    unsafe fn take_data(&mut self, stage: &mut Stage, module: &Module) {
        // SAFETY: the caller vouches for the stage, which outlives what is kept.
        if let Some(left) = unsafe { Specialization::without(stage.p_specialization_info, &module.data_spec_ids) } {
            stage.p_specialization_info = left.info();
            self.kept.keep_infos(left);
            self.changed = true;
        }
    }

    /// Puts other words into a chained module.
    ///
    /// # Safety
    /// The stage must be valid and `inline` be in its chain.
    unsafe fn replace_inline(
        &mut self,
        stage: &mut Stage,
        inline: &vk::ShaderModuleCreateInfo<'_>,
        words: Vec<u32>,
    ) -> Result<(), vk::Result> {
        let edit = |s_type| if s_type == CHAINED { Edit::Change } else { Edit::Keep };
        // SAFETY: the caller vouches for the chain.
        match unsafe { ChainCopy::new(stage.p_next, edit) } {
            Ok(mut copy) => {
                let node = copy.copied::<vk::ShaderModuleCreateInfo<'_>>(CHAINED);
                if node.is_null() {
                    return Err(vk::Result::ERROR_UNKNOWN);
                }
                // SAFETY: the copy owns the node.
                unsafe {
                    (*node).code_size = size_of_val(words.as_slice());
                    (*node).p_code = words.as_ptr();
                }
                stage.p_next = copy.head();
                self.kept.words.push(words);
                self.kept.chains.push(copy);
                self.changed = true;
                Ok(())
            }
            // A structure of unknown size stands before it: a module object takes precedence over a chained one.
            Err(_) => {
                let info = super::shader_module::with_words(inline, &words);
                stage.module = self.temporary(&info)?;
                Ok(())
            }
        }
    }

    /// A module object for this creation only.
    fn temporary(&mut self, info: &vk::ShaderModuleCreateInfo<'_>) -> Result<vk::ShaderModule, vk::Result> {
        let next = &self.device.next;
        let (Some(create), Some(destroy)) = (next.vkCreateShaderModule, next.vkDestroyShaderModule) else {
            return Err(MISSING);
        };
        let mut module = vk::ShaderModule::null();
        // SAFETY: the device is valid, and the words live until the call returns.
        match unsafe { create(self.device.handle, info, ptr::null(), &mut module) } {
            vk::Result::SUCCESS => {
                self.kept.destroy = Some((self.device.handle, destroy));
                self.kept.modules.push(module);
                self.changed = true;
                Ok(module)
            }
            error => Err(error),
        }
    }

    /// Edits copies of an array of stages. The result points to the copies, which are kept.
    ///
    /// # Safety
    /// `stages` must be null or have `count` valid elements.
    unsafe fn stages(
        &mut self,
        stages: *const vk::PipelineShaderStageCreateInfo<'_>,
        count: u32,
        hashes: &mut Vec<ModuleHash>,
    ) -> Result<*const Stage, vk::Result> {
        let stages = stages.cast::<Stage>();
        if stages.is_null() || count == 0 {
            return Ok(stages);
        }
        // SAFETY: the caller vouches for the array.
        let mut copies = unsafe { slice::from_raw_parts(stages, count as usize) }.to_vec();
        for copy in &mut copies {
            // SAFETY: as above.
            unsafe { self.stage(copy, hashes) }?;
        }
        let edited = copies.as_ptr();
        self.kept.stages.push(copies);
        Ok(edited)
    }

    /// The modules of the libraries that a pipeline is linked from.
    ///
    /// # Safety
    /// `head` must be null or a valid chain.
    unsafe fn libraries(&self, head: *const std::ffi::c_void, hashes: &mut Vec<ModuleHash>) {
        // SAFETY: the caller vouches for the chain.
        unsafe {
            let info = chain::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(
                head,
                vk::PipelineLibraryCreateInfoKHR::STRUCTURE_TYPE,
            );
            if let Some(info) = info {
                self.library_list(info, hashes);
            }
        }
    }

    /// # Safety
    /// `info` must be valid.
    unsafe fn library_list(&self, info: &vk::PipelineLibraryCreateInfoKHR<'_>, hashes: &mut Vec<ModuleHash>) {
        if info.p_libraries.is_null() {
            return;
        }
        // SAFETY: the caller vouches for the array.
        for library in unsafe { slice::from_raw_parts(info.p_libraries, info.library_count as usize) } {
            hashes.extend(
                self.state
                    .modules
                    .modules_of(vk::ObjectType::PIPELINE, library.as_raw()),
            );
        }
    }

    /// Remembers what the new pipelines were made from.
    ///
    /// # Safety
    /// `pipelines` must have as many elements as `hashes`.
    pub unsafe fn remember(&self, pipelines: *const vk::Pipeline, hashes: Vec<Vec<ModuleHash>>) {
        for (index, mut modules) in hashes.into_iter().enumerate() {
            // SAFETY: the caller vouches for the array.
            let pipeline = unsafe { *pipelines.add(index) };
            if pipeline != vk::Pipeline::null() {
                modules.sort_unstable();
                modules.dedup();
                self.state
                    .modules
                    .set_modules_of(vk::ObjectType::PIPELINE, pipeline.as_raw(), modules);
            }
        }
    }
}

/// Whether a graphics pipeline has shader stages at all: a library of other state may have a stale pointer there.
///
/// # Safety
/// `info` must be valid.
unsafe fn has_stages(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: the caller vouches for the chain.
    let parts = unsafe {
        chain::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(
            info.p_next,
            vk::GraphicsPipelineLibraryCreateInfoEXT::STRUCTURE_TYPE,
        )
    };
    parts.is_none_or(|p| {
        p.flags
            .intersects(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER)
    })
}
