//! `VkPipeline`: the commands that create pipelines. What of their create-infos has to change is in `stages`; all else
//! passes with the application's own pointers.

use super::stages::{CreateInfo, Creation};
use super::{MISSING, command, guarded};
use crate::device::state::{AbortState, Device};
use crate::loader::registry::device_of;
use crate::locks::lock;
use ash::vk;
use std::slice;

/// No pipeline was made: every handle says so.
///
/// # Safety
/// `pipelines` must have `count` elements.
unsafe fn refuse(pipelines: *mut vk::Pipeline, count: u32, error: vk::Result) -> vk::Result {
    // SAFETY: the caller vouches for the array.
    unsafe { slice::from_raw_parts_mut(pipelines, count as usize) }.fill(vk::Pipeline::null());
    error
}

/// Creates pipelines of a kind from edited create-infos by `next`, or from the application's own if nothing had to be
/// edited. A creation that is deferred to an operation keeps what it reads until the operation is destroyed.
///
/// # Safety
/// `infos` and `pipelines` must have `count` valid elements, and `next` must be the next layer's command.
unsafe fn create<I: CreateInfo>(
    known: &Device,
    state: &AbortState,
    operation: vk::DeferredOperationKHR,
    (infos, count): (*const I, u32),
    pipelines: *mut vk::Pipeline,
    next: impl FnOnce(*const I) -> vk::Result,
) -> vk::Result {
    let mut creation = Creation::new(known, state);
    // SAFETY: the caller vouches for the arrays.
    unsafe {
        let mut copies = slice::from_raw_parts(infos, count as usize).to_vec();
        let mut hashes = Vec::with_capacity(copies.len());
        for copy in &mut copies {
            let mut modules = Vec::new();
            if let Err(error) = copy.edit(&mut creation, &mut modules) {
                return refuse(pipelines, count, error);
            }
            hashes.push(modules);
        }
        let result = next(if creation.changed { copies.as_ptr() } else { infos });
        if result != vk::Result::OPERATION_DEFERRED_KHR {
            creation.remember(pipelines, hashes);
        } else if creation.changed {
            let mut kept = std::mem::take(&mut creation.kept);
            kept.keep_infos(copies);
            lock(&state.deferred).entry(operation).or_default().push(kept);
        }
        result
    }
}

/// A command that creates pipelines at once.
macro_rules! create_at_once {
    ($name:ident, $info:ident, $next:ident) => {
        pub unsafe extern "system" fn $name(
            device: vk::Device,
            cache: vk::PipelineCache,
            count: u32,
            infos: *const vk::$info<'_>,
            allocator: *const vk::AllocationCallbacks<'_>,
            pipelines: *mut vk::Pipeline,
        ) -> vk::Result {
            command(|| {
                // SAFETY: all as the API has it.
                unsafe {
                    let found = device_of(device).and_then(|d| Some((d, d.next.$next?)));
                    let Some((known, next)) = found else {
                        return MISSING;
                    };
                    let next = |infos: *const vk::$info<'_>| next(device, cache, count, infos, allocator, pipelines);
                    let (Some(state), false) = (&known.state, infos.is_null()) else {
                        return next(infos);
                    };
                    let given = (infos.cast::<vk::$info<'static>>(), count);
                    create(
                        known,
                        state,
                        vk::DeferredOperationKHR::null(),
                        given,
                        pipelines,
                        next,
                    )
                }
            })
        }
    };
}

create_at_once!(create_graphics, GraphicsPipelineCreateInfo, vkCreateGraphicsPipelines);
create_at_once!(create_compute, ComputePipelineCreateInfo, vkCreateComputePipelines);
create_at_once!(
    create_ray_tracing_nv,
    RayTracingPipelineCreateInfoNV,
    vkCreateRayTracingPipelinesNV
);

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
            let (Some(state), false) = (&known.state, infos.is_null()) else {
                return next(device, operation, cache, count, infos, allocator, pipelines);
            };
            let given = (infos.cast::<vk::RayTracingPipelineCreateInfoKHR<'static>>(), count);
            create(known, state, operation, given, pipelines, |infos| {
                next(device, operation, cache, count, infos, allocator, pipelines)
            })
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
        if let Some(state) = &known.state {
            drop(lock(&state.deferred).remove(&operation));
        }
    });
}
