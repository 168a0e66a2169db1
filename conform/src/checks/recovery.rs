//! Other devices, and life after a loss.

use super::{Check, Checked, Device, Enable, Gpu, Message, hold, lost_by, runs, show};
use crate::rules;
use ash::vk;

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

fn another(gpu: &'static Gpu) -> Checked {
    let other = Device::new(gpu, Enable::ABORT)?;
    runs(other)?;
    lost_by(gpu, Message::Uint, &[3])?;
    runs(other)?;
    let (result, count) = other.fault()?.count(0);
    hold!(
        result == vk::Result::TIMEOUT && count == 0,
        "the other device has {count} reports ({})",
        show(result)
    );
    Ok(String::new())
}

fn own_messages(gpu: &'static Gpu) -> Checked {
    let (_, first, _) = lost_by(gpu, Message::Uint, &[3])?;
    let (_, second, _) = lost_by(gpu, Message::Uint, &[4])?;
    let (first, second) = (first.payloads()?, second.payloads()?);
    let expected = [3, 4].map(|i| vec![super::bytes(&[super::MARK + i])]);
    hold!(
        [&first, &second] == [&expected[0], &expected[1]],
        "the first device has {first:?}, the second {second:?}"
    );
    Ok(String::new())
}

fn destroy(gpu: &'static Gpu) -> Checked {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    device.destroy();
    Ok(String::new())
}

fn new_device(gpu: &'static Gpu) -> Checked {
    let (device, ..) = lost_by(gpu, Message::Uint, &[3])?;
    // Beside the lost one, and after it.
    runs(Device::new(gpu, Enable::ABORT)?)?;
    device.destroy();
    let device = Device::new(gpu, Enable::ABORT)?;
    runs(device)?;
    let (result, count) = device.fault()?.count(0);
    hold!(
        result == vk::Result::TIMEOUT && count == 0,
        "the new device has {count} reports ({})",
        show(result)
    );
    Ok(String::new())
}

fn ten_times(gpu: &'static Gpu) -> Checked {
    for round in 0..10 {
        let (device, fault, _) = lost_by(gpu, Message::Uint, &[round])?;
        let messages = fault.payloads()?;
        hold!(
            messages == [super::bytes(&[super::MARK + round])],
            "in round {round} the messages are {messages:?}"
        );
        device.destroy();
    }
    Ok(String::new())
}
