//! Pipeline caches of shaders with aborts stay valid.

use super::{Buffer, Check, Checked, Device, Enable, Gpu, Kernel, Message, aborting, marked};
use crate::conform::rules;
use crate::conform::verdict::should;
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) const CHECKS: &[Check] = &[
    Check {
        twice: true,
        ..Check::new("cache.the_same_in_two_runs", rules::CACHE, one_run)
    },
    Check::new("cache.does_not_grow_on_a_new_device", rules::CACHE, new_device),
];

/// What a pipeline cache holds after a pipeline with an abort was made with it.
fn cache(gpu: &'static Gpu, before: &[u8]) -> Checked<Vec<u8>> {
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = Buffer::new(device, &marked(&[]))?;
    let kernel = Kernel::new(device, &aborting(Message::Whole), &[buffer], &[], before)?;
    let data = kernel.cache_data()?;
    device.destroy();
    Ok(data)
}

fn one_run(gpu: &'static Gpu) -> Checked {
    let data = cache(gpu, &[])?;
    let mut hash = DefaultHasher::new();
    data.hash(&mut hash);
    Ok(format!("{} bytes, hash {:016x}", data.len(), hash.finish()))
}

fn new_device(gpu: &'static Gpu) -> Checked {
    let first = cache(gpu, &[])?;
    let second = cache(gpu, &first)?;
    should!(
        second.len() <= first.len(),
        "the cache of {} bytes grew to {}: the pipeline was not found in it",
        first.len(),
        second.len()
    );
    Ok(format!("{} bytes", first.len()))
}
