//! The options for rewriting the modules of a device.

use crate::device::creation::loop_limit::budget_below;
use crate::device::state::{Extensions, Instance, PhysicalDevice};
use crate::log::Level;
use crate::settings::{OnAbort, Settings};
use vkabort_instrument::{Feature, LoopTimeout, LoweredFeatures, Options, Sanitize, Trap};

/// Iterations of loops after which an invocation reads TICKS, which may be across a bus.
const LOOP_INTERVAL: u32 = 1024;
/// The same on CPU drivers, where the read is cheap. An iteration may take long there, if loops that end soon are in it.
const CPU_LOOP_INTERVAL: u32 = 256;

/// Accesses that `races` records by one loop on CPU drivers, where a private array is memory, and each loop takes time to compile.
const CPU_RECORDED_TOGETHER: u32 = 48;

/// The options of the sanitizer on a device with these extensions, of which some are emulated.
pub(super) fn sanitizer(
    settings: &Settings,
    enabled: Extensions,
    emulated: Extensions,
    physical: &PhysicalDevice,
) -> Sanitize {
    if !enabled.abort {
        return Sanitize::default();
    }
    let skipped = physical.stores.refused().filter(|_| emulated.abort);
    let mut sanitize = Sanitize {
        skipped_models: skipped.map(|stage| stage.execution_model).collect(),
        counts_all_loops: physical.loop_limit.is_some(),
        // It executes the block behind the branch whether a test fails or not, and nested blocks took a tenth longer.
        joins_tests: !physical.swiftshader,
        // It executes that block after those of the other invocations of the subgroup, up to a barrier and behind it.
        counts_ends_early: physical.swiftshader,
        // Only records name their site.
        numbers_faults: emulated.abort,
        buffer_table: None,
        rewrites_specialised: true,
        shared_memory: physical.shared_memory,
        // Of drivers that support the extension, the layer knows no memory that shaders can read.
        loop_timeout: (emulated.abort && settings.loop_timeout_ms > 0).then_some(LoopTimeout {
            milliseconds: settings.loop_timeout_ms,
            interval: if physical.cpu { CPU_LOOP_INTERVAL } else { LOOP_INTERVAL },
        }),
        ..settings.sanitizer()
    };
    if physical.cpu {
        sanitize.recorded_together = CPU_RECORDED_TOGETHER;
    }
    if let Some(limit) = physical.loop_limit.filter(|_| settings.loop_budget.is_none()) {
        sanitize.loop_budget = budget_below(limit);
    }
    sanitize
}

/// The features that the layer lowers where it emulates these extensions. No Vulkan extension stands for PoisonFreezeKHR,
/// so no driver can tell that it supports it, and Mesa 26.2's RADV, which has the other two, crashes in its compiler.
pub(super) fn lowered(emulated: Extensions) -> LoweredFeatures {
    let mut lowers = LoweredFeatures::default().with(Feature::PoisonFreeze);
    if emulated.abort {
        lowers = lowers.with(Feature::Abort);
    }
    if emulated.constant_data {
        lowers = lowers.with(Feature::ConstantData);
    }
    lowers
}

/// `VkPhysicalDeviceProperties::vendorID` of Qualcomm (Adreno).
const QUALCOMM: u32 = 0x5143;

/// The options for rewriting modules.
pub(super) fn options(instance: &Instance, settings: &Settings, physical: &PhysicalDevice) -> Options {
    let refused = if physical.cpu {
        // Shaders run in the process: it would receive the fault, and no watchdog would end the loop.
        Some("on a CPU driver, where they would crash or hang the process")
    } else if settings.on_abort != OnAbort::Lose {
        Some("with on_abort = continue, which keeps the device alive")
    } else {
        None
    };
    let mut trap = settings.trap;
    if trap != Trap::Return
        && let Some(reason) = refused
    {
        let text = format!("trap = fault and trap = hang are not supported {reason}; using trap = return");
        instance.log.line(Level::Error, &text);
        trap = Trap::Return;
    }
    Options {
        trap,
        hang_iterations: settings.hang_iterations,
        loop_poll: settings.loop_poll,
        values: settings.values,
        values_size: settings.values_size,
        max_message_bytes: settings.max_message_size,
        max_sites: settings.max_sites,
        memory_barriers: !physical.cpu,
        scalar_stores: physical.vendor == QUALCOMM,
        branches_at_exits: physical.jumps_over_branches,
        // Mesa 26.2 crashes without, 25.0 does not: the versions in between count as the former, and 25.0 with them.
        breaks_at_starts: physical.jumps_over_branches,
        opaque_conditions: physical.inlines_uniforms,
        remembers_loop_values: physical.swiftshader || physical.loop_limit.is_some(),
        shadow_area: None,
        ..Options::default()
    }
}
