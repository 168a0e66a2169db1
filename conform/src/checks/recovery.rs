//! Other devices, and new devices after a loss.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu};
use crate::rules;
use crate::scenario::{bytes, lost_by, no_reports, run_without_abort};
use crate::shaders::{MARK, Message};
use crate::verdict::{CheckOutput, hold};

pub(super) const CHECKS: &[Check] = &[
    Check::lost("recovery.another_device_is_unaffected", rules::SPECIFIC, another),
    Check::lost(
        "recovery.devices_have_their_own_messages",
        rules::SPECIFIC,
        own_messages,
    ),
    Check::lost("recovery.lost_device_is_destroyed", rules::HANDLES, destroy),
    Check::lost("recovery.new_device_is_healthy", rules::NEW_DEVICE, new_device),
    Check::lost("recovery.ten_times", rules::NEW_DEVICE, ten_times),
];

fn another(gpu: &'static Gpu) -> CheckOutput {
    let other = Device::new(gpu, Enable::ABORT)?;
    run_without_abort(other)?;
    lost_by(gpu, Message::Uint, &[3])?;
    run_without_abort(other)?;
    no_reports(
        "vkGetDeviceFaultReportsKHR of the other device",
        other.fault()?.report_count(0),
    )?;
    Ok(String::new())
}

fn own_messages(gpu: &'static Gpu) -> CheckOutput {
    let (_, first, _) = lost_by(gpu, Message::Uint, &[3])?;
    let (_, second, _) = lost_by(gpu, Message::Uint, &[4])?;
    let (first, second) = (first.payloads()?, second.payloads()?);
    let expected = [3, 4].map(|i| vec![bytes(&[MARK + i])]);
    hold!(
        [&first, &second] == [&expected[0], &expected[1]],
        "the first device has {first:?}, the second {second:?}"
    );
    Ok(String::new())
}

fn destroy(gpu: &'static Gpu) -> CheckOutput {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    device.destroy();
    Ok(String::new())
}

fn new_device(gpu: &'static Gpu) -> CheckOutput {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    // While the lost device exists, and after its destruction.
    run_without_abort(Device::new(gpu, Enable::ABORT)?)?;
    device.destroy();
    let device = Device::new(gpu, Enable::ABORT)?;
    run_without_abort(device)?;
    no_reports(
        "vkGetDeviceFaultReportsKHR of the new device",
        device.fault()?.report_count(0),
    )?;
    Ok(String::new())
}

fn ten_times(gpu: &'static Gpu) -> CheckOutput {
    for round in 0..10 {
        let (device, fault, _) = lost_by(gpu, Message::Uint, &[round])?;
        let messages = fault.payloads()?;
        hold!(
            messages == [bytes(&[MARK + round])],
            "in round {round} the messages are {messages:?}"
        );
        device.destroy();
    }
    Ok(String::new())
}
