//! Sets up a new device with emulated extensions: its arena, and the options for rewriting modules.

use super::create_info::EditedCreateInfo;
use super::creation_log::{log_arena, log_checks, log_no_prints, log_protected_queue};
use super::queries::families;
use super::rewrite_options::{lowered, options, sanitizer};
use crate::arena::memory_type::MemoryPreference;
use crate::arena::{Arena, ArenaSetup, CreateError, PartInputs, PartSizes};
use crate::device::features::addresses::Addresses;
use crate::device::features::arena;
use crate::device::features::loop_clock::LoopClock;
use crate::device::features::markers::Markers;
use crate::device::features::prints::Prints;
use crate::device::features::recordings::CommandBuffers;
use crate::device::features::shadow::Shadow;
use crate::device::state::{Extensions, Instance, PhysicalDevice};
use crate::device::{AbortState, registry};
use crate::loader::dispatch::DeviceTable;
use crate::settings::Emulation;
use ash::vk;
use std::ffi::CStr;
use vkabort_instrument::{LoweredFeatures, Options, Sanitize};

/// Pipelines of devices with this extension can be created from binaries.
const PIPELINE_BINARY: &CStr = c"VK_KHR_pipeline_binary";
/// Devices with these extensions can run code of which the layer has not seen the module, so records describe themselves.
const LOADS_BINARIES: [&CStr; 3] = [
    PIPELINE_BINARY,
    vk::EXT_SHADER_OBJECT_NAME,
    vk::EXT_SHADER_MODULE_IDENTIFIER_NAME,
];

/// The state of a new device with emulated extensions.
///
/// # Errors
/// The arena cannot be created.
///
/// # Safety
/// The next layer, whose `vkGetDeviceProcAddr` is `next_gdpa`, must just have created `device` from `edited`.
pub unsafe fn activate(
    instance: &Instance,
    physical: &PhysicalDevice,
    edited: &EditedCreateInfo,
    (types, preference): (&vk::PhysicalDeviceMemoryProperties, MemoryPreference),
    device: vk::Device,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
) -> Result<AbortState, CreateError> {
    // SAFETY: the device is live, and `next_gdpa` returns functions of their names' types (the caller's contract).
    let next = unsafe { DeviceTable::load(|name| next_gdpa(device, name.as_ptr())) };
    let mut state = new_state(instance, physical, edited);
    log_checks(instance, physical, &state);
    let setup = ArenaSetup {
        device,
        next: &next,
        cpu: physical.cpu,
        identity: &physical.identity,
        memory_types: types,
        preference: MemoryPreference {
            device_coherent: edited.device_coherent,
            ..preference
        },
        families: &edited.families,
        bytes: instance.settings.arena_size,
        parts: part_sizes(instance, physical, edited, &state.options),
        separate_control: false,
        api: edited.api,
        capture_replay: edited.capture_replay,
        import: edited.import,
        only_device: !registry::DEVICES.any(|device| !device.is_inherited()),
        log: &instance.log,
    };
    let mut markers = None;
    if edited.emulated.abort {
        let mut arena = arena::create(&setup)?;
        create_features(&mut state, &mut arena, instance, physical, edited);
        markers = edited.markers.and_then(|extension| {
            // SAFETY: the device is live, with the extension enabled, and `next_gdpa` the next layer's (the caller's contract).
            unsafe { Markers::create(extension, &setup, next_gdpa) }
        });
        log_arena(instance, physical, &arena, true);
        log_protected_queue(instance, edited);
        state.arena = Some(arena);
    } else {
        log_no_prints(instance, physical);
        if has_constant_data(edited) && edited.has_addresses {
            state.constants_only = arena::create_for_constant_data(&setup);
        }
        if let Some(arena) = &state.constants_only {
            log_arena(instance, physical, arena, false);
        }
    }
    // SAFETY: the device is live, and `next_gdpa` the next layer's (the caller's contract).
    state.commands = unsafe { CommandBuffers::create(&instance.settings, device, next_gdpa, markers) };
    Ok(state)
}

/// Whether shaders may read constant data from memory. Pipelines that are created from binaries have no SPIR-V with the data.
fn has_constant_data(edited: &EditedCreateInfo) -> bool {
    edited.emulated.constant_data && !edited.has_extension(PIPELINE_BINARY)
}

/// The sizes of the arena's parts. `options`: for rewriting the device's modules.
fn part_sizes(
    instance: &Instance,
    physical: &PhysicalDevice,
    edited: &EditedCreateInfo,
    options: &Options,
) -> PartSizes {
    PartSizes::new(&PartInputs {
        settings: &instance.settings,
        checks: options.sanitize.checks,
        shared_memory: physical.shared_memory,
        is_cpu: physical.cpu,
        has_constant_data: has_constant_data(edited),
    })
}

/// Creates the features that use the arena of a new device.
fn create_features(
    state: &mut AbortState,
    arena: &mut Arena,
    instance: &Instance,
    physical: &PhysicalDevice,
    edited: &EditedCreateInfo,
) {
    let options = &mut state.options;
    options.arena = arena.options();
    state.prints = Prints::create(arena, options, &instance.settings, physical.stores);
    state.shadow = Shadow::create(arena, options, physical.shared_memory);
    state.addresses = Addresses::create(arena, options, edited.api);
    state.loop_clock = LoopClock::create(arena, options, physical.cpu);
}

/// The state of a device without an arena.
fn new_state(instance: &Instance, physical: &PhysicalDevice, edited: &EditedCreateInfo) -> AbortState {
    let settings = &instance.settings;
    AbortState {
        emulated: edited.emulated,
        ext_fault: edited.ext_fault,
        vendor_binary: edited.vendor_binary,
        report_masked: edited.report_masked,
        options: Options {
            lowers: lowered(edited.emulated),
            compact_records: !LOADS_BINARIES.iter().any(|name| edited.has_extension(name)),
            sanitize: Sanitize {
                robust_buffers: edited.robust_buffers,
                ..sanitizer(settings, edited.enabled, edited.emulated, physical)
            },
            ..options(instance, settings, physical)
        },
        families: families(instance, physical.handle),
        requested: edited.requested,
        enabled: edited.enabled,
        refused_stages: match edited.emulated.abort {
            true => physical.stores.refused_flags(),
            false => vk::ShaderStageFlags::empty(),
        },
        ..AbortState::default()
    }
}

/// The state of a new device whose driver supports all extensions that the application enables: the layer detects and
/// reports a loss, and lowers `SPV_KHR_poison_freeze`.
pub fn without_emulation(instance: &Instance, physical: &PhysicalDevice, enabled: Extensions) -> AbortState {
    let lowers = match instance.settings.emulation {
        Emulation::Off => LoweredFeatures::default(),
        Emulation::Auto | Emulation::Partial | Emulation::Force => lowered(Extensions::default()),
    };
    let state = AbortState {
        families: families(instance, physical.handle),
        enabled,
        options: Options {
            lowers,
            // The driver has its own limit.
            max_message_bytes: u32::MAX,
            sanitize: sanitizer(&instance.settings, enabled, Extensions::default(), physical),
            ..Options::default()
        },
        ..AbortState::default()
    };
    log_checks(instance, physical, &state);
    log_no_prints(instance, physical);
    state
}
