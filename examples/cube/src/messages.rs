//! The messages of a lost device.

use crate::device::Device;
use crate::shaders::{CUBE_FRAGMENT, CUBE_VERTEX, PATTERN};
use anyhow::{Context, Result, anyhow, ensure};
use std::sync::Arc;
use vkabort_instrument::{Options, Values};
use vkabort_record::framing;
use vkabort_report::{ModuleInfo, Report, ReportOptions};

/// The messages of the shaders that aborted, with their source lines.
pub fn read(device: &Device) -> Result<String> {
    let fault = device
        .fault
        .context("the device does not support VK_KHR_device_fault")?;
    let data = fault
        .message_data()
        .map_err(|error| anyhow!("vkGetDeviceFaultDebugInfoKHR returned {error:?}"))?;
    let messages = framing::split(&data);
    ensure!(!messages.payloads.is_empty(), "no shader has left a message");
    // A message is bytes. The site that sent it, which has their types and its source line, is found by size and text.
    let report = Report::from_payloads(messages.payloads, &modules()?, &ReportOptions::default());
    Ok(report.text(false))
}

/// The abort sites of the shaders.
fn modules() -> Result<Vec<ModuleInfo>> {
    // A message says nothing of the values that the layer keeps beside it, but may hold those of the condition.
    let options = Options {
        values: Values::Auto,
        ..Options::default()
    };
    let shaders = [CUBE_VERTEX, CUBE_FRAGMENT, PATTERN];
    let modules = shaders.iter().map(|shader| {
        Ok(ModuleInfo {
            sites: vkabort_instrument::sites(&shader.words(true)?, &options)?.map(Arc::new),
            name: Some(shader.name.to_owned()),
            ..ModuleInfo::default()
        })
    });
    modules.collect()
}
