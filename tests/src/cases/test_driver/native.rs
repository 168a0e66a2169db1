//! Drivers with all, some or none of the three extensions, under each value of `emulation`.

use super::support::{aborting, kernel, lose, lose_with, payload};
use crate::assembly;
use crate::case::{Case, Context, cases};
use crate::cases::objects::{error_code, message_limit};
use crate::cases::support::{expect_payloads, reports, without_abort};
use crate::vk::khr::{self, ShaderAbortFeatures, fault_flags};
use crate::vk::{Device, DeviceOptions, ExtraDeviceInfo, Gpu, WordKernel, test_driver};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use vkabort_oracle::op;
use vkabort_oracle::words::instructions;

/// Expected behaviour for a driver and a setting.
struct Expected {
    /// Whether abort, fault and constant data are listed.
    listed: [bool; 3],
    /// Shaders reach the driver unchanged, and the driver itself loses the device.
    by_driver: bool,
}

const ALL: [bool; 3] = [true; 3];

macro_rules! matrix {
    ($($driver:literal $native:literal: auto $auto:expr, force $force:expr, off $off:expr;)*) => {
        &[$(
            matrix!(@case concat!("test_driver_native::", $driver, "_under_auto"), $native, "auto", $auto),
            matrix!(@case concat!("test_driver_native::", $driver, "_under_force"), $native, "force", $force),
            matrix!(@case concat!("test_driver_native::", $driver, "_under_off"), $native, "off", $off),
        )*]
    };
    (@case $name:expr, $native:literal, $emulation:literal, $expected:expr) => {
        cases! {
            $name => check(gpu, &$expected),
                on_driver(concat!($native, "abort=*")), with(&[("VK_SHADER_ABORT_EMULATION", $emulation)]);
        }[0]
    };
}

const fn ours(listed: [bool; 3]) -> Expected {
    Expected {
        listed,
        by_driver: false,
    }
}

const NATIVE: Expected = Expected {
    listed: ALL,
    by_driver: true,
};

const MATRIX: &[Case] = matrix! {
    "none" "": auto ours(ALL), force ours(ALL), off ours([false; 3]);
    "all" "native=abort+fault+data,": auto NATIVE, force ours(ALL), off NATIVE;
    "fault_only" "native=fault,": auto ours(ALL), force ours(ALL), off ours([false, true, false]);
    "data_only" "native=data,": auto ours(ALL), force ours(ALL), off ours([false, false, true]);
    "fault_and_data" "native=fault+data,": auto ours(ALL), force ours(ALL), off ours([false, true, true]);
};

const TWO_DEVICES: &[Case] = cases! {
    "test_driver_native::two_physical_devices" => two_devices(context), on_driver("devices=2,abort=*");
};

/// A driver with the three extensions that does not support `SPV_KHR_poison_freeze`: it refuses such modules.
const POISON: &[Case] = cases! {
    "test_driver_native::poison_under_auto" => poison(gpu, true),
        on_driver("native=abort+fault+data,abort=*");
    "test_driver_native::poison_under_force" => poison(gpu, false),
        on_driver("native=abort+fault+data,abort=*"), with(&[("VK_SHADER_ABORT_EMULATION", "force")]);
    "test_driver_native::poison_under_off" => poison_is_forwarded(gpu),
        on_driver("native=abort+fault+data,abort=*"), with(&[("VK_SHADER_ABORT_EMULATION", "off")]);
};

/// Every case.
pub(super) fn cases() -> Vec<Case> {
    [MATRIX, POISON, TWO_DEVICES].concat()
}

/// Poison and freeze are lowered also where the driver executes the aborts.
fn poison(gpu: &Gpu, by_driver: bool) -> Result<()> {
    let device = Device::new(gpu)?;
    let kernel = WordKernel::new(&device, &assembly::assemble_file(POISON_SHADER)?, &[0; 64])?;
    let words = test_driver::words(&device, kernel.pipeline, 0)?;
    let capabilities: Vec<u32> = instructions(&words)
        .context("not a module")?
        .iter()
        .filter(|inst| inst.op == op::Capability)
        .map(|inst| inst.word(0))
        .collect();
    let keeps_abort = capabilities.contains(&op::capability::AbortKHR);
    let keeps_poison = capabilities.contains(&op::capability::PoisonFreezeKHR);
    ensure!(
        !keeps_poison && keeps_abort == by_driver,
        "the driver's module declares the capabilities {capabilities:?}"
    );
    let _submission = lose(&kernel)?;
    expect_payloads(&device, &[payload(1, 0)])
}

