//! Pipeline caches and binaries of shaders with aborts stay valid.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu};
use crate::rules;
use crate::scenario::marked;
use crate::shaders::{Message, aborting, table};
use crate::verdict::{CheckOutput, should};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) const CHECKS: &[Check] = &[
    Check {
        twice: true,
        ..Check::new("cache.the_same_in_two_runs", rules::CACHE, |gpu| {
            one_run(gpu, &aborting(Message::Whole))
        })
    },
    Check {
        twice: true,
        ..Check::new("cache.constant_data_in_two_runs", rules::CACHE, |gpu| {
            one_run(gpu, &table(TABLE, false))
        })
    },
    Check {
        twice: true,
        ..Check::new("cache.shader_object_binary_in_two_runs", rules::CACHE, shader_object)
    },
    Check::new("cache.does_not_grow_on_a_new_device", rules::CACHE, |gpu| {
        new_device(gpu, &aborting(Message::Whole))
    }),
    Check::new("cache.with_constant_data_does_not_grow", rules::CACHE, |gpu| {
        new_device(gpu, &table(TABLE, false))
    }),
];

/// Words of constant data, more than compilers keep in the code of a shader.
const TABLE: u32 = 1000;

/// Data of a pipeline cache with `initial` data, before and after it is used to create a pipeline.
fn cache(gpu: &'static Gpu, initial: &[u8], spirv: &[u32]) -> CheckOutput<[Vec<u8>; 2]> {
    let device = Device::new(gpu, Enable::ABORT)?;
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

fn one_run(gpu: &'static Gpu, spirv: &[u32]) -> CheckOutput {
    let [before, after] = cache(gpu, &[], spirv)?;
    let unused = if before == after {
        " (the cache does not store the pipeline)"
    } else {
        ""
    };
    Ok(format!("{}{unused}", fingerprint(&after)))
}

fn new_device(gpu: &'static Gpu, spirv: &[u32]) -> CheckOutput {
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

fn shader_object(gpu: &'static Gpu) -> CheckOutput {
    let enable = Enable {
        shader_object: true,
        ..Enable::ABORT
    };
    let device = Device::new(gpu, enable)?;
    Ok(fingerprint(&device.shader_binary(&aborting(Message::Whole))?))
}
