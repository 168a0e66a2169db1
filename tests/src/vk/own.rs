//! The commands of the tests' own driver that tell what reached it (`driver/src/seen.rs`).

use super::Device;
use anyhow::{Context, Result, ensure};
use ash::vk;
use std::ffi::CStr;
use std::mem::transmute;

/// What reached the driver.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Objects that were made and not destroyed, over the whole process.
    pub live: u64,
    /// `pQueueCreateInfos` of the last `vkCreateDevice`.
    pub queue_infos: u64,
    /// Its `pEnabledFeatures`.
    pub features: u64,
    /// The nodes of its chain, in order; then 0.
    pub chain: [u64; 24],
    /// Calls of `vkCreateDevice`.
    pub devices: u32,
    /// The memory types of the last calls of `vkAllocateMemory`, the latest first.
    pub memory_types: [u32; 4],
    /// Those calls since the last `vkCreateDevice`.
    pub allocations: u32,
}

type GetSeen = unsafe extern "system" fn(vk::Device, *mut Seen);
type GetWords = unsafe extern "system" fn(vk::Device, vk::Pipeline, u32, *mut u32, *mut u32) -> vk::Result;

fn look_up(device: &Device<'_>, name: &CStr) -> Result<unsafe extern "system" fn()> {
    // SAFETY: the device is alive and the name NUL-terminated.
    let found = unsafe {
        device
            .gpu
            .instance
            .get_device_proc_addr(device.raw.handle(), name.as_ptr())
    };
    found.with_context(|| format!("the driver has no {name:?}"))
}

/// What reached the driver so far.
///
/// # Errors
///
/// It is another driver.
pub fn seen(device: &Device<'_>) -> Result<Seen> {
    // SAFETY: the driver gives the command this signature.
    let get = unsafe { transmute::<unsafe extern "system" fn(), GetSeen>(look_up(device, c"vkabortDriverSeen")?) };
    let mut seen = Seen::default();
    // SAFETY: the structure is the driver's.
    unsafe { get(device.raw.handle(), &raw mut seen) };
    Ok(seen)
}

/// The SPIR-V of a pipeline's stage, as it reached the driver.
///
/// # Errors
///
/// It is another driver.
pub fn words(device: &Device<'_>, pipeline: vk::Pipeline, stage: u32) -> Result<Vec<u32>> {
    // SAFETY: the driver gives the command this signature.
    let get = unsafe { transmute::<unsafe extern "system" fn(), GetWords>(look_up(device, c"vkabortDriverWords")?) };
    let mut count = 0;
    // SAFETY: a null array asks for the count.
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
    // SAFETY: the array has as many elements as the count says.
    unsafe { get(device.raw.handle(), pipeline, stage, &raw mut count, words.as_mut_ptr()) }.result()?;
    ensure!(count as usize == words.len(), "the count changed");
    Ok(words)
}

/// The driver's own `vkGetDeviceProcAddr`.
///
/// # Errors
///
/// It is another driver.
pub fn get_device_proc_addr(device: &Device<'_>) -> Result<vk::PFN_vkGetDeviceProcAddr> {
    let found = look_up(device, c"vkabortDriverGetDeviceProcAddr")?;
    // SAFETY: the driver gives the command this signature.
    Ok(unsafe { transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(found) })
}
