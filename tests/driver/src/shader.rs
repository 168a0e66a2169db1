//! Shader modules, pipelines, pipeline caches and deferred operations. The SPIR-V that reaches the driver is kept.

use crate::device::known;
use crate::{handle, identifier};
use ash::vk::{self, Handle, TaggedStructure};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// A shader module.
pub struct Module(
    /// Its SPIR-V.
    pub Vec<u32>,
);

/// A pipeline: the SPIR-V of its stages.
pub struct Pipeline {
    /// One module for each stage that came with SPIR-V.
    pub stages: Vec<Vec<u32>>,
}

/// A pipeline cache: hashes of the modules that pipelines were made from with it.
#[derive(Default)]
struct Cache(Mutex<BTreeSet<u64>>);

/// A deferred operation: what is done when it is joined.
#[derive(Default)]
struct Deferred(Mutex<Vec<Box<dyn FnOnce() + Send>>>);

/// # Safety
/// The pointer must be to so many bytes.
pub unsafe fn words(code: *const u32, bytes: usize) -> Vec<u32> {
    // SAFETY: the caller vouches for the bytes.
    (0..bytes / 4)
        .map(|word| unsafe { code.add(word).read_unaligned() })
        .collect()
}

pub unsafe extern "system" fn create_module(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let words = words((*info).p_code, (*info).code_size);
        identifier::remember(&words);
        let made = handle::make(Module(words));
        module.write(vk::ShaderModule::from_raw(made));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_module(
    _: vk::Device,
    module: vk::ShaderModule,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe { handle::destroy::<Module>(module.as_raw()) };
}

/// The SPIR-V of a stage: of its module, of one in its chain, or of the one that an identifier there stands for.
///
/// # Safety
/// The stage must be valid.
unsafe fn stage(info: &vk::PipelineShaderStageCreateInfo<'_>) -> Vec<u32> {
    // SAFETY: the caller vouches for the stage; the type says what the node of the chain is.
    unsafe {
        if let Some(module) = handle::get::<Module>(info.module.as_raw()) {
            return module.0.clone();
        }
        let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::ShaderModuleCreateInfo::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::ShaderModuleCreateInfo<'_>>();
                return words(info.p_code, info.code_size);
            }
            if base.s_type == vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>>();
                let identifier = std::slice::from_raw_parts(info.p_identifier, info.identifier_size as usize);
                return identifier::find(identifier).unwrap_or_default();
            }
            node = base.p_next;
        }
    }
    Vec::new()
}

/// # Safety
/// The array must have so many valid elements, and the cache be null or valid.
unsafe fn pipeline(
    cache: vk::PipelineCache,
    stages: *const vk::PipelineShaderStageCreateInfo<'_>,
    count: u32,
) -> vk::Pipeline {
    let stages = match stages.is_null() {
        true => &[],
        // SAFETY: the caller vouches for the array.
        false => unsafe { std::slice::from_raw_parts(stages, count as usize) },
    };
    let made = Pipeline {
        // SAFETY: as above.
        stages: stages.iter().map(|info| unsafe { stage(info) }).collect(),
    };
    // SAFETY: the caller vouches for the cache.
    if let Some(cache) = unsafe { handle::get::<Cache>(cache.as_raw()) } {
        let hash = |words: &Vec<u32>| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let mut known = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(made.stages.iter().map(hash));
    }
    vk::Pipeline::from_raw(handle::make(made))
}

pub unsafe extern "system" fn create_compute(
    _: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: as the API has it.
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
    // SAFETY: as the API has it.
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
    let (infos_at, pipelines_at) = (infos as usize, pipelines as usize);
    let make = move || {
        let infos = infos_at as *const vk::RayTracingPipelineCreateInfoKHR<'_>;
        let pipelines = pipelines_at as *mut vk::Pipeline;
        for index in 0..count as usize {
            // SAFETY: as the API has it: all of it stays until the operation is complete.
            unsafe {
                let info = &*infos.add(index);
                pipelines
                    .add(index)
                    .write(pipeline(cache, info.p_stages, info.stage_count));
            }
        }
    };
    // SAFETY: as the API has it.
    let (deferred, known) = unsafe { (handle::get::<Deferred>(operation.as_raw()), known(device)) };
    match deferred {
        Some(deferred) if known.settings.deferred => {
            let mut work = deferred.0.lock().unwrap_or_else(PoisonError::into_inner);
            work.push(Box::new(make));
            vk::Result::OPERATION_DEFERRED_KHR
        }
        _ => {
            make();
            vk::Result::SUCCESS
        }
    }
}

pub unsafe extern "system" fn destroy_pipeline(
    _: vk::Device,
    pipeline: vk::Pipeline,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe { handle::destroy::<Pipeline>(pipeline.as_raw()) };
}

pub unsafe extern "system" fn create_cache(
    _: vk::Device,
    _: *const vk::PipelineCacheCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    cache: *mut vk::PipelineCache,
) -> vk::Result {
    // SAFETY: valid by the API's rules.
    unsafe { cache.write(vk::PipelineCache::from_raw(handle::make(Cache::default()))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_cache(
    _: vk::Device,
    cache: vk::PipelineCache,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe { handle::destroy::<Cache>(cache.as_raw()) };
}

/// The hashes, in order: equal where the SPIR-V was, word by word.
pub unsafe extern "system" fn cache_data(
    _: vk::Device,
    cache: vk::PipelineCache,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let known = handle::get::<Cache>(cache.as_raw()).map(|cache| cache.0.lock());
        let bytes: Vec<u8> = match known {
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

pub unsafe extern "system" fn create_deferred(
    _: vk::Device,
    _: *const vk::AllocationCallbacks<'_>,
    operation: *mut vk::DeferredOperationKHR,
) -> vk::Result {
    let made = handle::make(Deferred::default());
    // SAFETY: valid by the API's rules.
    unsafe { operation.write(vk::DeferredOperationKHR::from_raw(made)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn join_deferred(_: vk::Device, operation: vk::DeferredOperationKHR) -> vk::Result {
    // SAFETY: as the API has it.
    if let Some(deferred) = unsafe { handle::get::<Deferred>(operation.as_raw()) } {
        let work = std::mem::take(&mut *deferred.0.lock().unwrap_or_else(PoisonError::into_inner));
        work.into_iter().for_each(|work| work());
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn deferred_concurrency(_: vk::Device, _: vk::DeferredOperationKHR) -> u32 {
    1
}

pub unsafe extern "system" fn deferred_result(_: vk::Device, operation: vk::DeferredOperationKHR) -> vk::Result {
    // SAFETY: as the API has it.
    let deferred = unsafe { handle::get::<Deferred>(operation.as_raw()) };
    match deferred.is_some_and(|deferred| deferred.0.lock().is_ok_and(|work| !work.is_empty())) {
        true => vk::Result::NOT_READY,
        false => vk::Result::SUCCESS,
    }
}

pub unsafe extern "system" fn destroy_deferred(
    _: vk::Device,
    operation: vk::DeferredOperationKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe { handle::destroy::<Deferred>(operation.as_raw()) };
}
