//! `VkPipeline`: the commands that create pipelines, and the deferred operations that they can be deferred to.

use super::pipeline_batch::Batch;
use super::pipeline_create_info::EditCreateInfo;
use super::pipeline_edit::Editor;
use super::queue::elements;
use super::{MISSING, command, guarded, next_of};
use crate::device::registry::device_of;
use crate::device::shader::words_of;
use crate::device::state::{AbortState, DeferredCreation, Device, ModuleUse, Objects};
use crate::loader::chain;
use crate::locks::lock;
use ash::vk::{self, Handle};
use std::slice;

/// Creates pipelines by `next`, from edited create-infos or from the application's own if nothing had to be edited. Calls
/// `next` once at most, without the pipelines whose modules cannot be rewritten.
///
/// # Safety
/// `infos` and `pipelines` must have `count` elements, and `next` must call the next layer's command.
unsafe fn create<I: EditCreateInfo>(
    command: &str,
    (device, state): (&Device, &AbortState),
    operation: vk::DeferredOperationKHR,
    (infos, count): (*const I, u32),
    pipelines: *mut vk::Pipeline,
    next: impl FnOnce(vk::DeferredOperationKHR, u32, *const I, *mut vk::Pipeline) -> vk::Result,
) -> vk::Result {
    // Not every driver writes the array if it fails, and the handles are read below.
    // SAFETY: `count` elements (the caller's contract).
    unsafe { pipelines.write_bytes(0, count as usize) };
    let mut editor = Editor::new(device, state);
    // SAFETY: `count` elements (the caller's contract), valid until the creation is complete (valid usage).
    let mut batch = unsafe { Batch::new(&mut editor, slice::from_raw_parts(infos, count as usize)) };
    let log_refusal = |batch: &Batch<I>, result| {
        let modules = batch.modules.iter().flatten();
        device.log_refusal(command, result, modules.map(|used| &used.module));
    };
    let Some(error) = batch.error else {
        let infos = if editor.changed { batch.infos.as_ptr() } else { infos };
        let result = next(operation, count, infos, pipelines);
        log_refusal(&batch, result);
        if result == vk::Result::OPERATION_DEFERRED_KHR {
            let mut storage = editor.storage;
            storage.keep(std::mem::take(&mut batch.infos));
            let creation = DeferredCreation::new(storage, pipelines, batch.modules);
            lock(&state.deferred).entry(operation).or_default().push(creation);
        } else {
            // SAFETY: one pipeline for each create-info.
            unsafe { remember(&state.objects, pipelines, batch.modules) };
        }
        return result;
    };
    let mut created = vec![vk::Pipeline::null(); batch.infos.len()];
    let count = batch.infos.len() as u32;
    let mut result = vk::Result::SUCCESS;
    if count > 0 {
        // Not deferred: a command that returns an error has deferred nothing.
        let operation = vk::DeferredOperationKHR::null();
        result = next(operation, count, batch.infos.as_ptr(), created.as_mut_ptr());
        log_refusal(&batch, result);
    }
    // SAFETY: the arrays are those of the batch.
    unsafe {
        batch.scatter(&created, pipelines);
        remember(&state.objects, created.as_ptr(), batch.modules);
    }
    match result.as_raw() < 0 {
        true => result,
        false => error,
    }
}

/// Remembers which modules new pipelines are created from.
///
/// # Safety
/// `pipelines` must have as many elements as `modules`.
unsafe fn remember(objects: &Objects, pipelines: *const vk::Pipeline, modules: Vec<Vec<ModuleUse>>) {
    // SAFETY: as many elements (the caller's contract).
    let pipelines = unsafe { slice::from_raw_parts(pipelines, modules.len()) };
    for (pipeline, modules) in pipelines.iter().zip(modules) {
        if *pipeline != vk::Pipeline::null() {
            objects.add(vk::ObjectType::PIPELINE, pipeline.as_raw(), modules);
        }
    }
}

/// Reports the modules with aborts that are chained into stages, on a device without the extensions.
///
/// # Safety
/// `infos` must be null or have `count` valid elements.
unsafe fn report_unused_aborts<I: EditCreateInfo>(device: &Device, infos: *const I, count: u32) {
    // SAFETY: valid create-infos (the caller's contract).
    unsafe {
        let stages = elements(infos, count).iter().flat_map(|info| info.stages());
        for stage in stages.filter(|stage| stage.module == vk::ShaderModule::null()) {
            if let Some(module) = chain::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) {
                device.report_unused_aborts(&words_of(module.p_code, module.code_size));
            }
        }
    }
}

