//! `VkPipeline`: the commands that create pipelines, and the deferred operations that they can be deferred to.

use super::batch::{Batch, remember};
use super::guarded;
use super::pipeline_create_info::PipelineInfo;
use super::pipeline_edit::Editor;
use crate::device::modules::rewrite::words_of;
use crate::device::registry::device_of;
use crate::device::state::DeferredCreation;
use crate::device::{AbortState, Device};
use crate::loader::chain;
use crate::loader::ffi::elements;
use crate::locks::lock;
use ash::vk;
use std::slice;

/// Creates pipelines by `next`, from edited create-infos or from the application's if nothing had to be edited. Calls `next`
/// without the pipelines whose modules cannot be rewritten, and once more if the driver refuses modules with checks.
///
/// # Safety
/// `infos` and `pipelines` must have `count` elements, valid until the creation is complete, and `next` must call the next layer's
/// command with `allocator`.
unsafe fn create<I: PipelineInfo>(
    command: &str,
    (device, state): (&Device, &AbortState),
    operation: vk::DeferredOperationKHR,
    (infos, count): (*const I, u32),
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
    next: impl Fn(vk::DeferredOperationKHR, u32, *const I, *mut vk::Pipeline) -> vk::Result,
) -> vk::Result {
    let destroy = (device.next.vkDestroyPipeline, allocator);
    loop {
        // SAFETY: both arrays have `count` elements, valid until the creation is complete (the caller's contract).
        unsafe {
            // Not every driver writes the array if it fails, and the handles are read below.
            pipelines.write_bytes(0, count as usize);
            let mut editor = Editor::new(device, state);
            let mut batch = Batch::of_pipelines(&mut editor, slice::from_raw_parts(infos, count as usize));
            // The result of a deferred operation is known when it can no longer be repeated.
            let is_deferred = operation != vk::DeferredOperationKHR::null() && !batch.has_additions(device);
            let Some(error) = batch.error else {
                let infos = if editor.changed { batch.infos.as_ptr() } else { infos };
                let result = match is_deferred {
                    true => next(operation, count, infos, pipelines),
                    false => next(vk::DeferredOperationKHR::null(), count, infos, pipelines),
                };
                batch.log_refusal(device, command, result);
                if result == vk::Result::OPERATION_DEFERRED_KHR {
                    let mut storage = editor.storage;
                    storage.keep(std::mem::take(&mut batch.infos));
                    let creation = DeferredCreation::new(storage, pipelines, batch.modules);
                    lock(&state.deferred).entry(operation).or_default().push(creation);
                    return result;
                }
                let pipelines = slice::from_raw_parts(pipelines, count as usize);
                if batch.is_worth_retrying(device, command, result, pipelines, destroy) {
                    continue;
                }
                remember(&state.objects, pipelines, batch.modules);
                let is_not_deferred = operation != vk::DeferredOperationKHR::null() && !is_deferred;
                return match result {
                    vk::Result::SUCCESS if is_not_deferred => vk::Result::OPERATION_NOT_DEFERRED_KHR,
                    result => result,
                };
            };
            let mut created = vec![vk::Pipeline::null(); batch.infos.len()];
            let mut result = vk::Result::SUCCESS;
            if !created.is_empty() {
                // Not deferred: a command that returns an error has deferred nothing.
                let operation = vk::DeferredOperationKHR::null();
                result = next(
                    operation,
                    created.len() as u32,
                    batch.infos.as_ptr(),
                    created.as_mut_ptr(),
                );
                batch.log_refusal(device, command, result);
                if batch.is_worth_retrying(device, command, result, &created, destroy) {
                    continue;
                }
            }
            batch.scatter(&created, pipelines);
            remember(&state.objects, &created, batch.modules);
            return match result.as_raw() < 0 {
                true => result,
                false => error,
            };
        }
    }
}

/// Passes the modules that are chained into stages, on a device without the extensions.
///
/// # Safety
/// `infos` must be null or have `count` valid elements.
unsafe fn pass_modules<I: PipelineInfo>(device: &Device, infos: *const I, count: u32) {
    // SAFETY: valid create-infos (the caller's contract).
    unsafe {
        let stages = elements(infos, count).iter().flat_map(|info| info.stages());
        for stage in stages.filter(|stage| stage.module == vk::ShaderModule::null()) {
            if let Some(module) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) {
                device.pass_module(&words_of(module.p_code, module.code_size));
            }
        }
    }
}

