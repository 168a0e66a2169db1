//! The process continues after a loss with a new device, repeatedly.

use super::support::{GROUPS, check_entry_point, entry_point, expect_no_reports, marked, run_entry_point};
use crate::case::{Case, Context, cases};
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = cases! {
    "recovery::a_new_instance_is_healthy" => new_instance(context);
    "recovery::an_application_with_buffer_device_addresses" => with_addresses(gpu);
};

fn new_instance(context: &Context) -> Result<()> {
    for _ in 0..3 {
        let gpu = Gpu::open(context)?;
        let lost = Device::new(&gpu)?;
        run_entry_point(&lost, true)?;
        // While the lost device exists.
        let device = Device::new(&gpu)?;
        let kernel = entry_point(&device, &marked(&[]))?;
        let result = kernel.run_to_end(GROUPS)?;
        check_entry_point(&device, result, &kernel.words(), &[])?;
        expect_no_reports(&device)?;
    }
    Ok(())
}

fn with_addresses(gpu: &Gpu) -> Result<()> {
    run_entry_point(&Device::with(gpu, DeviceOptions::ADDRESSES)?, true)
}
