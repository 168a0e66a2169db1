//! Commands that ask about a pipeline by its create-info: the driver has to see the create-info that it would see, or
//! has seen, when the pipeline is created.

use super::stages::{CreateInfo, Creation};
use super::{MISSING, command, guarded};
use crate::loader::ffi::{PipelineBinaryCreateInfo, PipelineCreateInfo, stype};
use crate::loader::registry::device_of;
use ash::vk::{self, TaggedStructure};
use std::ffi::c_void;
use std::ptr;

/// Edits the create-info of a kind that is chained to a `VkPipelineCreateInfoKHR`. Null: nothing had to be edited.
///
/// # Safety
/// `node` must be valid and of that kind.
unsafe fn edited<I: CreateInfo>(creation: &mut Creation<'_>, node: *const c_void) -> Result<*const c_void, vk::Result> {
    // SAFETY: the caller vouches for the node.
    unsafe {
        let mut copy = Box::new(*node.cast::<I>());
        copy.edit(creation, &mut Vec::new())?;
        if !creation.changed {
            return Ok(ptr::null());
        }
        let edited = ptr::from_ref(&*copy).cast();
        creation.kept.keep_infos(copy);
        Ok(edited)
    }
}

/// The `VkPipelineCreateInfoKHR` that the next layer is given, if it is not the application's.
///
/// # Safety
/// `info` must be null or valid.
unsafe fn edit(
    creation: &mut Creation<'_>,
    info: *const PipelineCreateInfo,
) -> Result<Option<PipelineCreateInfo>, vk::Result> {
    // SAFETY: the caller vouches for the structure and its chain.
    unsafe {
        let Some(info) = info.as_ref() else {
            return Ok(None);
        };
        // Only create-infos of pipelines extend the structure, so the first one of the chain is it.
        let node = info.next.cast_const();
        let Some(kind) = node.cast::<vk::BaseInStructure<'_>>().as_ref().map(|node| node.s_type) else {
            return Ok(None);
        };
        let edited = match kind {
            vk::GraphicsPipelineCreateInfo::STRUCTURE_TYPE => {
                edited::<vk::GraphicsPipelineCreateInfo<'static>>(creation, node)
            }
            vk::ComputePipelineCreateInfo::STRUCTURE_TYPE => {
                edited::<vk::ComputePipelineCreateInfo<'static>>(creation, node)
            }
            vk::RayTracingPipelineCreateInfoKHR::STRUCTURE_TYPE => {
                edited::<vk::RayTracingPipelineCreateInfoKHR<'static>>(creation, node)
            }
            _ => Ok(ptr::null()),
        }?;
        Ok((!edited.is_null()).then_some(PipelineCreateInfo {
            s_type: stype::PIPELINE_CREATE_INFO,
            next: edited.cast_mut(),
        }))
    }
}

pub unsafe extern "system" fn key(device: vk::Device, info: *const PipelineCreateInfo, key: *mut c_void) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkGetPipelineKeyKHR?)));
        let Some((known, next)) = found else {
            return MISSING;
        };
        // SAFETY: all as the API has it.
        unsafe {
            let Some(state) = &known.state else {
                return next(device, info, key);
            };
            let mut creation = Creation::new(known, state);
            match edit(&mut creation, info) {
                Ok(Some(edited)) => next(device, &edited, key),
                Ok(None) => next(device, info, key),
                Err(error) => error,
            }
        }
    })
}

/// Binaries come from data, from a pipeline, or from the driver's own cache by the create-info of a pipeline.
pub unsafe extern "system" fn create_binaries(
    device: vk::Device,
    info: *const PipelineBinaryCreateInfo,
    allocator: *const vk::AllocationCallbacks<'_>,
    binaries: *mut c_void,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkCreatePipelineBinariesKHR?)));
        let Some((known, next)) = found else {
            return MISSING;
        };
        // SAFETY: all as the API has it.
        unsafe {
            let (Some(state), Some(given)) = (&known.state, info.as_ref()) else {
                return next(device, info, allocator, binaries);
            };
            let mut creation = Creation::new(known, state);
            match edit(&mut creation, given.pipeline_create_info) {
                Ok(Some(edited)) => {
                    let mut copy = *given;
                    copy.pipeline_create_info = &edited;
                    next(device, &copy, allocator, binaries)
                }
                Ok(None) => next(device, info, allocator, binaries),
                Err(error) => error,
            }
        }
    })
}

/// Pipelines whose dispatches the device itself generates need memory for their shaders.
pub unsafe extern "system" fn indirect_memory_requirements(
    device: vk::Device,
    info: *const vk::ComputePipelineCreateInfo<'_>,
    requirements: *mut vk::MemoryRequirements2<'_>,
) {
    guarded((), || {
        // SAFETY: a valid device.
        let found =
            unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkGetPipelineIndirectMemoryRequirementsNV?)));
        let Some((known, next)) = found else {
            return;
        };
        // SAFETY: all as the API has it.
        unsafe {
            if let (Some(state), Some(given)) = (
                &known.state,
                info.cast::<vk::ComputePipelineCreateInfo<'static>>().as_ref(),
            ) {
                let mut creation = Creation::new(known, state);
                let mut copy = *given;
                if copy.edit(&mut creation, &mut Vec::new()).is_ok() && creation.changed {
                    return next(device, &copy, requirements);
                }
            }
            next(device, info, requirements);
        }
    });
}

#[cfg(test)]
mod tests;
