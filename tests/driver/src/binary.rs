//! `VK_KHR_pipeline_binary`. A pipeline has one binary: the SPIR-V of its stages. The internal cache has every binary that a
//! pipeline was ever captured in.

use crate::enumerate::{chained, fill, slice};
use crate::handle::{self, Allocator};
use crate::shader::{Pipeline, hash, stage_words};
use crate::state::Device;
use ash::vk::{self, Handle, TaggedStructure};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use vk_ext::{
    CAPTURE_DATA, PipelineBinaryCreateInfo, PipelineBinaryDataInfo, PipelineBinaryHandlesInfo, PipelineBinaryInfo,
    PipelineBinaryKey, PipelineCreateInfo,
};

/// A binary: the SPIR-V of each stage.
pub struct Binary(Vec<Vec<u32>>);

/// `VK_PIPELINE_BINARY_MISSING_KHR`.
const MISSING: vk::Result = vk::Result::from_raw(1_000_483_000);
/// The key that applies to all pipelines.
const GLOBAL_KEY: u64 = u64::from_le_bytes(*b"driver 1");

/// The internal cache, by key.
static CACHE: Mutex<BTreeMap<u64, Vec<Vec<u32>>>> = Mutex::new(BTreeMap::new());

fn key_of(stages: &[Vec<u32>]) -> u64 {
    hash(&stages.concat())
}

fn write_key(value: u64, key: &mut PipelineBinaryKey) {
    key.key_size = 8;
    key.key[..8].copy_from_slice(&value.to_le_bytes());
}

/// Stages of the binaries that a pipeline's create info has instead of shaders.
///
/// # Safety
/// The chain must be valid.
pub unsafe fn stages(info: &impl TaggedStructure) -> Option<Vec<Vec<u32>>> {
    // SAFETY: the chain is valid (the caller's contract), so its arrays have as many elements as their counts.
    let binaries = unsafe {
        let info = chained::<PipelineBinaryInfo>(info).filter(|info| info.binary_count > 0)?;
        slice(info.p_pipeline_binaries, info.binary_count)
    };
    // SAFETY: the binaries of a valid chain are live.
    let of = |binary: &u64| unsafe { handle::get::<Binary>(*binary) }.map(|binary| binary.0.clone());
    Some(binaries.iter().filter_map(of).flatten().collect())
}

/// Adds a pipeline to the internal cache if its create info asks for that.
///
/// # Safety
/// The chain must be valid.
pub unsafe fn capture(info: &impl TaggedStructure, stages: &[Vec<u32>]) {
    // SAFETY: the chain is valid (the caller's contract).
    let flags = unsafe { chained::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(info) }.map(|info| info.flags);
    if flags.is_some_and(|flags| flags.contains(CAPTURE_DATA)) {
        let mut cache = CACHE.lock();
        cache.insert(key_of(stages), stages.to_vec());
    }
}

/// Key of the compute pipeline whose create info is chained to `info`.
///
/// # Safety
/// The chain must be valid.
unsafe fn key_of_info(info: &PipelineCreateInfo) -> u64 {
    // SAFETY: the chain is valid (the caller's contract).
    let words = unsafe { chained::<vk::ComputePipelineCreateInfo<'_>>(info).and_then(|info| stage_words(&info.stage)) };
    key_of(words.as_slice())
}

pub extern "system" fn key(_: &Device, info: Option<&PipelineCreateInfo>, key: &mut PipelineBinaryKey) -> vk::Result {
    // SAFETY: by the command's valid usage, the chain is valid.
    let value = info.map_or(GLOBAL_KEY, |info| unsafe { key_of_info(info) });
    write_key(value, key);
    vk::Result::SUCCESS
}

/// Parses the data of [`data`]: number and words of each stage.
fn parse(data: &[u8]) -> Vec<Vec<u32>> {
    let (chunks, _) = data.as_chunks();
    let mut words = chunks.iter().map(|word| u32::from_le_bytes(*word));
    std::iter::from_fn(|| {
        let count = words.next()?;
        Some(words.by_ref().take(count as usize).collect())
    })
    .collect()
}

pub extern "system" fn create(
    _: &Device,
    info: &PipelineBinaryCreateInfo,
    _: Allocator<'_>,
    handles: &mut PipelineBinaryHandlesInfo,
) -> vk::Result {
    let mut found = Vec::new();
    // SAFETY: by the command's valid usage, pointers are null or valid, and the pipeline is null or live.
    unsafe {
        if let Some(all) = info.p_keys_and_data_info.as_ref() {
            for (size, data) in slice(all.p_pipeline_binary_data, all.binary_count) {
                found.push(parse(slice(data.cast::<u8>(), *size as u32)));
            }
        }
        if let Some(pipeline) = handle::get::<Pipeline>(info.pipeline.as_raw()) {
            found.push(pipeline.stages.clone());
        }
        if let Some(info) = info.p_pipeline_create_info.as_ref() {
            let cache = CACHE.lock();
            match cache.get(&key_of_info(info)) {
                Some(stages) => found.push(stages.clone()),
                None => return MISSING,
            }
        }
    }
    let created = match handles.p_pipeline_binaries.is_null() {
        true => vec![0; found.len()],
        false => found.into_iter().map(|stages| handle::create(Binary(stages))).collect(),
    };
    let count = &mut handles.pipeline_binary_count;
    // SAFETY: by the command's valid usage, the array is null or has that many elements.
    unsafe { fill(&created, count, handles.p_pipeline_binaries) }
}

pub extern "system" fn data(
    _: &Device,
    info: &PipelineBinaryDataInfo,
    key: &mut PipelineBinaryKey,
    size: &mut usize,
    data: *mut u8,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the binary is live.
    let Some(binary) = (unsafe { handle::get::<Binary>(info.pipeline_binary) }) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    write_key(key_of(&binary.0), key);
    let words = binary
        .0
        .iter()
        .flat_map(|stage| std::iter::once(stage.len() as u32).chain(stage.iter().copied()));
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    // SAFETY: by the command's valid usage, the buffer is null or has `size` bytes.
    unsafe { fill(&bytes, size, data) }
}
