//! Log lines of device creation.

use super::create_info::EditedCreateInfo;
use crate::arena::Arena;
use crate::device::AbortState;
use crate::device::state::{Instance, PhysicalDevice};
use crate::log::Level;
use crate::settings::Printf;
use vkabort_instrument::{Check, Sanitize};
use vkabort_record::stage::stage_name;

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

/// Logs the memory and the address of an arena.
pub(super) fn log_arena(instance: &Instance, physical: &PhysicalDevice, arena: &Arena, has_aborts: bool) {
    let stages = physical.stores.restriction().map(|text| ("shader stages", text));
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

/// Logs that aborts in protected submissions are not reported, if a queue accepts them.
pub(super) fn log_protected_queue(instance: &Instance, edited: &EditedCreateInfo) {
    if edited.has_protected_queue {
        // `protectedNoFault`: writes to unprotected memory in a protected queue operation are discarded or not allowed.
        let text = "vkCreateDevice: a queue is protected; aborts in protected submissions are not reported, since their shaders \
                    cannot write to the unprotected memory of messages";
        instance.log.line(Level::Warning, text);
    }
}

/// Logs the checks that are planted, and those that are left out or cannot fail.
pub(super) fn log_checks(instance: &Instance, physical: &PhysicalDevice, state: &AbortState) {
    let log = |level, text: &str| {
        let line = format!("device `{}`: sanitizer: {text}", physical.name);
        instance.log.line(level, &line);
    };
    if let Some(text) = planted_checks(state) {
        log(Level::Info, &text);
    }
    for text in unchecked_stages(state)
        .into_iter()
        .chain(without_buffers(state))
        .chain(without_addresses(state))
        .chain(ineffective_loops(state, physical.loop_limit))
    {
        log(Level::Warning, &text);
    }
}

/// The planted checks. `None` if there are none.
fn planted_checks(state: &AbortState) -> Option<String> {
    let sanitize = &state.options.sanitize;
    state.sanitizes().then(|| {
        format!(
            "plants {} into every module (loop_budget = {}, loop_timeout_ms = {})",
            sanitize.checks.to_string().replace(',', ", "),
            sanitize.loop_budget,
            sanitize.loop_timeout.map_or(0, |timeout| timeout.milliseconds)
        )
    })
}

/// The stages without checks. `None` if every stage has them.
fn unchecked_stages(state: &AbortState) -> Option<String> {
    let models = &state.options.sanitize.skipped_models;
    (state.sanitizes() && !models.is_empty()).then(|| {
        let stages: Vec<&str> = models.iter().map(|model| stage_name(*model)).collect();
        format!(
            "no checks in {} shaders: the driver lacks stores there",
            stages.join(", ")
        )
    })
}

/// Why the check of buffers is left out. `None` if it is not.
fn without_buffers(state: &AbortState) -> Option<String> {
    let sanitize = &state.options.sanitize;
    let is_left_out = sanitize.checks.contains(Check::Buffers) && sanitize.robust_buffers;
    is_left_out.then(|| {
        "no check of buffers: the program enables robustBufferAccess or pipelineRobustness, which define accesses beyond a buffer"
            .to_owned()
    })
}

/// Why the check of addresses is left out. `None` if it is not.
fn without_addresses(state: &AbortState) -> Option<String> {
    let is_left_out = state.options.sanitize.checks.contains(Check::Addresses) && !state.emulated.abort;
    is_left_out.then(|| {
        "no check of addresses: the layer does not emulate VK_KHR_shader_abort there; set emulation = force".to_owned()
    })
}

/// Why the check of loops cannot fail on a driver that ends every loop after `limit` iterations. `None` if it can.
fn ineffective_loops(state: &AbortState, limit: Option<u32>) -> Option<String> {
    let Sanitize {
        checks, loop_budget, ..
    } = &state.options.sanitize;
    let limit = limit.filter(|limit| checks.contains(Check::Loops) && loop_budget > limit)?;
    Some(format!(
        "the driver ends every loop after {limit} iterations, so loop_budget = {loop_budget} finds none that does not end; set \
         loop_budget = auto"
    ))
}
