//! Consistency between runs: the SPIR-V that reaches the driver does not depend on the process. These cases compare within
//! one process; `tests/replay.rs` and `tests/test_driver_processes.rs` compare the cache data that they print.

use super::support::kernel;
use crate::case::{Case, cases};
use crate::cases::binaries::cache_data_of;
use crate::cases::support::without_abort;
use crate::harness::{HAS_DEVICE, HOLD, MAY_END};
use crate::vk::{Device, Gpu, test_driver};
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_binaries::with_replayed_addresses" => same(gpu, false), on_driver("replay");
    "test_driver_binaries::with_imported_memory" => same(gpu, true), on_driver("kind=cpu,import");
    "test_driver_binaries::with_host_addresses" => same(gpu, true), on_driver("kind=cpu");
    "test_driver_binaries::with_a_refused_import" => same(gpu, true), on_driver("kind=cpu,import,refuse=import:*");
    "test_driver_binaries::pipeline_cache_data" => print(device), on_driver("replay");
    "test_driver_binaries::of_three_devices" => of_three_devices(gpu), on_driver("replay");
    "test_driver_binaries::beside_another_device" => beside(gpu), on_driver("replay");
    "test_driver_binaries::while_other_processes_run" => held(device), on_driver("replay");
};

/// SPIR-V of the aborting shader as it reaches the driver.
fn driver_words(device: &Device<'_>) -> Result<Vec<u32>> {
    let kernel = kernel(device)?;
    test_driver::words(device, kernel.pipeline, 0)
}

/// Live devices have separate arenas if they share an address space. A later device reuses the address of a destroyed
/// one.
fn same(gpu: &Gpu, shared: bool) -> Result<()> {
    let first = Device::new(gpu)?;
    let words = driver_words(&first)?;
    let second = Device::new(gpu)?;
    let others = driver_words(&second)?;
    ensure!(!shared || words != others, "two live devices share an arena");
    ensure!(
        driver_words(&second)? == others,
        "the same shader differs on one device"
    );
    drop(first);
    ensure!(
        driver_words(&Device::new(gpu)?)? == words,
        "the next device does not reuse the address of the first one"
    );
    Ok(())
}

fn of_three_devices(gpu: &Gpu) -> Result<()> {
    let devices = [Device::new(gpu)?, Device::new(gpu)?, Device::new(gpu)?];
    devices.iter().try_for_each(print)
}

fn beside(gpu: &Gpu) -> Result<()> {
    let _other = without_abort(gpu)?;
    print(&Device::new(gpu)?)
}

fn held(device: &Device<'_>) -> Result<()> {
    print(device)?;
    if std::env::var_os(HOLD).is_some() {
        std::fs::write(HAS_DEVICE, "")?;
        let start = Instant::now();
        while !Path::new(MAY_END).exists() {
            ensure!(start.elapsed() < Duration::from_secs(50), "no other process arrived");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(())
}

/// Prints the data of a pipeline cache after one pipeline was created.
fn print(device: &Device<'_>) -> Result<()> {
    let data = cache_data_of(device, &["abort/entry_point.comp"])?;
    ensure!(!data.is_empty(), "the cache is empty");
    println!("cache {}", vkabort_record::hex::hex(&data));
    Ok(())
}
