//! Pipelines and pipeline caches.

use crate::binary;
use crate::deferred::Deferred;
use crate::enumerate::{fill, slice};
use crate::handle::{self, Allocator};
use crate::shader::{Pipeline, hash, stage_words};
use crate::state::Device;
use ash::vk::{self, Handle, TaggedStructure};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// A pipeline cache: hashes of the SPIR-V of all stages that were created with it.
#[derive(Default)]
pub struct Cache(Mutex<BTreeSet<u64>>);

/// Creates a pipeline. `None` if the SPIR-V of an identifier is unknown.
fn pipeline(
    cache: Option<&Cache>,
    info: &impl TaggedStructure,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
) -> Option<vk::Pipeline> {
    let stages = match binary::stages(info) {
        Some(stages) => stages,
        None => stages.iter().map(stage_words).collect::<Option<Vec<_>>>()?,
    };
    binary::capture(info, &stages);
    if let Some(cache) = cache {
        cache.0.lock().extend(stages.iter().map(|words| hash(words)));
    }
    Some(vk::Pipeline::from_raw(handle::create(Pipeline { stages })))
}

/// Creates the pipeline of each create info with the stages that `stages` returns.
fn create_all<T: TaggedStructure>(
    cache: Option<&Cache>,
    count: u32,
    infos: *const T,
    pipelines: *mut vk::Pipeline,
    stages: impl Fn(&T) -> &[vk::PipelineShaderStageCreateInfo<'_>],
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for (index, info) in slice(infos, count).iter().enumerate() {
        let created = pipeline(cache, info, stages(info)).unwrap_or_else(|| {
            result = vk::Result::PIPELINE_COMPILE_REQUIRED_EXT;
            vk::Pipeline::null()
        });
        // SAFETY: by the commands' valid usage, the arrays have `count` elements.
        unsafe { pipelines.add(index).write(created) };
    }
    result
}

pub extern "system" fn create_compute(
    _: &Device,
    cache: Option<&Cache>,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: Allocator,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    create_all(cache, count, infos, pipelines, |info| std::slice::from_ref(&info.stage))
}

pub extern "system" fn create_graphics(
    _: &Device,
    cache: Option<&Cache>,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    _: Allocator,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    create_all(cache, count, infos, pipelines, |info| {
        slice(info.p_stages, info.stage_count)
    })
}

pub extern "system" fn create_ray_tracing(
    device: &Device,
    operation: Option<&Deferred>,
    cache: Option<&'static Cache>,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    _: Allocator,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // By the command's valid usage, the arrays stay valid until the operation completes.
    let (infos_address, pipelines_address) = (infos as usize, pipelines as usize);
    let create = move || {
        let infos = infos_address as *const vk::RayTracingPipelineCreateInfoKHR<'_>;
        let pipelines = pipelines_address as *mut vk::Pipeline;
        create_all(cache, count, infos, pipelines, |info| {
            slice(info.p_stages, info.stage_count)
        })
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
    fill(&bytes, size, data)
}
