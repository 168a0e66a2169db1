//! Pipelines and pipeline caches.

use crate::binary;
use crate::deferred::Deferred;
use crate::enumerate::{chained, fill, slice};
use crate::handle::{self, Allocator};
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

/// Creates the pipeline of each create info with the stages that `stages` returns.
///
/// # Safety
/// `infos` must have `count` valid elements, and `pipelines` room for as many.
unsafe fn create_all<T: TaggedStructure>(
    cache: Option<&Cache>,
    count: u32,
    infos: *const T,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
    stages: impl Fn(&T) -> &[vk::PipelineShaderStageCreateInfo<'_>],
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    // SAFETY: the arrays have `count` elements, which are valid (the caller's contract).
    unsafe {
        for (index, info) in slice(infos, count).iter().enumerate() {
            let created = pipeline(cache, info, stages(info), allocator).unwrap_or_else(|error| {
                result = error;
                vk::Pipeline::null()
            });
            pipelines.add(index).write(created);
        }
    }
    result
}

pub extern "system" fn create_compute(
    _: &Device,
    cache: Option<&Cache>,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the arrays have `count` valid elements.
    unsafe {
        create_all(cache, count, infos, allocator, pipelines, |info| {
            std::slice::from_ref(&info.stage)
        })
    }
}

pub extern "system" fn create_graphics(
    _: &Device,
    cache: Option<&Cache>,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the arrays have `count` valid elements.
    unsafe {
        create_all(cache, count, infos, allocator, pipelines, |info| {
            slice(info.p_stages, info.stage_count)
        })
    }
}

pub extern "system" fn create_ray_tracing(
    device: &Device,
    operation: Option<&Deferred>,
    cache: Option<&'static Cache>,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // By the command's valid usage, what the parameters point to stays valid until the operation completes.
    let (infos_address, pipelines_address) = (infos as usize, pipelines as usize);
    let allocator_address = allocator.map_or(0, |callbacks| std::ptr::from_ref(callbacks) as usize);
    let create = move || {
        let infos = infos_address as *const vk::RayTracingPipelineCreateInfoKHR<'_>;
        let pipelines = pipelines_address as *mut vk::Pipeline;
        // SAFETY: as above.
        let allocator = unsafe { (allocator_address as *const vk::AllocationCallbacks<'_>).as_ref() };
        // SAFETY: by the command's valid usage, the arrays have `count` valid elements until then.
        unsafe {
            create_all(cache, count, infos, allocator, pipelines, |info| {
                slice(info.p_stages, info.stage_count)
            })
        }
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
pub extern "system" fn cache_data(_: &Device, cache: &Cache, size: &mut usize, data: *mut u8) -> vk::Result {
    let hashes = cache.0.lock();
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    // SAFETY: by the command's valid usage, the buffer is null or has `size` bytes.
    unsafe { fill(&bytes, size, data) }
}
