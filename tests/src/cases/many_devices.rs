//! A process with many live devices, on CPU drivers: each one takes memory for messages and constant data, most of it unused.

use crate::case::{Case, Skip, cases};
use crate::memory::resident;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};

/// Devices whose costs are compared.
const GROUP: usize = 12;
/// Devices before the second group.
const BEFORE: usize = 128;
/// Tolerance of the resident memory of a device, in bytes, from group to group. Memory that the driver's threads keep differs by
/// hundreds of KiB from run to run; a device without an address of its own takes 18 MiB more.
const SLACK: usize = 4 << 20;

pub(super) const CASES: &[Case] = cases! {
    // Without a warning: the messages of each have an address that is the same in every run.
    "many_devices::cost_what_the_first_ones_do" => cost(gpu), alone(), in_own_process(), silent();
    "many_devices::cost_what_the_first_ones_do_on_the_test_driver" => cost(gpu), on_driver("kind=cpu"), silent();
};

fn cost(gpu: &Gpu) -> Result<String> {
    let reason = if cfg!(sanitized) {
        "a sanitizer leaves the process few addresses, and its own memory counts"
    } else if cfg!(not(target_pointer_width = "64")) {
        "a 32-bit program has no addresses for so many devices"
    } else {
        ""
    };
    if !reason.is_empty() {
        return Err(Skip(reason.to_owned()).into());
    }
    let mut devices = Vec::new();
    // Bytes of each device.
    let mut create = |count: usize| -> Result<usize> {
        let before = resident()?;
        for _ in 0..count {
            devices.push(Device::new(gpu)?);
        }
        Ok(resident()?.saturating_sub(before) / count)
    };
    // The first one also takes what the driver allocates once.
    create(1)?;
    let first = create(GROUP)?;
    create(BEFORE - GROUP - 1)?;
    let last = create(GROUP)?;
    let text = format!("{first} bytes of each at first, {last} after {BEFORE}");
    ensure!(last <= first + SLACK, "{text}");
    Ok(text)
}
