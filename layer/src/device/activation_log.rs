//! What the log says of a new device.

use crate::arena::Arena;
use crate::device::refused_stage::restriction;
use crate::device::sanitize;
use crate::device::state::{AbortState, Instance, PhysicalDevice};
use crate::log::Level;
use crate::settings::Printf;

/// Logs that the layer does not show prints, if it should: shaders have no memory to write them to.
pub(super) fn log_no_prints(instance: &Instance, physical: &PhysicalDevice) {
    if instance.settings.printf != Printf::Off {
        let text = format!(
            "printf: the shaders of device `{}` do not print, since the layer does not emulate VK_KHR_shader_abort there; set \
             emulation = force",
            physical.name
        );
        instance.log.line(Level::Error, &text);
    }
}

/// Logs where an arena is.
pub(super) fn describe(instance: &Instance, physical: &PhysicalDevice, arena: &Arena, has_aborts: bool) {
    let stages = restriction(physical.stores).map(|text| ("shader stages", text));
    let stages = stages.filter(|_| has_aborts);
    let loops = physical.loop_limit.map(|limit| {
        let text =
            format!("the driver ends those of an invocation after {limit} iterations in total, without an error");
        ("loops", text)
    });
    for (subject, text) in arena.describe().into_iter().chain(stages).chain(loops) {
        instance
            .log
            .line(Level::Info, &format!("device `{}`: {subject}: {text}", physical.name));
    }
    if let Some(warning) = arena.address_warning() {
        instance.log.line(Level::Warning, &warning);
    }
}

/// Logs what is planted, and what can find nothing.
pub(super) fn describe_checks(instance: &Instance, physical: &PhysicalDevice, state: &AbortState) {
    let log = |level, text: &str| {
        let line = format!("device `{}`: sanitizer: {text}", physical.name);
        instance.log.line(level, &line);
    };
    if let Some(text) = sanitize::description(state) {
        log(Level::Info, &text);
    }
    for text in sanitize::left_out(state)
        .into_iter()
        .chain(sanitize::without_buffers(state))
        .chain(sanitize::without_addresses(state))
        .chain(sanitize::in_vain(state, physical.loop_limit))
    {
        log(Level::Warning, &text);
    }
}
