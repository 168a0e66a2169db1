//! Opens the instance, device or kernel that a row of the tables of cases runs on.

use crate::glsl;
use crate::vk::{Buffer, Context, Device, Gpu, Kernel};
use anyhow::Result;
use vkabort_runner::Finding;

/// The case creates its own instances.
///
/// # Errors
///
/// The case fails.
pub fn context(context: &Context, run: impl FnOnce(&Context) -> Result<Finding>) -> Result<Finding> {
    run(context)
}

/// An instance of Vulkan 1.3.
///
/// # Errors
///
/// The case fails, or the instance cannot be created.
pub fn gpu(context: &Context, run: impl FnOnce(&Gpu) -> Result<Finding>) -> Result<Finding> {
    run(&Gpu::open(context)?)
}

/// A device with the abort extensions.
///
/// # Errors
///
/// The case fails, or the device cannot be created.
pub fn device(context: &Context, run: impl FnOnce(&Device<'_>) -> Result<Finding>) -> Result<Finding> {
    run(&Device::new(&Gpu::open(context)?)?)
}

/// Such a device, and a kernel with an abort over words that do not reach it. The test driver decides what aborts.
///
/// # Errors
///
/// The case fails, or an object cannot be created.
pub fn kernel(context: &Context, run: impl FnOnce(&Kernel<'_>) -> Result<Finding>) -> Result<Finding> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    run(&Kernel::new(
        &device,
        &glsl::compile("abort/entry_point.comp")?,
        &[&buffer],
    )?)
}
