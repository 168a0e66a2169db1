//! `VkPipeline`: modules that only pipeline creation can rewrite.
//!
//! Two kinds: modules whose constant data a stage specialises (data and length may change, so the module is rewritten
//! again with that data), and modules that are chained into a stage instead of being objects. All else passes with the
//! application's own pointers.

use super::{MISSING, command, guarded};
use crate::chain::{self, ChainCopy, Edit};
use crate::registry::device_of;
use crate::shader::{Rewritten, specialization, words_of};
use crate::state::{Active, Device, Module, lock};
use ash::vk::{self, Handle, TaggedStructure};
use std::ptr;
use std::slice;
use std::sync::Arc;
use vkabort_record::site::ModuleHash;

const CHAINED: vk::StructureType = vk::ShaderModuleCreateInfo::STRUCTURE_TYPE;

type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// Everything that edited create-infos point to. Lives until the driver has read them.
#[derive(Default)]
pub struct Rewrites {
    chains: Vec<ChainCopy>,
    words: Vec<Vec<u32>>,
    stages: Vec<Vec<Stage>>,
    /// Modules that exist for this creation only.
    modules: Vec<vk::ShaderModule>,
    destroy: Option<(vk::Device, vk::PFN_vkDestroyShaderModule)>,
    /// The create-infos of a deferred creation.
    ray_tracing: Vec<vk::RayTracingPipelineCreateInfoKHR<'static>>,
}

// SAFETY: the pointers are to memory that it owns or that the application keeps for the creation; nothing is shared.
unsafe impl Send for Rewrites {}

impl Drop for Rewrites {
    fn drop(&mut self) {
        if let Some((device, destroy)) = self.destroy {
            for module in &self.modules {
                // SAFETY: made by us for a creation that is over.
                unsafe { destroy(device, *module, ptr::null()) };
            }
        }
    }
}

/// One creation command.
struct Creation<'a> {
    device: &'a Device,
    active: &'a Active,
    kept: Rewrites,
    changed: bool,
}

