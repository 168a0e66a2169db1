//! Pipelines and pipeline caches.

use crate::binary;
use crate::deferred::Deferred;
use crate::enumerate::{chained, fill, slice};
use crate::handle::{self, Allocator, Object};
use crate::settings::Refused;
use crate::shader::{Pipeline, hash, stage_words};
use crate::state::Device;
use ash::vk::{self, Handle, TaggedStructure};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use vk_ext::{DESCRIPTOR_HEAP, ShaderDescriptorMappings};

/// A pipeline cache: hashes of the SPIR-V of all stages that were created with it.
#[derive(Default)]
pub struct Cache(Mutex<BTreeSet<u64>>);

/// Whether the bindings of a stage are mapped to descriptor heaps, if the pipeline uses them.
///
/// # Safety
/// The create info and the stage must be valid.
unsafe fn has_descriptors(info: &impl TaggedStructure, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> bool {
    // SAFETY: create info and stage are valid (the caller's contract).
    let (flags, mappings) = unsafe {
        (
            chained::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(info),
            chained::<ShaderDescriptorMappings>(stage),
        )
    };
    let uses_heaps = flags.is_some_and(|info| info.flags.contains(DESCRIPTOR_HEAP));
    !uses_heaps || mappings.is_some_and(|mappings| mappings.mapping_count > 0)
}

/// Creates a pipeline.
///
/// # Errors
/// `VK_ERROR_UNKNOWN` if a stage has lost its mappings to descriptor heaps.
/// `VK_PIPELINE_COMPILE_REQUIRED` if the SPIR-V of an identifier is unknown, or the application's callbacks return no memory.
///
/// # Safety
/// The create info and the stages must be valid.
unsafe fn pipeline(
    cache: Option<&Cache>,
    info: &impl TaggedStructure,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    allocator: Allocator<'_>,
) -> Result<vk::Pipeline, vk::Result> {
    // SAFETY: create info and stages are valid (the caller's contract).
    let stages = unsafe {
        if !stages.iter().all(|stage| has_descriptors(info, stage)) {
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        let stages = match binary::stages(info) {
            Some(stages) => stages,
            None => {
                let words = stages.iter().map(|stage| stage_words(stage));
                words
                    .collect::<Option<Vec<_>>>()
                    .ok_or(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT)?
            }
        };
        binary::capture(info, &stages);
        stages
    };
    if let Some(cache) = cache {
        cache.0.lock().extend(stages.iter().map(|words| hash(words)));
    }
    let mut handle = MaybeUninit::new(0);
    handle::create_with(allocator, &mut handle, Pipeline { stages }).result()?;
    // SAFETY: initialised to null.
    Ok(vk::Pipeline::from_raw(unsafe { handle.assume_init() }))
}

/// A create info of pipelines.
pub trait PipelineInfo: TaggedStructure {
    /// Its stages.
    ///
    /// # Safety
    /// The create info must be valid.
    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>];
}

impl PipelineInfo for vk::ComputePipelineCreateInfo<'_> {
    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>] {
        std::slice::from_ref(&self.stage)
    }
}

impl PipelineInfo for vk::GraphicsPipelineCreateInfo<'_> {
    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>] {
        // SAFETY: the create info is valid (the caller's contract).
        unsafe { slice(self.p_stages, self.stage_count) }
    }
}

impl PipelineInfo for vk::RayTracingPipelineCreateInfoKHR<'_> {
    unsafe fn stages(&self) -> &[vk::PipelineShaderStageCreateInfo<'_>] {
        // SAFETY: the create info is valid (the caller's contract).
        unsafe { slice(self.p_stages, self.stage_count) }
    }
}

/// `vkCreateComputePipelines` and `vkCreateGraphicsPipelines`.
pub extern "system" fn create<T: PipelineInfo>(
    device: &Device,
    cache: Option<Object<'_, Cache>>,
    count: u32,
    infos: *const T,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    // SAFETY: by the command's valid usage, the arrays have `count` valid elements.
    unsafe {
        for (index, info) in slice(infos, count).iter().enumerate() {
            let created = match device.refusal(Refused::Pipeline) {
                Some(error) => Err(error),
                None => pipeline(cache.as_deref(), info, info.stages(), allocator),
            };
            let created = created.unwrap_or_else(|error| {
                result = error;
                vk::Pipeline::null()
            });
            pipelines.add(index).write(created);
        }
    }
    result
}

pub extern "system" fn create_ray_tracing(
    device: &'static Device,
    operation: Option<Object<'_, Deferred>>,
    cache: Option<Object<'static, Cache>>,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'static>,
    allocator: Allocator<'static>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // By the command's valid usage, the pointers stay valid until the operation completes.
    let (infos, pipelines) = (infos as usize, pipelines as usize);
    let allocator = allocator.map_or(0, |callbacks| std::ptr::from_ref(callbacks) as usize);
    let create = move || {
        // SAFETY: the callbacks are valid until the operation completes.
        let allocator = unsafe { (allocator as *const vk::AllocationCallbacks<'_>).as_ref() };
        let infos = infos as *const vk::RayTracingPipelineCreateInfoKHR<'_>;
        create(device, cache, count, infos, allocator, pipelines as *mut vk::Pipeline)
    };
    match operation {
        Some(deferred) if device.settings.deferred => {
            deferred.0.lock().push(Box::new(move || _ = create()));
            vk::Result::OPERATION_DEFERRED_KHR
        }
        _ => create(),
    }
}

/// Returns the sorted hashes: equal if the SPIR-V is equal word by word.
pub extern "system" fn cache_data(_: &Device, cache: Object<'_, Cache>, size: &mut usize, data: *mut u8) -> vk::Result {
    let hashes = cache.0.lock();
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    // SAFETY: by the command's valid usage, the buffer is null or has `size` bytes.
    unsafe { fill(&bytes, size, data) }
}
