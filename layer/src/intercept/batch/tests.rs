use crate::intercept::pipeline::{create_compute, create_ray_tracing};
use crate::intercept::testing::{TestDevice, module};
use crate::loader::dispatch::DeviceTable;
use ash::vk::{self, Handle, PipelineCreateFlags as Flags};
use std::cell::RefCell;
use std::{ptr, slice};

thread_local! {
    /// The flags and the index of the base pipeline of every create-info that reached the next layer.
    static CREATED: RefCell<Vec<(Flags, i32)>> = const { RefCell::new(Vec::new()) };
}

/// Raw handle of the first pipeline that the next layer creates.
const FIRST: u64 = 0x70;

unsafe extern "system" fn create(
    _: vk::Device,
    _: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: valid usage: the arrays have `count` elements.
    unsafe {
        for (index, info) in slice::from_raw_parts(infos, count as usize).iter().enumerate() {
            CREATED.with_borrow_mut(|all| all.push((info.flags, info.base_pipeline_index)));
            pipelines.add(index).write(vk::Pipeline::from_raw(FIRST + index as u64));
        }
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn create_at_once(
    _: vk::Device,
    operation: vk::DeferredOperationKHR,
    _: vk::PipelineCache,
    count: u32,
    _: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    assert_eq!((operation, count), (vk::DeferredOperationKHR::null(), 1));
    // SAFETY: valid usage: the array has `count` elements.
    unsafe { pipelines.write(vk::Pipeline::from_raw(FIRST)) };
    vk::Result::SUCCESS
}

/// Module of pipeline `index`: that of pipeline 1 ends in the middle of an instruction.
fn words(index: usize) -> Vec<u32> {
    let mut words = module(true);
    words.truncate(words.len() - usize::from(index == 1) * 2);
    words
}

/// Creates pipelines with these flags and base pipelines. Returns the result, the handles, and the objects that the next layer created.
fn create_compute_pipelines(all: &[(Flags, i32)]) -> (vk::Result, Vec<u64>, Vec<(Flags, i32)>) {
    let device = TestDevice::new(DeviceTable {
        vkCreateComputePipelines: Some(create),
        ..DeviceTable::EMPTY
    });
    let words: Vec<Vec<u32>> = (0..all.len()).map(words).collect();
    let mut chained: Vec<_> = words
        .iter()
        .map(|words| vk::ShaderModuleCreateInfo::default().code(words))
        .collect();
    let infos: Vec<_> = chained
        .iter_mut()
        .zip(all)
        .map(|(chained, (flags, base))| {
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .name(c"main")
                .push_next(chained);
            vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .flags(*flags)
                .base_pipeline_index(*base)
        })
        .collect();
    let mut pipelines = vec![vk::Pipeline::from_raw(7); all.len()];
    CREATED.take();
    // SAFETY: the device is live and the structures are valid.
    let result = unsafe {
        create_compute(
            device.handle(),
            vk::PipelineCache::null(),
            infos.len() as u32,
            infos.as_ptr(),
            ptr::null(),
            pipelines.as_mut_ptr(),
        )
    };
    for pipeline in &pipelines {
        let modules = device
            .state()
            .objects
            .modules_of(vk::ObjectType::PIPELINE, pipeline.as_raw());
        assert_eq!(modules.len(), usize::from(!pipeline.is_null()), "{pipelines:?}");
    }
    (
        result,
        pipelines.iter().map(|pipeline| pipeline.as_raw()).collect(),
        CREATED.take(),
    )
}

#[test]
fn one_module_that_cannot_be_rewritten_fails_its_own_pipeline_only() {
    let plain = (Flags::empty(), -1);
    let (result, pipelines, created) = create_compute_pipelines(&[plain; 3]);
    assert_eq!(result, vk::Result::ERROR_UNKNOWN);
    assert_eq!(pipelines, [FIRST, 0, FIRST + 1]);
    assert_eq!(created, [plain; 2]);
}

#[test]
fn nothing_is_created_after_a_failed_pipeline_that_asks_for_an_early_return() {
    let plain = (Flags::empty(), -1);
    let early = (Flags::EARLY_RETURN_ON_FAILURE, -1);
    let (result, pipelines, created) = create_compute_pipelines(&[plain, early, plain]);
    assert_eq!((result, pipelines), (vk::Result::ERROR_UNKNOWN, vec![FIRST, 0, 0]));
    assert_eq!(created, [plain]);
    // The flag of a pipeline that does not fail has no effect.
    let (_, pipelines, _) = create_compute_pipelines(&[early, plain, early]);
    assert_eq!(pipelines, [FIRST, 0, FIRST + 1]);
}

#[test]
fn base_pipelines_are_found_beside_failed_ones() {
    let base = (Flags::ALLOW_DERIVATIVES, -1);
    let derived = |index| (Flags::DERIVATIVE, index);
    let (result, pipelines, created) =
        create_compute_pipelines(&[base, base, base, derived(2), derived(1), derived(0)]);
    assert_eq!(result, vk::Result::ERROR_UNKNOWN);
    assert_eq!(pipelines, [FIRST, 0, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4]);
    // The base of the second derivative is the pipeline that failed.
    assert_eq!(created, [base, base, derived(1), (Flags::empty(), -1), derived(0)]);
}

#[test]
fn pipelines_beside_a_failed_one_are_not_deferred() {
    let device = TestDevice::new(DeviceTable {
        vkCreateRayTracingPipelinesKHR: Some(create_at_once),
        ..DeviceTable::EMPTY
    });
    let words = [words(0), words(1)];
    let mut chained = words
        .each_ref()
        .map(|words| vk::ShaderModuleCreateInfo::default().code(words));
    let stages = chained.each_mut().map(|chained| {
        [vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::RAYGEN_KHR)
            .name(c"main")
            .push_next(chained)]
    });
    let infos = stages
        .each_ref()
        .map(|stages| vk::RayTracingPipelineCreateInfoKHR::default().stages(stages));
    let mut pipelines = [vk::Pipeline::from_raw(7); 2];
    // SAFETY: the device is live and the structures are valid.
    let result = unsafe {
        create_ray_tracing(
            device.handle(),
            vk::DeferredOperationKHR::from_raw(1),
            vk::PipelineCache::null(),
            2,
            infos.as_ptr(),
            ptr::null(),
            pipelines.as_mut_ptr(),
        )
    };
    assert_eq!(result, vk::Result::ERROR_UNKNOWN);
    assert_eq!(pipelines.map(vk::Pipeline::as_raw), [FIRST, 0]);
}
