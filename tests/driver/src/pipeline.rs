//! Pipelines and pipeline caches.

use crate::deferred::Deferred;
use crate::handle;
use crate::shader::stage_words;
use crate::state::device_of;
use ash::vk::{self, Handle};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// A pipeline.
pub struct Pipeline {
    /// SPIR-V of each stage.
    pub stages: Vec<Vec<u32>>,
}

/// A pipeline cache: hashes of the SPIR-V of all stages that were created with it.
#[derive(Default)]
struct Cache(Mutex<BTreeSet<u64>>);

/// Creates a pipeline.
///
/// # Safety
/// `stages` must be null or have `count` valid elements, and `cache` must be null or live.
unsafe fn pipeline(
    cache: vk::PipelineCache,
    stages: *const vk::PipelineShaderStageCreateInfo<'_>,
    count: u32,
) -> vk::Pipeline {
    let stages = match stages.is_null() {
        true => &[],
        // SAFETY: the caller passes `count` elements.
        false => unsafe { std::slice::from_raw_parts(stages, count as usize) },
    };
    let created = Pipeline {
        // SAFETY: the caller passes valid stages.
        stages: stages.iter().map(|info| unsafe { stage_words(info) }).collect(),
    };
    // SAFETY: the caller passes null or a live cache.
    if let Some(cache) = unsafe { handle::get::<Cache>(cache.as_raw()) } {
        let hash = |words: &Vec<u32>| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let mut hashes = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.extend(created.stages.iter().map(hash));
    }
    vk::Pipeline::from_raw(handle::create(created))
}

pub unsafe extern "system" fn create_compute(
    _: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        for index in 0..count as usize {
            pipelines
                .add(index)
                .write(pipeline(cache, &raw const (*infos.add(index)).stage, 1));
        }
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn create_graphics(
    _: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        for index in 0..count as usize {
            let info = &*infos.add(index);
            pipelines
                .add(index)
                .write(pipeline(cache, info.p_stages, info.stage_count));
        }
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn create_ray_tracing(
    device: vk::Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (infos_address, pipelines_address) = (infos as usize, pipelines as usize);
    let create = move || {
        let infos = infos_address as *const vk::RayTracingPipelineCreateInfoKHR<'_>;
        let pipelines = pipelines_address as *mut vk::Pipeline;
        for index in 0..count as usize {
            // SAFETY: by the command's valid usage, all parameters stay valid until the operation completes.
            unsafe {
                let info = &*infos.add(index);
                pipelines
                    .add(index)
                    .write(pipeline(cache, info.p_stages, info.stage_count));
            }
        }
    };
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let (deferred, device) = unsafe { (handle::get::<Deferred>(operation.as_raw()), device_of(device)) };
    match deferred {
        Some(deferred) if device.settings.deferred => {
            let mut work = deferred.0.lock().unwrap_or_else(PoisonError::into_inner);
            work.push(Box::new(create));
            vk::Result::OPERATION_DEFERRED_KHR
        }
        _ => {
            create();
            vk::Result::SUCCESS
        }
    }
}

pub unsafe extern "system" fn destroy_pipeline(
    _: vk::Device,
    pipeline: vk::Pipeline,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the object is not used afterwards.
    unsafe { handle::destroy::<Pipeline>(pipeline.as_raw()) };
}

pub unsafe extern "system" fn create_cache(
    _: vk::Device,
    _: *const vk::PipelineCacheCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    cache: *mut vk::PipelineCache,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { cache.write(vk::PipelineCache::from_raw(handle::create(Cache::default()))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_cache(
    _: vk::Device,
    cache: vk::PipelineCache,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the object is not used afterwards.
    unsafe { handle::destroy::<Cache>(cache.as_raw()) };
}

/// Returns the sorted hashes: equal if the SPIR-V is equal word by word.
pub unsafe extern "system" fn cache_data(
    _: vk::Device,
    cache: vk::PipelineCache,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let hashes = handle::get::<Cache>(cache.as_raw()).map(|cache| cache.0.lock());
        let bytes: Vec<u8> = match hashes {
            Some(Ok(hashes)) => hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect(),
            _ => Vec::new(),
        };
        if data.is_null() {
            size.write(bytes.len());
            return vk::Result::SUCCESS;
        }
        let written = size.read().min(bytes.len());
        data.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), written);
        size.write(written);
        match written < bytes.len() {
            true => vk::Result::INCOMPLETE,
            false => vk::Result::SUCCESS,
        }
    }
}