impl Creation<'_> {
    /// Edits a stage in place (it is a copy) and says which modules it runs.
    ///
    /// # Safety
    /// The stage must be valid.
    unsafe fn stage(&mut self, stage: &mut Stage, hashes: &mut Vec<ModuleHash>) -> Result<(), vk::Result> {
        // SAFETY: the caller vouches for the stage.
        unsafe {
            if stage.module != vk::ShaderModule::null() {
                let Some(module) = self.active.modules.bound(stage.module) else {
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
            match self.device.rewrite(self.active, &words, data)? {
                Rewritten::Unchanged => Ok(()),
                Rewritten::Known { module } => {
                    hashes.push(module.sites.module_hash);
                    Ok(())
                }
                Rewritten::Changed { words, module } => {
                    hashes.push(module.sites.module_hash);
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
        match self.device.rewrite(self.active, original, data)? {
            Rewritten::Unchanged | Rewritten::Known { .. } => Ok(()),
            Rewritten::Changed { words, .. } => {
                let info = vk::ShaderModuleCreateInfo::default().code(&words);
                stage.module = self.temporary(&info)?;
                Ok(())
            }
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
                self.active
                    .modules
                    .made_from(vk::ObjectType::PIPELINE, library.as_raw()),
            );
        }
    }

    /// Remembers what the new pipelines were made from.
    ///
    /// # Safety
    /// `pipelines` must have as many elements as `hashes`.
    unsafe fn remember(&self, pipelines: *const vk::Pipeline, hashes: Vec<Vec<ModuleHash>>) {
        for (index, mut modules) in hashes.into_iter().enumerate() {
            // SAFETY: the caller vouches for the array.
            let pipeline = unsafe { *pipelines.add(index) };
            if pipeline != vk::Pipeline::null() {
                modules.sort_unstable();
                modules.dedup();
                self.active
                    .modules
                    .used_by(vk::ObjectType::PIPELINE, pipeline.as_raw(), modules);
            }
        }
    }
}

/// No pipeline was made: every handle says so.
///
/// # Safety
/// `pipelines` must have `count` elements.
unsafe fn refuse(pipelines: *mut vk::Pipeline, count: u32, error: vk::Result) -> vk::Result {
    // SAFETY: the caller vouches for the array.
    unsafe { slice::from_raw_parts_mut(pipelines, count as usize) }.fill(vk::Pipeline::null());
    error
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

pub unsafe extern "system" fn create_graphics(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    command(|| {
        // SAFETY: all as the API has it.
        unsafe {
            let Some((known, next)) = device_of(device).and_then(|d| Some((d, d.next.vkCreateGraphicsPipelines?)))
            else {
                return MISSING;
            };
            let (Some(active), false) = (&known.active, infos.is_null()) else {
                return next(device, cache, count, infos, allocator, pipelines);
            };
            let mut creation = Creation {
                device: known,
                active,
                kept: Rewrites::default(),
                changed: false,
            };
            let mut copies = slice::from_raw_parts(infos, count as usize).to_vec();
            let mut hashes = Vec::with_capacity(copies.len());
            for copy in &mut copies {
                let mut modules = Vec::new();
                if has_stages(copy) {
                    match creation.stages(copy.p_stages, copy.stage_count, &mut modules) {
                        Ok(stages) => copy.p_stages = stages,
                        Err(error) => return refuse(pipelines, count, error),
                    }
                }
                creation.libraries(copy.p_next, &mut modules);
                hashes.push(modules);
            }
            let infos = if creation.changed { copies.as_ptr() } else { infos };
            let result = next(device, cache, count, infos, allocator, pipelines);
            creation.remember(pipelines, hashes);
            result
        }
    })
}

pub unsafe extern "system" fn create_compute(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    command(|| {
        // SAFETY: all as the API has it.
        unsafe {
            let Some((known, next)) = device_of(device).and_then(|d| Some((d, d.next.vkCreateComputePipelines?)))
            else {
                return MISSING;
            };
            let (Some(active), false) = (&known.active, infos.is_null()) else {
                return next(device, cache, count, infos, allocator, pipelines);
            };
            let mut creation = Creation {
                device: known,
                active,
                kept: Rewrites::default(),
                changed: false,
            };
            let given = slice::from_raw_parts(infos.cast::<vk::ComputePipelineCreateInfo<'static>>(), count as usize);
            let mut copies = given.to_vec();
            let mut hashes = Vec::with_capacity(copies.len());
            for copy in &mut copies {
                let mut modules = Vec::new();
                if let Err(error) = creation.stage(&mut copy.stage, &mut modules) {
                    return refuse(pipelines, count, error);
                }
                hashes.push(modules);
            }
            let infos = if creation.changed { copies.as_ptr() } else { infos };
            let result = next(device, cache, count, infos, allocator, pipelines);
            creation.remember(pipelines, hashes);
            result
        }
    })
}

pub unsafe extern "system" fn create_ray_tracing(
    device: vk::Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    command(|| {
        // SAFETY: all as the API has it.
        unsafe {
            let found = device_of(device).and_then(|d| Some((d, d.next.vkCreateRayTracingPipelinesKHR?)));
            let Some((known, next)) = found else {
                return MISSING;
            };
            let (Some(active), false) = (&known.active, infos.is_null()) else {
                return next(device, operation, cache, count, infos, allocator, pipelines);
            };
            let mut creation = Creation {
                device: known,
                active,
                kept: Rewrites::default(),
                changed: false,
            };
            let given = infos.cast::<vk::RayTracingPipelineCreateInfoKHR<'static>>();
            let mut copies = slice::from_raw_parts(given, count as usize).to_vec();
            let mut hashes = Vec::with_capacity(copies.len());
            for copy in &mut copies {
                let mut modules = Vec::new();
                match creation.stages(copy.p_stages, copy.stage_count, &mut modules) {
                    Ok(stages) => copy.p_stages = stages,
                    Err(error) => return refuse(pipelines, count, error),
                }
                if let Some(libraries) = copy.p_library_info.as_ref() {
                    creation.library_list(libraries, &mut modules);
                }
                hashes.push(modules);
            }
            let infos = if creation.changed { copies.as_ptr() } else { given };
            let result = next(device, operation, cache, count, infos, allocator, pipelines);
            if result != vk::Result::OPERATION_DEFERRED_KHR {
                creation.remember(pipelines, hashes);
            } else if creation.changed {
                // The driver still reads the create-infos: kept until the operation is destroyed.
                let mut kept = std::mem::take(&mut creation.kept);
                kept.ray_tracing = copies;
                lock(&active.deferred).entry(operation).or_default().push(kept);
            }
            result
        }
    })
}

pub unsafe extern "system" fn destroy_deferred_operation(
    device: vk::Device,
    operation: vk::DeferredOperationKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: a valid device.
        let Some(known) = (unsafe { device_of(device) }) else {
            return;
        };
        if let Some(next) = known.next.vkDestroyDeferredOperationKHR {
            // SAFETY: forwarded as it came.
            unsafe { next(device, operation, allocator) };
        }
        if let Some(active) = &known.active {
            drop(lock(&active.deferred).remove(&operation));
        }
    });
}
