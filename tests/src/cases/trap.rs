//! `trap = fault` and `trap = hang` would end or hang the process of a CPU driver: they are refused, and aborts work as
//! they do without them.

use super::{GROUPS, marked};
use crate::case::{Case, Context, Skip};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;

const REFUSED: &[&str] = &[
    "vkabort: error",
    "trap = fault and trap = hang are refused on a CPU driver",
];

pub(super) const CASES: &[Case] = &[
    Case::new("trap::fault_is_refused_on_a_cpu", |context| run(context, "fault", true)).logs(REFUSED),
    Case::new("trap::hang_is_refused_on_a_cpu", |context| run(context, "hang", true)).logs(REFUSED),
    Case::new("trap::return_says_nothing", |context| run(context, "return", false)).silent(),
];

fn run(context: &Context, trap: &str, aborts: bool) -> Result<()> {
    // SAFETY: the process has one thread yet.
    unsafe { std::env::set_var("VK_VKABORT_SHADER_ABORT_TRAP", trap) };
    let gpu = Gpu::open(context)?;
    if gpu.properties.device_type != vk::PhysicalDeviceType::CPU {
        return Err(Skip("not a CPU driver".into()).into());
    }
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &marked(if aborts { &[3] } else { &[] }))?;
    let kernel = Kernel::new(&device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    if !aborts {
        ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
        return Ok(());
    }
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the dispatch ended with {result:?}"
    );
    let count = device.payloads()?.len();
    ensure!(count == 1, "{count} messages");
    Ok(())
}
