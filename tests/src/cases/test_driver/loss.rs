//! Losses that the driver reports: "a device is lost" regardless of the cause, and the KHR queries forward the driver's details.

use super::support::{Extra, device_with, expect_loss_only, kernel, lose, payload, vendor_binary};
use crate::case::{Case, cases};
use crate::cases::support::{expect_payloads, reports};
use crate::vk::khr::{self, fault_flags};
use crate::vk::{Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_loss::in_a_submission" => forwarded(kernel), on_driver("lose=submit:1");
    "test_driver_loss::in_execution" => forwarded(kernel), on_driver("lose=execute:1");
    "test_driver_loss::in_a_wait" => forwarded(kernel), on_driver("lose=wait:1");
    "test_driver_loss::of_a_driver_without_details_is_one_report" => one_report(kernel),
        on_driver("lose=execute:1"), validated();
    "test_driver_loss::details_of_the_driver_come_first" => details(kernel),
        on_driver("lose=execute:1,ext_fault"), validated(), logs(&["the test driver has lost the device"]);
    "test_driver_loss::the_vendor_binary_is_complete_or_absent" => with_binaries(gpu, true, complete_or_absent),
        on_driver("lose=execute:1,ext_fault");
    "test_driver_loss::without_the_feature_there_is_no_vendor_binary" => with_binaries(gpu, false, no_binary),
        on_driver("lose=execute:1,ext_fault");
    "test_driver_loss::the_message_survives_a_loss_after_the_abort" => abort_then_loss(kernel),
        on_driver("abort=1,lose=execute:1,ext_fault"), validated(), logs(&["the driver lost the device, not the layer"]);
    "test_driver_loss::an_application_with_the_older_extension_sees_a_loss_of_the_driver" => older(gpu, true),
        on_driver("lose=execute:1,ext_fault");
    "test_driver_loss::an_application_with_the_older_extension_sees_an_abort" => older(gpu, false),
        on_driver("abort=1,ext_fault");
    "test_driver_loss::a_native_driver_reports_itself" => native(kernel),
        on_driver("native=abort+fault+data,lose=execute:1"), validated();
    "test_driver_loss::counts_beyond_the_buffers_are_harmless" => wrong_answers(kernel),
        on_driver("native=abort+fault+data,abort=1,messages=3,bad=counts"), validated(),
        logs(&["submission 1, message 0"]);
    "test_driver_loss::a_driver_that_is_always_incomplete_is_harmless" => wrong_answers(kernel),
        on_driver("native=abort+fault+data,abort=1,messages=3,bad=incomplete"), validated();
};

/// "Once a device is lost, commands return `VK_ERROR_DEVICE_LOST`": permanently, and without a message.
fn forwarded(kernel: &Kernel<'_>) -> Result<()> {
    let submission = lose(kernel)?;
    for _ in 0..3 {
        let again = [submission.submit(), submission.wait()];
        ensure!(again == [vk::Result::ERROR_DEVICE_LOST; 2], "{again:?}");
    }
    expect_payloads(kernel.device, &[])?;
    // A new device on the same physical device is not lost: "creating a new logical device may succeed".
    let next = Device::new(kernel.device.gpu)?;
    next.wait_idle()?;
    Ok(())
}

fn one_report(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    expect_loss_only(kernel.device)
}

/// Two addresses, one vendor record, and last the report of the loss.
fn details(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    let reports = reports(kernel.device)?;
    let flags: Vec<u32> = reports.iter().map(|report| report.flags).collect();
    let expected = [
        fault_flags::MEMORY_ADDRESS,
        fault_flags::INSTRUCTION_ADDRESS,
        fault_flags::VENDOR,
        fault_flags::DEVICE_LOST,
    ];
    ensure!(flags == expected, "{flags:x?}");
    ensure!(
        reports.iter().all(|report| report.group_id == reports[0].group_id),
        "groups differ"
    );
    let memory = reports[0].fault_address_info;
    let memory = (memory.reported_address, memory.address_precision);
    ensure!(memory == (0xDEAD_0000, 4096));
    let instruction = reports[1].instruction_address_info;
    ensure!(instruction.reported_address == 0xC0DE_0040);
    let vendor = reports[2].vendor_info;
    ensure!((vendor.vendor_fault_code, vendor.vendor_fault_data) == (7, 77));
    ensure!(reports[3].text().contains("the test driver"), "{:?}", reports[3].text());
    Ok(())
}

