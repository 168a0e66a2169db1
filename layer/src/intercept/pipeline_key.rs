//! Commands that take the create-info of a pipeline without creating it. The driver has to get the same edited create-info as
//! at the pipeline's creation.
//!
//! The code in a pipeline binary contains the arena's address and depends on the layer's version and settings. The
//! global key says so: "If the key obtained in this way changes between saving and restoring data [..] in a different
//! `VkDevice`, then the application must assume that the restored data is invalid" (`vkGetPipelineKeyKHR`).

use super::pipeline_create_info::edit_one;
use super::pipeline_edit::Editor;
use crate::device::AbortState;
use crate::device::state::ModuleUse;
use ash::vk::{self, Handle as _, TaggedStructure};
use std::ffi::c_void;
use std::hash::{DefaultHasher, Hasher as _};
use vk_ext::{PipelineBinaryCreateInfo, PipelineBinaryHandlesInfo, PipelineBinaryKey, PipelineCreateInfo};

/// An edited copy of a `VkPipelineCreateInfoKHR` for the next layer. None if the edit changes nothing, so that the next layer can
/// get the application's structure. Adds the modules of the pipeline to `modules`.
///
/// # Safety
/// `info` must be null or valid, and so must its chain.
unsafe fn edit(
    editor: &mut Editor<'_>,
    info: *const PipelineCreateInfo,
    modules: &mut Vec<ModuleUse>,
) -> Result<Option<PipelineCreateInfo>, vk::Result> {
    // SAFETY: the structure and its chain are valid (the caller's contract).
    unsafe {
        // Only create-infos of pipelines extend the structure, so the pipeline's is the first of the chain.
        let Some(node) = info
            .as_ref()
            .map(|info| info.p_next.cast_const())
            .filter(|node| !node.is_null())
        else {
            return Ok(None);
        };
        let edited: *const c_void = match (*node.cast::<vk::BaseInStructure<'_>>()).s_type {
            vk::GraphicsPipelineCreateInfo::STRUCTURE_TYPE => {
                edit_one::<vk::GraphicsPipelineCreateInfo<'static>>(editor, node, modules)?.cast()
            }
            vk::ComputePipelineCreateInfo::STRUCTURE_TYPE => {
                edit_one::<vk::ComputePipelineCreateInfo<'static>>(editor, node, modules)?.cast()
            }
            vk::RayTracingPipelineCreateInfoKHR::STRUCTURE_TYPE => {
                edit_one::<vk::RayTracingPipelineCreateInfoKHR<'static>>(editor, node, modules)?.cast()
            }
            _ => return Ok(None),
        };
        Ok((!edited.is_null()).then(|| PipelineCreateInfo {
            p_next: edited.cast_mut(),
            ..Default::default()
        }))
    }
}

/// Makes the global key depend on everything that rewritten code depends on.
fn add_to_global_key(state: &AbortState, key: &mut PipelineBinaryKey) {
    let mut hasher = DefaultHasher::new();
    hasher.write(format!("{} {:?}", env!("CARGO_PKG_VERSION"), state.options).as_bytes());
    let hash = hasher.finish().to_le_bytes();
    // The bytes behind the key are unspecified.
    if let Some(rest) = key.key.get_mut(key.key_size as usize..) {
        rest.fill(0);
    }
    key.key_size = key.key_size.max(hash.len() as u32);
    key.key.iter_mut().zip(hash).for_each(|(to, from)| *to ^= from);
}

pub unsafe extern "system" fn key(
    handle: vk::Device,
    info: *const PipelineCreateInfo,
    key: *mut PipelineBinaryKey,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `info` is null or valid with its chain, and `key` may be written.
    unsafe {
        forward!(handle, vkGetPipelineKeyKHR, |device, next| {
            let Some(state) = &device.state else {
                return next(handle, info, key);
            };
            if info.is_null() {
                let result = next(handle, info, key);
                if result == vk::Result::SUCCESS
                    && (!state.emulated.is_empty() || state.sanitizes())
                    && let Some(key) = key.as_mut()
                {
                    add_to_global_key(state, key);
                }
                return result;
            }
            let mut editor = Editor::new(device, state);
            match edit(&mut editor, info, &mut Vec::new()) {
                Ok(Some(edited)) => next(handle, &edited, key),
                Ok(None) => next(handle, info, key),
                Err(error) => error,
            }
        })
    }
}

/// Binaries come from data, from a pipeline, or by a pipeline's create-info from the driver's cache. Of the last two, the
/// modules are known.
pub unsafe extern "system" fn create_binaries(
    handle: vk::Device,
    info: *const PipelineBinaryCreateInfo,
    allocator: *const vk::AllocationCallbacks<'_>,
    binaries: *mut PipelineBinaryHandlesInfo,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and `info` and its chain valid.
    unsafe {
        forward!(handle, vkCreatePipelineBinariesKHR, |device, next| {
            let (Some(state), Some(original)) = (&device.state, info.as_ref()) else {
                return next(handle, info, allocator, binaries);
            };
            let mut editor = Editor::new(device, state);
            let kind = vk::ObjectType::PIPELINE;
            let mut modules = state.objects.modules_of(kind, original.pipeline.as_raw());
            let edited = edit(&mut editor, original.p_pipeline_create_info, &mut modules);
            // Pipelines can be created from the binaries alone.
            state.objects.export(modules);
            match edited {
                Ok(Some(edited)) => {
                    let mut copy = *original;
                    copy.p_pipeline_create_info = &edited;
                    next(handle, &copy, allocator, binaries)
                }
                Ok(None) => next(handle, info, allocator, binaries),
                Err(error) => error,
            }
        })
    }
}

/// `vkGetPipelineIndirectMemoryRequirementsNV`: the memory depends on the pipeline's code.
pub unsafe extern "system" fn indirect_memory_requirements(
    handle: vk::Device,
    info: *const vk::ComputePipelineCreateInfo<'_>,
    requirements: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: valid usage: the device is live, and `info` valid.
    unsafe {
        forward!(handle, vkGetPipelineIndirectMemoryRequirementsNV, |device, next| {
            if let (Some(state), false) = (&device.state, info.is_null()) {
                type Info = vk::ComputePipelineCreateInfo<'static>;
                let mut editor = Editor::new(device, state);
                if let Ok(edited) = edit_one::<Info>(&mut editor, info.cast(), &mut Vec::new())
                    && !edited.is_null()
                {
                    return next(handle, edited, requirements);
                }
            }
            next(handle, info, requirements);
        });
    }
}

#[cfg(test)]
mod tests;
