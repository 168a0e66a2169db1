//! Other devices, and new devices after a loss.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::{bytes, lost_by, no_reports, run_without_abort};
use crate::shaders::{MARK, Message};
use anyhow::{Result, ensure};
use vkabort_gpu::Enable;
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "recovery.another_device_is_unaffected" => another(gpu), rule(rules::SPECIFIC), after_loss();
    "recovery.devices_have_their_own_messages" => own_messages(gpu), rule(rules::SPECIFIC), after_loss();
    "recovery.lost_device_is_destroyed" => destroy(gpu), rule(rules::HANDLES), after_loss();
    "recovery.new_device_is_healthy" => new_device(gpu), rule(rules::NEW_DEVICE), after_loss();
    "recovery.ten_times" => ten_times(gpu), rule(rules::NEW_DEVICE), after_loss();
};

fn another(gpu: &'static CheckedGpu) -> Result<String> {
    let other = gpu.device(Enable::ABORT)?;
    run_without_abort(other)?;
    lost_by(gpu, Message::Uint, &[3])?;
    run_without_abort(other)?;
    no_reports(
        "vkGetDeviceFaultReportsKHR of the other device",
        other.fault_queries()?.report_count(0),
    )?;
    Ok(String::new())
}

fn own_messages(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, first, _) = lost_by(gpu, Message::Uint, &[3])?;
    let (_, second, _) = lost_by(gpu, Message::Uint, &[4])?;
    let (first, second) = (first.payloads()?, second.payloads()?);
    let expected = [3, 4].map(|i| vec![bytes(&[MARK + i])]);
    ensure!(
        [&first, &second] == [&expected[0], &expected[1]],
        "the first device has {first:?}, the second {second:?}"
    );
    Ok(String::new())
}

fn destroy(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    device.destroy();
    Ok(String::new())
}

fn new_device(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    // While the lost device exists, and after its destruction.
    run_without_abort(gpu.device(Enable::ABORT)?)?;
    device.destroy();
    let device = gpu.device(Enable::ABORT)?;
    run_without_abort(device)?;
    no_reports(
        "vkGetDeviceFaultReportsKHR of the new device",
        device.fault_queries()?.report_count(0),
    )?;
    Ok(String::new())
}

fn ten_times(gpu: &'static CheckedGpu) -> Result<String> {
    for round in 0..10 {
        let (device, fault, _) = lost_by(gpu, Message::Uint, &[round])?;
        let messages = fault.payloads()?;
        ensure!(
            messages == [bytes(&[MARK + round])],
            "in round {round} the messages are {messages:?}"
        );
        device.destroy();
    }
    Ok(String::new())
}
