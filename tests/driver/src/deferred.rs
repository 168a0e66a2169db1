//! Deferred operations.

use crate::handle::{self, Allocator, Object, Out};
use crate::state::Device;
use ash::vk;
use parking_lot::Mutex;

/// A deferred operation: the work to do when it is joined.
#[derive(Default)]
pub struct Deferred(pub Mutex<Vec<Box<dyn FnOnce() + Send>>>);

pub extern "system" fn create(_: &Device, allocator: Allocator<'_>, operation: Out<'_, u64>) -> vk::Result {
    handle::create_with(allocator, operation, Deferred::default())
}

pub extern "system" fn join(_: &Device, operation: Object<'_, Deferred>) -> vk::Result {
    let work = std::mem::take(&mut *operation.0.lock());
    work.into_iter().for_each(|work| work());
    vk::Result::SUCCESS
}

pub extern "system" fn max_concurrency(_: &Device, _: Object<'_, Deferred>) -> u32 {
    1
}

pub extern "system" fn result(_: &Device, operation: Object<'_, Deferred>) -> vk::Result {
    match operation.0.lock().is_empty() {
        true => vk::Result::SUCCESS,
        false => vk::Result::NOT_READY,
    }
}
