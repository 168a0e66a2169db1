//! Pipeline caches and binaries of shaders with aborts stay valid.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu};
use crate::rules;
use crate::scenario::marked;
use crate::shaders::{Message, aborting};
use crate::verdict::{CheckOutput, should};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) const CHECKS: &[Check] = &[
    Check {
        twice: true,
        ..Check::new("cache.the_same_in_two_runs", rules::CACHE, one_run)
    },
    Check {
        twice: true,
        ..Check::new("cache.shader_object_binary_in_two_runs", rules::CACHE, shader_object)
    },
    Check::new("cache.does_not_grow_on_a_new_device", rules::CACHE, new_device),
];

/// Data of a pipeline cache with `initial` data, before and after it is used to create a pipeline with an abort.
fn cache(gpu: &'static Gpu, initial: &[u8]) -> CheckOutput<[Vec<u8>; 2]> {
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = device.buffer(&marked(&[]))?;
    let cache = device.cache(initial)?;
    let before = cache.data()?;
    device.kernel(&aborting(Message::Whole), &[buffer], &[], Some(cache))?;
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

fn one_run(gpu: &'static Gpu) -> CheckOutput {
    let [before, after] = cache(gpu, &[])?;
    let unused = if before == after {
        " (the cache does not store the pipeline)"
    } else {
        ""
    };
    Ok(format!("{}{unused}", fingerprint(&after)))
}

fn new_device(gpu: &'static Gpu) -> CheckOutput {
    let [_, first] = cache(gpu, &[])?;
    let [before, after] = cache(gpu, &first)?;
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