/// Loses a device with or without the feature of vendor binaries, then calls `check`.
fn with_binaries(gpu: &Gpu, has_feature: bool, check: fn(&Device<'_>) -> Result<()>) -> Result<()> {
    let extra = Extra {
        vendor_binary: has_feature,
        ..Extra::default()
    };
    let device = &device_with(gpu, &extra)?;
    let kernel = &kernel(device)?;
    let _submission = lose(kernel)?;
    check(device)
}

fn complete_or_absent(device: &Device<'_>) -> Result<()> {
    ensure!(vendor_binary(device, 0, None)? == (vk::Result::SUCCESS, 96));
    let mut first = [0xCD; 128];
    ensure!(vendor_binary(device, 128, Some(&mut first))? == (vk::Result::SUCCESS, 96));
    ensure!((8..96).all(|i| first[i] == i as u8), "{first:?}");
    ensure!(first[96..].iter().all(|byte| *byte == 0xCD), "overrun");
    let mut again = [0xCD; 128];
    ensure!(vendor_binary(device, 96, Some(&mut again))? == (vk::Result::SUCCESS, 96));
    ensure!(again == first, "the second answer differs");
    for room in [0, 1, 95] {
        let mut short = [0xCD; 128];
        let (result, size) = vendor_binary(device, room, Some(&mut short))?;
        // Without enough space nothing is written.
        ensure!(
            result == khr::ERROR_NOT_ENOUGH_SPACE && size == 0,
            "{result:?}, {size} with room for {room}"
        );
        ensure!(short == [0xCD; 128], "something was written with room for {room}");
    }
    Ok(())
}

fn no_binary(device: &Device<'_>) -> Result<()> {
    ensure!(vendor_binary(device, 0, None)? == (vk::Result::SUCCESS, 0));
    Ok(())
}

/// `vkGetDeviceFaultInfoEXT` returns the driver's details of its own loss. For an abort it returns only a description,
/// because the driver may be queried only if "the device is in the lost state".
fn older(gpu: &Gpu, by_driver: bool) -> Result<()> {
    let device = &device_with(gpu, &Extra::extensions(&[ash::ext::device_fault::NAME]))?;
    let kernel = &kernel(device)?;
    let _submission = lose(kernel)?;
    let commands = ash::ext::device_fault::Device::new(&device.gpu.instance, &device.raw);
    let get = commands.fp().get_device_fault_info_ext;
    let handle = device.raw.handle();
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: a null structure asks for the counts.
    unsafe { get(handle, &raw mut counts, ptr::null_mut()) }.result()?;
    let found = (counts.address_info_count, counts.vendor_info_count);
    ensure!(found == if by_driver { (2, 1) } else { (0, 0) }, "{counts:?}");
    let mut addresses = [vk::DeviceFaultAddressInfoEXT::default(); 2];
    let mut vendors = [vk::DeviceFaultVendorInfoEXT::default(); 1];
    counts.vendor_binary_size = 0;
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendors.as_mut_ptr(),
        ..Default::default()
    };
    // SAFETY: the arrays have as many elements as `counts` says.
    unsafe { get(handle, &raw mut counts, &raw mut info) }.result()?;
    let description = info.description_as_c_str()?.to_string_lossy().into_owned();
    let expected = if by_driver {
        "the test driver"
    } else {
        "submission 1, message 0"
    };
    ensure!(description.contains(expected), "{description:?}");
    Ok(())
}

fn abort_then_loss(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    expect_payloads(kernel.device, &[payload(1, 0)])?;
    let reports = reports(kernel.device)?;
    let last = reports.last().map(|report| report.flags);
    ensure!(last == Some(fault_flags::DEVICE_LOST), "{reports:?}");
    Ok(())
}

fn native(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    let (result, reports) = kernel.device.fault()?.reports(u64::MAX, 10);
    ensure!((result, reports.len()) == (vk::Result::SUCCESS, 1));
    ensure!(reports[0].text() == "the test driver has lost the device");
    Ok(())
}

/// The application receives the driver's wrong answers unchanged, and the layer, which queries too, survives them.
fn wrong_answers(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    let (result, size) = kernel.device.fault()?.message_size();
    ensure!(result == vk::Result::SUCCESS && size > 0, "{result:?}, {size}");
    let mut room = vec![0; usize::try_from(size)?];
    let (result, _) = kernel.device.fault()?.messages_into(&mut room);
    ensure!(
        result == vk::Result::SUCCESS || result == vk::Result::INCOMPLETE,
        "{result:?}"
    );
    ensure!(room.starts_with(&24u64.to_ne_bytes()), "{room:?}");
    Ok(())
}
