//! The test program notices what the validation layer says: without this, silence would prove nothing.

use crate::case::{Case, Context};
use crate::vk::{Device, DeviceOptions, Gpu, code};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[Case::new("self_check::a_wrong_call_is_noticed", wrong_call)];

fn wrong_call(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let device = Device::with(&gpu, options)?;
    let layers = std::env::var("VK_INSTANCE_LAYERS").unwrap_or_default();
    if !layers.contains("validation") {
        return Ok(());
    }
    // An event that is made is destroyed by nobody: the validation layer says so when the device goes.
    // SAFETY: the structure is valid.
    let made = unsafe { device.raw.create_event(&vk::EventCreateInfo::default(), None) };
    ensure!(code(made) == vk::Result::SUCCESS, "vkCreateEvent failed");
    ensure!(
        context.messages.take().is_empty(),
        "the validation layer spoke too early"
    );
    drop(device);
    let said = context.messages.take();
    ensure!(
        said.iter().any(|message| message.contains("VkEvent")),
        "the validation layer said {said:?}"
    );
    Ok(())
}
