//! Commands of the test driver that return the calls and shaders that it received (the driver's `call_log.rs`).

use crate::vk::Device;
use anyhow::{Result, ensure};
use ash::vk;
use std::mem::transmute;
use vkabort_test_kit::call_log::CallLog;

type GetCallLog = unsafe extern "system" fn(vk::Device, *mut CallLog);
type GetWords = unsafe extern "system" fn(vk::Device, vk::Pipeline, u32, *mut u32, *mut u32) -> vk::Result;

/// Calls that have reached the driver.
///
/// # Errors
///
/// Fails on another driver.
pub fn call_log(device: &Device<'_>) -> Result<CallLog> {
    // SAFETY: the driver exports the command with this signature.
    let get = unsafe { transmute::<unsafe extern "system" fn(), GetCallLog>(device.command(c"vkabortDriverCallLog")?) };
    let mut log = CallLog::default();
    // SAFETY: driver and tests share the declaration of `CallLog`.
    unsafe { get(device.raw.handle(), &raw mut log) };
    Ok(log)
}

/// SPIR-V of a pipeline's stage as it reached the driver.
///
/// # Errors
///
/// Fails on another driver.
pub fn words(device: &Device<'_>, pipeline: vk::Pipeline, stage: u32) -> Result<Vec<u32>> {
    // SAFETY: the driver exports the command with this signature.
    let get = unsafe { transmute::<unsafe extern "system" fn(), GetWords>(device.command(c"vkabortDriverWords")?) };
    let mut count = 0;
    // SAFETY: with a null array, the command writes only the count.
    unsafe {
        get(
            device.raw.handle(),
            pipeline,
            stage,
            &raw mut count,
            std::ptr::null_mut(),
        )
    }
    .result()?;
    let mut words = vec![0; count as usize];
    // SAFETY: the array has `count` elements.
    unsafe { get(device.raw.handle(), pipeline, stage, &raw mut count, words.as_mut_ptr()) }.result()?;
    ensure!(count as usize == words.len(), "the count changed");
    Ok(words)
}

/// The driver's own `vkGetDeviceProcAddr`.
///
/// # Errors
///
/// Fails on another driver.
pub fn get_device_proc_addr(device: &Device<'_>) -> Result<vk::PFN_vkGetDeviceProcAddr> {
    let found = device.command(c"vkabortDriverGetDeviceProcAddr")?;
    // SAFETY: the driver exports the command with this signature.
    Ok(unsafe { transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(found) })
}
