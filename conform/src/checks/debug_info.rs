//! `vkGetDeviceFaultDebugInfoKHR`

use super::{Check, Checked, Device, Enable, Gpu, Message, hex, hold, lost_by, show};
use crate::gpu::NOT_ENOUGH_SPACE;
use crate::rules;
use crate::verdict::should;
use ash::vk;

pub(super) const CHECKS: &[Check] = &[
    Check::lost("debug_info.sizing_and_filling", rules::SIZING, sizing),
    Check::lost("debug_info.the_same_twice", rules::FIRST, twice),
    Check::lost("debug_info.short_buffer", rules::ROOM, short),
    Check::lost("debug_info.without_the_structure", rules::SIZING, bare),
    Check::lost(
        "debug_info.vendor_binary_not_enabled",
        rules::VENDOR_BINARY,
        vendor_binary,
    ),
    Check {
        beyond_valid_usage: true,
        ..Check::new("debug_info.of_a_healthy_device", rules::NOT_LOST, healthy)
    },
];

fn sizing(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (result, size) = fault.message_size();
    hold!(
        result == vk::Result::SUCCESS,
        "asked for the size, it returned {}",
        show(result)
    );
    hold!(
        (20..=24).contains(&size),
        "the size is {size}; one message of 12 bytes with its size needs 20"
    );
    let filled = fault.fill(size as usize);
    hold!(
        filled.result == vk::Result::SUCCESS,
        "given {size} bytes, it returned {}",
        show(filled.result)
    );
    hold!(filled.in_bounds, "it wrote past the buffer");
    should!(
        filled.size <= size,
        "after filling {size} bytes, messageDataSize is {}",
        filled.size
    );
    let messages = fault.payloads()?.len();
    hold!(messages == 1, "there are {messages} messages");
    Ok(format!("{size} bytes"))
}

fn twice(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let first = (fault.message_size(), fault.payloads()?);
    for _ in 0..3 {
        let again = (fault.message_size(), fault.payloads()?);
        hold!(again == first, "the first answer was {first:?}, a later one {again:?}");
    }
    Ok(String::new())
}

fn short(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (_, size) = fault.message_size();
    let whole = fault.fill(size as usize).bytes;
    let allowed = [vk::Result::INCOMPLETE, NOT_ENOUGH_SPACE];
    let mut said = None;
    for room in [0, 1, 7, 8, 9, 15, 16, 19]
        .into_iter()
        .filter(|&room| room < whole.len())
    {
        let filled = fault.fill(room);
        hold!(filled.in_bounds, "with room for {room} bytes, it wrote past them");
        let success = filled.result == vk::Result::SUCCESS;
        hold!(
            success || allowed.contains(&filled.result),
            "with room for {room} of {size} bytes it returned {}",
            show(filled.result)
        );
        should!(
            !success,
            "with room for {room} of {size} bytes it returned VK_SUCCESS: a program cannot know that something is missing"
        );
        let written = usize::try_from(filled.size).unwrap_or(usize::MAX);
        should!(
            written <= room,
            "with room for {room} bytes, messageDataSize became {written}: more than it can have written"
        );
        should!(
            whole.starts_with(filled.bytes.get(..written).unwrap_or_default()),
            "with room for {room} bytes it wrote {}: not what the messages start with",
            hex(&filled.bytes)
        );
        said = Some(filled.result);
    }
    // The sizing call still says the whole size, and nothing was used up.
    hold!(fault.message_size() == (vk::Result::SUCCESS, size), "the size changed");
    hold!(fault.fill(size as usize).bytes == whole, "the messages changed");
    Ok(said.map(show).unwrap_or_default())
}

fn bare(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let result = fault.bare();
    hold!(result == vk::Result::SUCCESS, "it returned {}", show(result));
    hold!(fault.payloads()?.len() == 1, "the message is gone");
    Ok(String::new())
}

fn vendor_binary(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (result, size, untouched) = fault.vendor_binary();
    hold!(result == vk::Result::SUCCESS, "it returned {}", show(result));
    hold!(size == 0, "vendorBinarySize is {size}");
    hold!(untouched, "pVendorBinaryData was written");
    Ok(String::new())
}

fn healthy(gpu: &'static Gpu) -> Checked {
    let device = Device::new(gpu, Enable::ABORT)?;
    super::runs(device)?;
    let (result, size) = device.fault()?.message_size();
    should!(
        result == vk::Result::SUCCESS && size == 0,
        "it returned {} and a size of {size}",
        show(result)
    );
    Ok(String::new())
}
