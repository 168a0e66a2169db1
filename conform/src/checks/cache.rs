//! Pipeline caches of shaders with aborts stay valid.

use super::super::gpu::Cache;
use super::{Buffer, Check, Checked, Device, Enable, Gpu, Kernel, Message, aborting, marked};
use crate::rules;
use crate::verdict::should;
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

/// What a pipeline cache that starts as `start` holds before and after a pipeline with an abort is made with it.
fn cache(gpu: &'static Gpu, start: &[u8]) -> Checked<[Vec<u8>; 2]> {
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = Buffer::new(device, &marked(&[]))?;
    let cache = Cache::new(device, start)?;
    let before = cache.data()?;
    Kernel::new(device, &aborting(Message::Whole), &[buffer], &[], Some(cache))?;
    let after = cache.data()?;
    device.destroy();
    Ok([before, after])
}

/// Bytes by their number and a hash, to compare those of two processes.
fn fingerprint(data: &[u8]) -> String {
    let mut hash = DefaultHasher::new();
    data.hash(&mut hash);
    format!("{} bytes, hash {:016x}", data.len(), hash.finish())
}

fn one_run(gpu: &'static Gpu) -> Checked {
    let [before, after] = cache(gpu, &[])?;
    let kept = if before == after { " (no pipeline is kept)" } else { "" };
    Ok(format!("{}{kept}", fingerprint(&after)))
}

fn new_device(gpu: &'static Gpu) -> Checked {
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

fn shader_object(gpu: &'static Gpu) -> Checked {
    let enable = Enable {
        shader_object: true,
        ..Enable::ABORT
    };
    let device = Device::new(gpu, enable)?;
    Ok(fingerprint(&device.shader_binary(&aborting(Message::Whole))?))
}
