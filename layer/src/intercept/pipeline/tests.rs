use super::*;
use crate::device::AbortState;
use crate::intercept::testing::{TestDevice, module};
use crate::loader::dispatch::DeviceTable;
use ash::vk::Handle as _;
use std::cell::Cell;
use std::ptr;

/// The raw handle of the pipeline that the next layer creates.
const PIPELINE: u64 = 0x77;

thread_local! {
    /// The output array of the deferred creation.
    static DEFERRED: Cell<*mut vk::Pipeline> = const { Cell::new(ptr::null_mut()) };
    /// The result of the deferred operation's commands.
    static RESULT: Cell<vk::Result> = const { Cell::new(vk::Result::NOT_READY) };
}

unsafe extern "system" fn fail_to_create(
    _: vk::Device,
    _: vk::PipelineCache,
    _: u32,
    _: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    _: *mut vk::Pipeline,
) -> vk::Result {
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
}

unsafe extern "system" fn defer_creation(
    _: vk::Device,
    _: vk::DeferredOperationKHR,
    _: vk::PipelineCache,
    _: u32,
    _: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    DEFERRED.set(pipelines);
    vk::Result::OPERATION_DEFERRED_KHR
}

unsafe extern "system" fn progress(_: vk::Device, _: vk::DeferredOperationKHR) -> vk::Result {
    if RESULT.get() == vk::Result::SUCCESS {
        // SAFETY: the test keeps the array until the operation is complete.
        unsafe { DEFERRED.get().write(vk::Pipeline::from_raw(PIPELINE)) };
    }
    RESULT.get()
}

fn modules_of(state: &AbortState, pipeline: u64) -> usize {
    state.objects.modules_of(vk::ObjectType::PIPELINE, pipeline).len()
}

/// Creates a ray-tracing pipeline of a module that aborts, deferred to an operation.
fn create_deferred(device: &TestDevice, operation: vk::DeferredOperationKHR, pipelines: &mut [vk::Pipeline; 1]) {
    let words = module(true);
    let mut chained = vk::ShaderModuleCreateInfo::default().code(&words);
    let stages = [vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::RAYGEN_KHR)
        .name(c"main")
        .push_next(&mut chained)];
    let info = vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages);
    // SAFETY: the device is live and the structures are valid; the next layer does not read them later.
    let result = unsafe {
        create_ray_tracing(
            device.handle(),
            operation,
            vk::PipelineCache::null(),
            1,
            &info,
            ptr::null(),
            pipelines.as_mut_ptr(),
        )
    };
    assert_eq!(result, vk::Result::OPERATION_DEFERRED_KHR);
}

#[test]
fn deferred_pipelines_are_remembered_once_their_operation_is_complete() {
    let device = TestDevice::new(DeviceTable {
        vkCreateRayTracingPipelinesKHR: Some(defer_creation),
        vkDeferredOperationJoinKHR: Some(progress),
        vkGetDeferredOperationResultKHR: Some(progress),
        ..DeviceTable::EMPTY
    });
    type Progress = unsafe extern "system" fn(vk::Device, vk::DeferredOperationKHR) -> vk::Result;
    let commands: [(Progress, vk::Result); 2] = [
        (join_deferred_operation, vk::Result::THREAD_IDLE_KHR),
        (deferred_operation_result, vk::Result::NOT_READY),
    ];
    for (command, incomplete) in commands {
        let operation = vk::DeferredOperationKHR::from_raw(1);
        let mut pipelines = [vk::Pipeline::null()];
        create_deferred(&device, operation, &mut pipelines);
        // SAFETY: the device is live.
        unsafe {
            RESULT.set(incomplete);
            assert_eq!(command(device.handle(), operation), incomplete);
            assert_eq!(modules_of(device.state(), PIPELINE), 0);
            RESULT.set(vk::Result::SUCCESS);
            assert_eq!(command(device.handle(), operation), vk::Result::SUCCESS);
            assert_eq!(modules_of(device.state(), PIPELINE), 1);
            destroy_deferred_operation(device.handle(), operation, ptr::null());
        }
        device.state().objects.remove(vk::ObjectType::PIPELINE, PIPELINE, false);
    }
}

#[test]
fn pipelines_that_a_failed_creation_leaves_unwritten_are_not_remembered() {
    let device = TestDevice::new(DeviceTable {
        vkCreateComputePipelines: Some(fail_to_create),
        ..DeviceTable::EMPTY
    });
    let words = module(true);
    let mut chained = vk::ShaderModuleCreateInfo::default().code(&words);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut chained);
    let info = vk::ComputePipelineCreateInfo::default().stage(stage);
    let mut pipelines = [vk::Pipeline::from_raw(PIPELINE)];
    // SAFETY: the device is live and the structures are valid.
    let result = unsafe {
        create_compute(
            device.handle(),
            vk::PipelineCache::null(),
            1,
            &info,
            ptr::null(),
            pipelines.as_mut_ptr(),
        )
    };
    assert_eq!(result, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    assert_eq!(modules_of(device.state(), PIPELINE), 0);
}
