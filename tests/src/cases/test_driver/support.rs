//! Helpers for the cases on the test driver.

use crate::cases::support::{GROUPS, entry_point, expect_end, expect_lost, expect_payloads, reports};
use crate::glsl;
use crate::vk::{Device, Gpu, Kernel, Submission, WordKernel, khr};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CStr;

/// A shader that aborts whenever the driver is set to.
pub(super) fn aborting() -> Result<Vec<u32>> {
    glsl::compile("abort/entry_point.comp")
}

/// A kernel that aborts whenever the driver is set to.
pub(super) fn kernel<'device>(device: &'device Device<'device>) -> Result<WordKernel<'device>> {
    entry_point(device, &[0; 64])
}

/// Checks that the loss of the device is its only report.
pub(super) fn expect_loss_only(device: &Device<'_>) -> Result<()> {
    let flags: Vec<u32> = reports(device)?.iter().map(|report| report.flags).collect();
    ensure!(flags == [khr::fault_flags::DEVICE_LOST], "{flags:x?}");
    Ok(())
}

/// Checks that none of the extensions is advertised.
pub(super) fn not_advertised(gpu: &Gpu) -> Result<()> {
    for name in khr::EXTENSION_NAMES {
        ensure!(!gpu.has_extension(name)?, "{name:?} is listed");
    }
    Ok(())
}

/// Queries the vendor binary of a lost device into `data`, or its size into nothing. Returns the result and
/// `vendorBinarySize`.
pub(super) fn vendor_binary(device: &Device<'_>, size: u32, data: Option<&mut [u8]>) -> Result<(vk::Result, u32)> {
    let room = data.as_ref().map_or(0, |data| data.len());
    ensure!(size as usize <= room, "{size} bytes of {room}");
    let mut info = khr::FaultDebugInfo {
        s_type: <khr::FaultDebugInfo as vk::TaggedStructure>::STRUCTURE_TYPE,
        p_next: std::ptr::null_mut(),
        vendor_binary_size: size,
        p_vendor_binary_data: data.map_or(std::ptr::null_mut(), |data| data.as_mut_ptr().cast()),
    };
    let commands = device.fault()?;
    // SAFETY: the structure is valid; its data pointer is null or refers to at least `size` bytes.
    let result = unsafe { (commands.get_debug_info)(commands.device, &raw mut info) };
    Ok((result, info.vendor_binary_size))
}

/// Runs a kernel of the first submission, and checks its result and the message of an abort.
pub(super) fn run_first(kernel: &Kernel<'_>, aborts: bool) -> Result<()> {
    let (_submission, result) = kernel.run(1)?;
    expect_end(result, aborts)?;
    match aborts {
        true => expect_payloads(kernel.device, &[payload(1, 0)]),
        false => Ok(()),
    }
}

/// Loses a device and checks its messages.
pub(super) fn lose_with(device: &Device<'_>, expected: &[Vec<u8>]) -> Result<()> {
    let kernel = kernel(device)?;
    let _submission = lose(&kernel)?;
    expect_payloads(device, expected)
}

/// Features and queues of a device besides the three extensions.
#[derive(Default)]
pub(super) struct Extra<'a> {
    /// Further extensions.
    pub(super) extensions: &'a [&'a CStr],
    /// `deviceFaultVendorBinary`.
    pub(super) vendor_binary: bool,
    /// `deviceFaultReportMasked`.
    pub(super) report_masked: bool,
    /// Queues of the first family beside the first one.
    pub(super) queues: usize,
    /// A protected queue of the first family.
    pub(super) protected: bool,
}

impl<'a> Extra<'a> {
    /// Further extensions.
    pub(super) fn extensions(extensions: &'a [&'a CStr]) -> Self {
        Self {
            extensions,
            ..Self::default()
        }
    }
}

/// A device with the three extensions and more.
pub(super) fn device_with<'gpu>(gpu: &'gpu Gpu, extra: &Extra<'_>) -> Result<Device<'gpu>> {
    let priorities = vec![1.0; 1 + extra.queues];
    let ordinary = vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities);
    let queues = [ordinary, ordinary.flags(vk::DeviceQueueCreateFlags::PROTECTED)];
    let queues = &queues[..1 + usize::from(extra.protected)];
    let names = khr::EXTENSION_NAMES.iter().chain(extra.extensions);
    let names: Vec<_> = names.map(|name| name.as_ptr()).collect();
    let mut newer = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut abort = khr::ShaderAbortFeatures::new(true);
    let mut data = khr::ShaderConstantDataFeatures::new(true);
    let mut fault = khr::FaultFeatures {
        device_fault_vendor_binary: extra.vendor_binary.into(),
        device_fault_report_masked: extra.report_masked.into(),
        ..khr::FaultFeatures::new(true)
    };
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(queues)
        .enabled_extension_names(&names)
        .push_next(&mut newer)
        .push_next(&mut abort)
        .push_next(&mut data)
        .push_next(&mut fault);
    Device::create(gpu, &info, 0)
}

/// Runs a dispatch and expects a lost device. The submission lives until the caller drops it.
pub(super) fn lose<'device>(kernel: &Kernel<'device>) -> Result<Submission<'device>> {
    let (submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    Ok(submission)
}

/// Payload that the driver writes for message `index` of submission `number`.
pub(super) fn payload(number: u32, index: u32) -> Vec<u8> {
    let mut text = format!("submission {number}, message {index}").into_bytes();
    text.resize((text.len() + 1).next_multiple_of(4), 0);
    text
}
