//! Losses of the driver's own: "a device is lost" whoever says so, and the KHR queries tell what the driver knows.

use super::{Extra, aborting, device_with, lose, with_kernel};
use crate::case::{Case, Context};
use crate::vk::khr::{FaultDebugInfo, fault_flags};
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk::{self, TaggedStructure};
use std::ptr;

pub(super) const CASES: &[Case] = &[
    Case::new("own_loss::in_a_submission", forwarded).on_driver("lose=submit:1"),
    Case::new("own_loss::in_execution", forwarded).on_driver("lose=execute:1"),
    Case::new("own_loss::in_a_wait", forwarded).on_driver("lose=wait:1"),
    Case::new("own_loss::of_a_driver_without_details_is_one_report", one_report)
        .on_driver("lose=execute:1")
        .validated(),
    Case::new("own_loss::details_of_the_driver_come_first", details)
        .on_driver("lose=execute:1,ext_fault")
        .validated()
        .logs(&["the test driver has lost the device"]),
    Case::new("own_loss::the_vendor_binary_is_whole_or_not_there", vendor_binary).on_driver("lose=execute:1,ext_fault"),
    Case::new(
        "own_loss::without_the_feature_there_is_no_vendor_binary",
        no_vendor_binary,
    )
    .on_driver("lose=execute:1,ext_fault"),
    Case::new("own_loss::after_an_abort_the_message_stays", abort_then_loss)
        .on_driver("abort=1,lose=execute:1,ext_fault")
        .validated(),
    Case::new(
        "own_loss::an_application_with_the_older_extension_hears_of_the_drivers_loss",
        |c| older(c, true),
    )
    .on_driver("lose=execute:1,ext_fault"),
    Case::new(
        "own_loss::an_application_with_the_older_extension_hears_of_an_abort",
        |c| older(c, false),
    )
    .on_driver("abort=1,ext_fault"),
    Case::new("own_loss::a_native_driver_reports_itself", native)
        .on_driver("native=abort+fault+data,lose=execute:1")
        .validated(),
    Case::new("own_loss::counts_beyond_the_buffers_do_no_harm", lies)
        .on_driver("native=abort+fault+data,abort=1,messages=3,bad=counts")
        .validated()
        .logs(&["submission 1, message 0"]),
    Case::new("own_loss::a_driver_that_never_has_room_does_no_harm", lies)
        .on_driver("native=abort+fault+data,abort=1,messages=3,bad=incomplete")
        .validated(),
];

/// "Once a device is lost, commands return `VK_ERROR_DEVICE_LOST`": for ever, and without a message.
fn forwarded(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let submission = lose(kernel)?;
        for _ in 0..3 {
            let again = [submission.submit(), submission.wait()];
            ensure!(again == [vk::Result::ERROR_DEVICE_LOST; 2], "{again:?}");
        }
        let payloads = device.payloads()?;
        ensure!(payloads.is_empty(), "{payloads:?}");
        // A new device on the same physical device is not lost: "creating a new logical device may succeed".
        let next = Device::new(device.gpu)?;
        // SAFETY: no other thread uses the device.
        unsafe { next.raw.device_wait_idle() }?;
        Ok(())
    })
}

fn one_report(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let (result, reports) = device.fault()?.reports(0, 10);
        ensure!(
            result == vk::Result::SUCCESS && reports.len() == 1,
            "{result:?}, {reports:?}"
        );
        ensure!(reports[0].flags == fault_flags::DEVICE_LOST, "{reports:?}");
        Ok(())
    })
}

/// Two addresses, one vendor record, and the report that says that the device is lost, "the last one".
fn details(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let (result, reports) = device.fault()?.reports(0, 10);
        ensure!(result == vk::Result::SUCCESS, "{result:?}");
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
        ensure!(
            (memory.reported_address, memory.address_precision) == (0xDEAD_0000, 4096),
            "{memory:?}"
        );
        ensure!(
            reports[1].instruction_address_info.reported_address == 0xC0DE_0040,
            "{:?}",
            reports[1]
        );
        let vendor = reports[2].vendor_info;
        ensure!(
            (vendor.vendor_fault_code, vendor.vendor_fault_data) == (7, 77),
            "{vendor:?}"
        );
        ensure!(reports[3].text().contains("the test driver"), "{:?}", reports[3].text());
        Ok(())
    })
}

