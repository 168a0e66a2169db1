//! `vkGetDeviceFaultDebugInfoKHR`

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::should;
use crate::scenario::{hex, lost_by, run_without_abort, success};
use crate::shaders::Message;
use anyhow::{Result, ensure};
use ash::vk;
use vk_ext::ERROR_NOT_ENOUGH_SPACE;
use vkabort_gpu::{Enable, show};
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "debug_info.sizing_and_filling" => sizing(gpu), rule(rules::SIZING), after_loss();
    "debug_info.the_same_twice" => twice(gpu), rule(rules::FIRST), after_loss();
    "debug_info.short_buffer" => short(gpu), rule(rules::ROOM), after_loss();
    "debug_info.without_the_structure" => bare(gpu), rule(rules::SIZING), after_loss();
    "debug_info.vendor_binary_not_enabled" => vendor_binary(gpu), rule(rules::VENDOR_BINARY), after_loss();
    "debug_info.of_a_healthy_device" => healthy(gpu), rule(rules::NOT_LOST), outside_valid_usage();
};

fn sizing(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (result, size) = fault.message_size();
    success("the sizing call", result)?;
    ensure!(
        (20..=24).contains(&size),
        "the size is {size}, but one message of 12 bytes and its size take 20"
    );
    let filled = fault.fill(size as usize);
    success(&format!("with room for {size} bytes the call"), filled.result)?;
    ensure!(filled.in_bounds, "the call wrote past the buffer");
    should!(
        filled.size <= size,
        "after the call for {size} bytes, messageDataSize is {}",
        filled.size
    );
    let messages = fault.payloads()?.len();
    ensure!(messages == 1, "there are {messages} messages instead of 1");
    Ok(format!("{size} bytes"))
}

fn twice(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let first = (fault.message_size(), fault.payloads()?);
    for _ in 0..3 {
        let again = (fault.message_size(), fault.payloads()?);
        ensure!(again == first, "the first answer was {first:?}, a later one {again:?}");
    }
    Ok(String::new())
}

fn short(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (_, size) = fault.message_size();
    let whole = fault.fill(size as usize).bytes;
    let allowed = [vk::Result::INCOMPLETE, ERROR_NOT_ENOUGH_SPACE];
    let mut last = None;
    for room in [0, 1, 7, 8, 9, 15, 16, 19]
        .into_iter()
        .filter(|&room| room < whole.len())
    {
        let filled = fault.fill(room);
        ensure!(
            filled.in_bounds,
            "with room for {room} bytes the call wrote past the buffer"
        );
        let success = filled.result == vk::Result::SUCCESS;
        ensure!(
            success || allowed.contains(&filled.result),
            "with room for {room} of {size} bytes the call returned {}",
            show(filled.result)
        );
        should!(
            !success,
            "with room for {room} of {size} bytes the call returned VK_SUCCESS: an application cannot detect the missing data"
        );
        let written = usize::try_from(filled.size).unwrap_or(usize::MAX);
        should!(
            written <= room,
            "with room for {room} bytes the call set messageDataSize to {written}, which exceeds the room"
        );
        should!(
            whole.starts_with(filled.bytes.get(..written).unwrap_or_default()),
            "with room for {room} bytes the call wrote {}, which is not a prefix of the messages",
            hex(&filled.bytes)
        );
        last = Some(filled.result);
    }
    // Short buffers consume nothing.
    ensure!(fault.message_size() == (vk::Result::SUCCESS, size), "the size changed");
    ensure!(fault.fill(size as usize).bytes == whole, "the messages changed");
    Ok(last.map(show).unwrap_or_default())
}

fn bare(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    success("the call", fault.bare())?;
    ensure!(fault.payloads()?.len() == 1, "the message is no longer available");
    Ok(String::new())
}

fn vendor_binary(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Whole, &[4])?;
    let (result, size, untouched) = fault.vendor_binary();
    success("the call", result)?;
    ensure!(size == 0, "vendorBinarySize is {size}");
    ensure!(untouched, "the call wrote to pVendorBinaryData");
    Ok(String::new())
}

fn healthy(gpu: &'static CheckedGpu) -> Result<String> {
    let device = gpu.device(Enable::ABORT)?;
    run_without_abort(device)?;
    let (result, size) = device.fault_queries()?.message_size();
    should!(
        result == vk::Result::SUCCESS && size == 0,
        "the call returned {} and a size of {size}",
        show(result)
    );
    Ok(String::new())
}
