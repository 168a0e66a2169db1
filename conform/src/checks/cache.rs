//! Pipeline caches and binaries of shaders with aborts stay valid.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::marked;
use crate::scenario::should;
use crate::shaders::{Message, aborting, table};
use anyhow::Result;
use std::hash::{DefaultHasher, Hash, Hasher};
use vkabort_gpu::Enable;
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "cache.the_same_in_two_runs" => one_run(gpu, &aborting(Message::Whole)), rule(rules::CACHE), twice();
    "cache.constant_data_in_two_runs" => one_run(gpu, &table(TABLE, false)), rule(rules::CACHE), twice();
    "cache.shader_object_binary_in_two_runs" => shader_object(gpu), rule(rules::CACHE), twice();
    "cache.does_not_grow_on_a_new_device" => new_device(gpu, &aborting(Message::Whole)), rule(rules::CACHE);
    "cache.with_constant_data_does_not_grow" => new_device(gpu, &table(TABLE, false)), rule(rules::CACHE);
};

/// Words of constant data, more than compilers keep in the code of a shader.
const TABLE: u32 = 1000;

/// Data of a pipeline cache with `initial` data, before and after it is used to create a pipeline.
fn cache(gpu: &'static CheckedGpu, initial: &[u8], spirv: &[u32]) -> Result<[Vec<u8>; 2]> {
    let device = gpu.device(Enable::ABORT)?;
    let buffer = device.buffer(&marked(&[]))?;
    let cache = device.cache(initial)?;
    let before = cache.data()?;
    device.kernel(spirv, &[buffer], &[], Some(cache))?;
    let after = cache.data()?;
    device.destroy();
    Ok([before, after])
}

/// Length and hash of the data, to compare two processes.
fn fingerprint(data: &[u8]) -> String {
    let mut hash = DefaultHasher::new();
    data.hash(&mut hash);
    format!("{} bytes, hash {:016x}", data.len(), hash.finish())
}

fn one_run(gpu: &'static CheckedGpu, spirv: &[u32]) -> Result<String> {
    let [before, after] = cache(gpu, &[], spirv)?;
    let unused = if before == after {
        " (the cache does not store the pipeline)"
    } else {
        ""
    };
    Ok(format!("{}{unused}", fingerprint(&after)))
}

fn new_device(gpu: &'static CheckedGpu, spirv: &[u32]) -> Result<String> {
    let [_, first] = cache(gpu, &[], spirv)?;
    let [before, after] = cache(gpu, &first, spirv)?;
    should!(
        after.len() <= before.len(),
        "the cache of {} bytes grew to {}: the pipeline was not found in it",
        before.len(),
        after.len()
    );
    Ok(format!("{} bytes", first.len()))
}

fn shader_object(gpu: &'static CheckedGpu) -> Result<String> {
    let enable = Enable {
        shader_object: true,
        ..Enable::ABORT
    };
    let device = gpu.device(enable)?;
    Ok(fingerprint(&device.shader_binary(&aborting(Message::Whole))?))
}