/// A device with the feature for vendor binaries, lost. Its commands.
fn with_binaries(
    context: &Context,
    wanted: bool,
    check: impl FnOnce(&dyn Fn(u32, *mut u8) -> (vk::Result, u32)) -> Result<()>,
) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = device_with(
        &gpu,
        &Extra {
            vendor_binary: wanted,
            ..Extra::default()
        },
    )?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let kernel = Kernel::new(&device, &aborting()?, &[&buffer])?;
    let _submission = lose(&kernel)?;
    let commands = device.fault()?;
    check(&|size, data| {
        let mut info = FaultDebugInfo {
            s_type: <FaultDebugInfo as TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            vendor_binary_size: size,
            p_vendor_binary_data: data.cast(),
        };
        // SAFETY: the structure is valid, and the data null or as long as it says.
        let result = unsafe { (commands.get_debug_info)(commands.device, &raw mut info) };
        (result, info.vendor_binary_size)
    })
}

fn vendor_binary(context: &Context) -> Result<()> {
    with_binaries(context, true, |ask| {
        ensure!(
            ask(0, ptr::null_mut()) == (vk::Result::SUCCESS, 96),
            "{:?}",
            ask(0, ptr::null_mut())
        );
        let mut first = [0xCD; 128];
        ensure!(ask(128, first.as_mut_ptr()) == (vk::Result::SUCCESS, 96), "not filled");
        ensure!((8..96).all(|i| first[i] == i as u8), "{first:?}");
        ensure!(first[96..].iter().all(|byte| *byte == 0xCD), "overrun");
        let mut again = [0xCD; 128];
        ensure!(
            ask(96, again.as_mut_ptr()) == (vk::Result::SUCCESS, 96) && again == first,
            "another answer"
        );
        for room in [0, 1, 95] {
            let mut short = [0xCD; 128];
            let (result, size) = ask(room, short.as_mut_ptr());
            // "VK_ERROR_NOT_ENOUGH_SPACE_KHR is returned if not enough space was provided", and nothing is written.
            ensure!(
                result.as_raw() == -1_000_483_000 && size == 0,
                "{result:?}, {size} with room for {room}"
            );
            ensure!(short == [0xCD; 128], "something was written with room for {room}");
        }
        Ok(())
    })
}

fn no_vendor_binary(context: &Context) -> Result<()> {
    with_binaries(context, false, |ask| {
        ensure!(ask(0, ptr::null_mut()) == (vk::Result::SUCCESS, 0), "there is a binary");
        Ok(())
    })
}

/// `vkGetDeviceFaultInfoEXT`: what the driver knows of its own loss; of an abort a description and nothing else, since "the
/// device must be in the lost state" for the driver to be asked.
fn older(context: &Context, by_driver: bool) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = device_with(
        &gpu,
        &Extra {
            extensions: &[ash::ext::device_fault::NAME],
            ..Extra::default()
        },
    )?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let kernel = Kernel::new(&device, &aborting()?, &[&buffer])?;
    let _submission = lose(&kernel)?;
    let commands = ash::ext::device_fault::Device::new(&gpu.instance, &device.raw);
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
    // SAFETY: the arrays have as many elements as the counts say.
    unsafe { get(handle, &raw mut counts, &raw mut info) }.result()?;
    let said = info.description_as_c_str()?.to_string_lossy().into_owned();
    let expected = if by_driver {
        "the test driver"
    } else {
        "submission 1, message 0"
    };
    ensure!(said.contains(expected), "{said:?}");
    Ok(())
}

fn abort_then_loss(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let payloads = device.payloads()?;
        ensure!(payloads == [super::payload(1, 0)], "{payloads:?}");
        let (_, reports) = device.fault()?.reports(0, 10);
        let last = reports.last().map(|report| report.flags);
        ensure!(last == Some(fault_flags::DEVICE_LOST), "{reports:?}");
        Ok(())
    })
}

fn native(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let (result, reports) = device.fault()?.reports(u64::MAX, 10);
        ensure!(
            result == vk::Result::SUCCESS && reports.len() == 1,
            "{result:?}, {reports:?}"
        );
        ensure!(
            reports[0].text() == "the test driver has lost the device",
            "{:?}",
            reports[0].text()
        );
        Ok(())
    })
}

/// Whatever the driver answers, the application gets it as it is, and the layer, which asks too, survives.
fn lies(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let (result, size) = device.fault()?.message_size();
        ensure!(result == vk::Result::SUCCESS && size > 0, "{result:?}, {size}");
        let mut room = vec![0; usize::try_from(size)?];
        let (result, _) = device.fault()?.messages_into(&mut room);
        ensure!(
            result == vk::Result::SUCCESS || result == vk::Result::INCOMPLETE,
            "{result:?}"
        );
        ensure!(room.starts_with(&24u64.to_ne_bytes()), "{room:?}");
        Ok(())
    })
}