/// Under `off`, modules reach the driver as they are.
fn poison_is_forwarded(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let code = error_code(WordKernel::new(
        &device,
        &assembly::assemble_file(POISON_SHADER)?,
        &[0; 64],
    ));
    ensure!(code == Some(vk::Result::ERROR_UNKNOWN), "{code:?}");
    Ok(())
}

const POISON_SHADER: &str = "assembly/poison/abort.spvasm";

/// Each physical device has its own state; a device group of both is not supported.
fn two_devices(context: &Context) -> Result<()> {
    let mut gpu = Gpu::open(context)?;
    // SAFETY: the instance is alive.
    let all = unsafe { gpu.instance.enumerate_physical_devices() }?;
    ensure!(all.len() == 2 && all[0] != all[1], "{all:?}");
    let group = Device::new(&gpu).map(|device| device.family);
    ensure!(group.is_ok(), "cannot create the first device");
    let mut both = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&all);
    let more = ExtraDeviceInfo {
        features: vec![&mut both],
        ..ExtraDeviceInfo::default()
    };
    let code = error_code(Device::extended(&gpu, DeviceOptions::default(), more));
    ensure!(code == Some(vk::Result::ERROR_INITIALIZATION_FAILED), "{code:?}");
    for (number, physical) in (1..).zip(all) {
        gpu.physical = physical;
        let device = Device::new(&gpu)?;
        lose_with(&device, &[payload(number, 0)])?;
    }
    Ok(())
}

/// `VK_KHR_shader_abort` requires the two extensions that it depends on, and each is listed once. Whether layer or driver
/// provides them, an abort loses the device and its message can be read.
fn check(gpu: &Gpu, expected: &Expected) -> Result<()> {
    let list = gpu.extensions()?;
    for (name, expected) in khr::EXTENSION_NAMES.into_iter().zip(expected.listed) {
        let found = list.iter().filter(|e| e.extension_name_as_c_str() == Ok(name)).count();
        ensure!(found == usize::from(expected), "{name:?} is listed {found} times");
    }
    let [abort, ..] = expected.listed;
    if abort {
        let mut features = ShaderAbortFeatures::new(false);
        gpu.ask(&mut features);
        ensure!(features.shader_abort == vk::TRUE, "shaderAbort is off");
        let (found, size) = (message_limit(gpu), if expected.by_driver { 1 << 20 } else { 65536 });
        ensure!(found == size, "{found} bytes, expected {size}");
        return aborts(gpu, expected.by_driver);
    }
    let names = expected.listed.iter().filter(|listed| **listed).count();
    let device = without_abort(gpu)?;
    ensure!(
        test_driver::call_log(&device)?.devices == 1,
        "the device with {names} extensions did not reach the driver"
    );
    Ok(())
}

fn aborts(gpu: &Gpu, by_driver: bool) -> Result<()> {
    let device = Device::new(gpu)?;
    let kernel = kernel(&device)?;
    let words = test_driver::words(&device, kernel.pipeline, 0)?;
    ensure!((words == aborting()?) == by_driver, "{} words", words.len());
    let _submission = lose(&kernel)?;
    expect_payloads(&device, &[payload(1, 0)])?;
    let reports = reports(&device)?;
    let flagged = reports
        .iter()
        .map(|report| report.flags & fault_flags::DEVICE_LOST != 0);
    let last = std::iter::repeat_n(false, reports.len().saturating_sub(1)).chain([true]);
    ensure!(flagged.eq(last), "{reports:?}");
    ensure!(device.fault()?.report_count(0) == (vk::Result::TIMEOUT, 0));
    Ok(())
}
