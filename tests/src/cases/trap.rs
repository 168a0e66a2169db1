//! `trap = fault` and `trap = hang` would kill or hang the process on a CPU driver. The layer refuses them there and
//! handles aborts as with `trap = return`.

use super::support::run_entry_point;
use crate::case::{Case, Context, Skip, cases};
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;

const REFUSED: &[&str] = &[
    "vkabort: error",
    "trap = fault and trap = hang are not supported on a CPU driver",
];

pub(super) const CASES: &[Case] = cases! {
    "trap::fault_is_refused_on_a_cpu" => run(context, "fault", true), in_own_process(), logs(REFUSED);
    "trap::hang_is_refused_on_a_cpu" => run(context, "hang", true), in_own_process(), logs(REFUSED);
    "trap::return_logs_nothing" => run(context, "return", false), in_own_process(), silent();
};

fn run(context: &Context, trap: &str, aborts: bool) -> Result<()> {
    // SAFETY: the process is still single-threaded.
    unsafe { std::env::set_var("VK_VKABORT_SHADER_ABORT_TRAP", trap) };
    let gpu = Gpu::open(context)?;
    if gpu.properties.device_type != vk::PhysicalDeviceType::CPU {
        return Err(Skip("not a CPU driver".into()).into());
    }
    let device = Device::new(&gpu)?;
    run_entry_point(&device, aborts)
}