/// A command that creates pipelines, and defers that to `$operation` if it has this parameter.
macro_rules! create_pipelines {
    ($name:ident, $info:ident, $command:ident $(, $operation:ident)?) => {
        pub unsafe extern "system" fn $name(
            handle: vk::Device,
            $($operation: vk::DeferredOperationKHR,)?
            cache: vk::PipelineCache,
            count: u32,
            infos: *const vk::$info<'_>,
            allocator: *const vk::AllocationCallbacks<'_>,
            pipelines: *mut vk::Pipeline,
        ) -> vk::Result {
            // SAFETY: valid usage: the device is live, and the arrays have `count` elements.
            unsafe {
                forward!(handle, $command, |device, next| {
                    let own_infos = infos.cast::<vk::$info<'static>>();
                    let (Some(state), false) = (&device.state, infos.is_null()) else {
                        pass_modules(device, own_infos, count);
                        return next(handle, $($operation,)? cache, count, infos, allocator, pipelines);
                    };
                    let operation = None$(.or(Some($operation)))?.unwrap_or_default();
                    let next = |_operation, count, infos: *const vk::$info<'_>, pipelines| {
                        $(let $operation = _operation;)?
                        next(handle, $($operation,)? cache, count, infos, allocator, pipelines)
                    };
                    let infos = (own_infos, count);
                    create(stringify!($command), (device, state), operation, infos, allocator, pipelines, next)
                })
            }
        }
    };
}

create_pipelines!(create_graphics, GraphicsPipelineCreateInfo, vkCreateGraphicsPipelines);
create_pipelines!(create_compute, ComputePipelineCreateInfo, vkCreateComputePipelines);
create_pipelines!(
    create_ray_tracing,
    RayTracingPipelineCreateInfoKHR,
    vkCreateRayTracingPipelinesKHR,
    operation
);
create_pipelines!(
    create_ray_tracing_nv,
    RayTracingPipelineCreateInfoNV,
    vkCreateRayTracingPipelinesNV
);

/// `vkDeferredOperationJoinKHR`: the operation is complete where it returns `VK_SUCCESS`.
pub unsafe extern "system" fn join_deferred_operation(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    // SAFETY: valid usage: device and operation are live.
    unsafe {
        forward!(handle, vkDeferredOperationJoinKHR, |device, next| {
            let result = next(handle, operation);
            if result == vk::Result::SUCCESS {
                complete(device, operation);
            }
            result
        })
    }
}

/// `vkGetDeferredOperationResultKHR`: the operation is complete where it does not return `VK_NOT_READY`.
pub unsafe extern "system" fn deferred_operation_result(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    // SAFETY: valid usage: device and operation are live.
    unsafe {
        forward!(handle, vkGetDeferredOperationResultKHR, |device, next| {
            let result = next(handle, operation);
            if result != vk::Result::NOT_READY {
                complete(device, operation);
            }
            result
        })
    }
}

/// Remembers the pipelines of an operation that is complete. Once per operation, before the first command that reports the
/// completion returns: the application may then free the array of handles.
fn complete(device: &Device, operation: vk::DeferredOperationKHR) {
    let Some(state) = &device.state else { return };
    // Held to the end, so that no other thread reports the completion meanwhile.
    let mut deferred = lock(&state.deferred);
    for creation in deferred.get_mut(&operation).into_iter().flatten() {
        if let Some(pipelines) = creation.pipelines.take() {
            let modules = std::mem::take(&mut creation.modules);
            // SAFETY: "any memory that the deferred command's parameters point to" is valid until the application knows of
            // the completion, and the array has one element for each create-info.
            let pipelines = unsafe { slice::from_raw_parts(pipelines, modules.len()) };
            remember(&state.objects, pipelines, modules);
        }
    }
}

pub unsafe extern "system" fn destroy_deferred_operation(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: valid usage: the device is live, and nothing uses the operation any more.
        unsafe {
            let Some(device) = device_of(handle) else { return };
            // Taken before the call: another thread may get the same handle as soon as the driver frees it.
            let state = device.state.as_ref();
            let creations = state.and_then(|state| lock(&state.deferred).remove(&operation));
            if let Some(next) = device.next.vkDestroyDeferredOperationKHR {
                next(handle, operation, allocator);
            }
            drop(creations);
        }
    });
}

#[cfg(test)]
mod tests;
