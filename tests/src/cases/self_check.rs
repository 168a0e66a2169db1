//! The test program detects messages of the validation layer. Otherwise silence would prove nothing.

use super::support::without_abort;
use crate::case::{Case, cases};
use crate::vk::{Gpu, code};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "self_check::a_wrong_call_is_detected" => wrong_call(gpu);
};

fn wrong_call(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let layers = std::env::var("VK_INSTANCE_LAYERS").unwrap_or_default();
    if !layers.contains("validation") {
        return Ok(());
    }
    // The event is leaked; the validation layer reports that when the device is destroyed.
    // SAFETY: the create info is valid.
    let created = unsafe { device.raw.create_event(&vk::EventCreateInfo::default(), None) };
    ensure!(code(created) == vk::Result::SUCCESS, "vkCreateEvent failed");
    ensure!(
        gpu.messages.take().is_empty(),
        "the validation layer reported too early"
    );
    drop(device);
    let messages = gpu.messages.take();
    ensure!(
        messages.iter().any(|message| message.contains("VkEvent")),
        "the validation layer reported {messages:?}"
    );
    Ok(())
}
