//! A process with many live devices, on CPU drivers: each one takes memory for messages and constant data, most of it unused.

use crate::case::{Case, cases};
use crate::memory::resident;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use std::time::Instant;

/// Devices whose costs are compared.
const GROUP: usize = 12;
/// Devices before the second group.
const BEFORE: usize = 128;
/// What the resident memory of a device may differ by, in bytes, from group to group.
const SLACK: usize = 1 << 19;

pub(super) const CASES: &[Case] = cases! {
    // Without a warning: the messages of each have an address that is the same in every run.
    "many_devices::cost_what_the_first_ones_do" => cost(gpu), alone(), in_own_process(), silent();
    "many_devices::cost_what_the_first_ones_do_on_the_test_driver" => cost(gpu), on_driver("kind=cpu"), silent();
};

fn cost(gpu: &Gpu) -> Result<String> {
    let mut devices = Vec::new();
    // Bytes and milliseconds of each device.
    let mut create = |count: usize| -> Result<(usize, f64)> {
        let (start, before) = (Instant::now(), resident()?);
        for _ in 0..count {
            devices.push(Device::new(gpu)?);
        }
        let grown = resident()?.saturating_sub(before);
        Ok((grown / count, start.elapsed().as_secs_f64() * 1e3 / count as f64))
    };
    // The first one also takes what the driver allocates once.
    create(1)?;
    let (first, first_time) = create(GROUP)?;
    create(BEFORE - GROUP - 1)?;
    let (last, last_time) = create(GROUP)?;
    let text =
        format!("{first} bytes and {first_time:.1} ms of each at first, {last} and {last_time:.1} after {BEFORE}");
    ensure!(last <= first + SLACK, "{text}");
    Ok(text)
}