/// A command that creates pipelines and cannot defer that.
macro_rules! create_at_once {
    ($name:ident, $info:ident, $command:ident) => {
        pub unsafe extern "system" fn $name(
            handle: vk::Device,
            cache: vk::PipelineCache,
            count: u32,
            infos: *const vk::$info<'_>,
            allocator: *const vk::AllocationCallbacks<'_>,
            pipelines: *mut vk::Pipeline,
        ) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device is live, and the arrays have `count` elements.
                unsafe {
                    let Some((device, next)) = next_of(handle, |t| t.$command) else {
                        return MISSING;
                    };
                    let (Some(state), false) = (&device.state, infos.is_null()) else {
                        report_unused_aborts(device, infos.cast::<vk::$info<'static>>(), count);
                        return next(handle, cache, count, infos, allocator, pipelines);
                    };
                    let next = |_, count, infos: *const vk::$info<'_>, pipelines| {
                        next(handle, cache, count, infos, allocator, pipelines)
                    };
                    let infos = (infos.cast::<vk::$info<'static>>(), count);
                    let operation = vk::DeferredOperationKHR::null();
                    let command = stringify!($command);
                    create(command, (device, state), operation, infos, pipelines, next)
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
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live, and the arrays have `count` elements.
        unsafe {
            let Some((device, next)) = next_of(handle, |t| t.vkCreateRayTracingPipelinesKHR) else {
                return MISSING;
            };
            let (Some(state), false) = (&device.state, infos.is_null()) else {
                let infos_of_type = infos.cast::<vk::RayTracingPipelineCreateInfoKHR<'static>>();
                report_unused_aborts(device, infos_of_type, count);
                return next(handle, operation, cache, count, infos, allocator, pipelines);
            };
            let next = |operation, count, infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>, pipelines| {
                next(handle, operation, cache, count, infos, allocator, pipelines)
            };
            let infos = (infos.cast::<vk::RayTracingPipelineCreateInfoKHR<'static>>(), count);
            let command = "vkCreateRayTracingPipelinesKHR";
            create(command, (device, state), operation, infos, pipelines, next)
        }
    })
}

/// `vkDeferredOperationJoinKHR`: the operation is complete where it returns `VK_SUCCESS`.
pub unsafe extern "system" fn join_deferred_operation(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkDeferredOperationJoinKHR) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let result = unsafe { next(handle, operation) };
        if result == vk::Result::SUCCESS {
            complete(device, operation);
        }
        result
    })
}

/// `vkGetDeferredOperationResultKHR`: the operation is complete where it does not return `VK_NOT_READY`.
pub unsafe extern "system" fn deferred_operation_result(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkGetDeferredOperationResultKHR) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let result = unsafe { next(handle, operation) };
        if result != vk::Result::NOT_READY {
            complete(device, operation);
        }
        result
    })
}

/// Remembers the pipelines of an operation that is complete. Once per operation, before the first command that reports the
/// completion returns: the application may then free the array of handles.
fn complete(device: &Device, operation: vk::DeferredOperationKHR) {
    let Some(state) = &device.state else { return };
    // Held to the end, so that no other thread reports the completion meanwhile.
    let mut deferred = lock(&state.deferred);
    for creation in deferred.get_mut(&operation).into_iter().flatten() {
        if let Some(pipelines) = creation.pipelines.take() {
            // SAFETY: "any memory that the deferred command's parameters point to" is valid until the application knows of
            // the completion, and the array has one element for each create-info.
            unsafe { remember(&state.objects, pipelines, std::mem::take(&mut creation.modules)) };
        }
    }
}

pub unsafe extern "system" fn destroy_deferred_operation(
    handle: vk::Device,
    operation: vk::DeferredOperationKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: valid usage: the device is live.
        let Some(device) = (unsafe { device_of(handle) }) else {
            return;
        };
        // Taken before the call: another thread may get the same handle as soon as the driver frees it.
        let creations = device
            .state
            .as_ref()
            .and_then(|state| lock(&state.deferred).remove(&operation));
        if let Some(next) = device.next.vkDestroyDeferredOperationKHR {
            // SAFETY: the application's own arguments.
            unsafe { next(handle, operation, allocator) };
        }
        drop(creations);
    });
}

#[cfg(test)]
mod tests;
