//! Sets up a new device with emulated extensions: its arena, and the options for rewriting modules.

use crate::arena::memory_type::MemoryPreference;
use crate::arena::{Arena, ArenaSetup, CreateError};
use crate::device::activation_log::{describe, describe_checks, log_no_prints};
use crate::device::addresses::Addresses;
use crate::device::create_info::EditedCreateInfo;
use crate::device::loop_clock::LoopClock;
use crate::device::new_markers::new_markers;
use crate::device::prints::Prints;
use crate::device::registry;
use crate::device::rewrite_options::{lowered, options, sanitizer};
use crate::device::state::{AbortState, Extensions, Instance, PhysicalDevice};
use crate::loader::dispatch::DeviceTable;
use crate::log::Level;
use crate::settings::{Emulation, Printf};
use ash::vk;
use std::ffi::CStr;
use std::time::Duration;
use vkabort_instrument::{Check, LoweredFeatures, Options, Sanitize, ShadowArea};
use vkabort_record::layout::CONTROL_BYTES;
use vkabort_record::shadow_area::{area_bytes, workgroup_words};

/// Pipelines of devices with this extension can be created from binaries.
const PIPELINE_BINARY: &CStr = c"VK_KHR_pipeline_binary";
/// Devices with these extensions can run code of which the layer has not seen the module, so records describe themselves.
const LOADS_BINARIES: [&CStr; 3] = [
    PIPELINE_BINARY,
    vk::EXT_SHADER_OBJECT_NAME,
    vk::EXT_SHADER_MODULE_IDENTIFIER_NAME,
];
/// Memory for constant data in bytes: eight arrays of the largest size. It is part of the buffer of records, which is created with
/// the device: a buffer that is created with the first table may find its address of an earlier run taken by the application.
const CONSTANT_BYTES: u32 = 1 << 21;
/// The same on CPU drivers, where pages without data take no memory.
const CPU_CONSTANT_BYTES: u32 = 1 << 24;

/// Memory for the table of buffers in bytes: ten versions for 100,000 buffers.
const TABLE_BYTES: u32 = 1 << 24;

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
    describe_checks(instance, physical, &state);
    // Pipelines created from binaries have no SPIR-V that their constant data could be read from.
    let has_constants = edited.emulated.constant_data && !edited.has_extension(PIPELINE_BINARY);
    let mut setup = ArenaSetup {
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
        print_bytes: match instance.settings.printf {
            Printf::Off => 0,
            Printf::On | Printf::Invocations => instance.settings.printf_size,
        },
        shadow_bytes: match state.options.sanitize.checks.contains(Check::Races) {
            true => area_bytes(workgroup_words(physical.shared_memory)),
            false => 0,
        },
        separate_control: false,
        table_bytes: match state.options.sanitize.checks.contains(Check::Addresses) {
            true => TABLE_BYTES,
            false => 0,
        },
        constant_bytes: match (has_constants, physical.cpu) {
            (true, true) => CPU_CONSTANT_BYTES,
            (true, false) => CONSTANT_BYTES,
            (false, _) => 0,
        },
        api: edited.api,
        capture_replay: edited.capture_replay,
        import: edited.import,
        only_device: !registry::DEVICES.any(|device| !device.is_inherited()),
        log: &instance.log,
    };
    if edited.emulated.abort {
        let mut arena = Arena::create(&setup);
        if let Err(error) = &arena
            && setup.print_bytes + setup.shadow_bytes + setup.table_bytes > 0
        {
            let lost = [
                (setup.print_bytes, "printf: shaders do not print"),
                (setup.table_bytes, "sanitize: addresses are not tested"),
                (
                    setup.shadow_bytes,
                    "sanitize: races on arrays that fill shared memory are not looked for",
                ),
            ];
            for (_, text) in lost.iter().filter(|(bytes, _)| *bytes > 0) {
                let text = format!("{text}: no memory: {}", error.reason);
                instance.log.line(Level::Error, &text);
            }
            (setup.print_bytes, setup.shadow_bytes, setup.table_bytes) = (0, 0, 0);
            arena = Arena::create(&setup);
        }
        let mut arena = arena?;
        state.options.arena = arena.options();
        if let Some(area) = arena.take_prints() {
            let skipped = physical.stores.refused().map(|stage| stage.execution_model);
            state.options.prints = Some(area.options(skipped.collect()));
            state.prints = Some(Prints::new(area, instance.settings.dump_dir.is_some()));
        }
        state.options.shadow_area = arena.shadows().map(|area| ShadowArea {
            address: area.address,
            words: workgroup_words(physical.shared_memory),
        });
        if let Some(area) = arena.take_table() {
            state.options.sanitize.buffer_table = Some(area.address);
            state.addresses = Some(Addresses::new(area));
        }
        state.markers = edited.markers.and_then(|extension| {
            // SAFETY: the device is live, with the extension enabled, and `next_gdpa` the next layer's (the caller's contract).
            unsafe { new_markers(extension, &setup, next_gdpa) }
        });
        describe(instance, physical, &arena, true);
        if edited.has_protected_queue {
            // `protectedNoFault`: writes to unprotected memory in a protected queue operation are discarded or not allowed.
            let text = "vkCreateDevice: a queue is protected; aborts in protected submissions are not reported, since \
                        their shaders cannot write to the unprotected memory of messages";
            instance.log.line(Level::Warning, text);
        }
        if let Some(timeout) = state.options.sanitize.loop_timeout.filter(|_| state.sanitizes()) {
            let timeout = Duration::from_millis(timeout.milliseconds.into());
            state.loop_clock = Some(LoopClock::new(&arena, timeout, physical.cpu));
        }
        state.arena = Some(arena);
    } else {
        log_no_prints(instance, physical);
        if has_constants && edited.has_addresses {
            (setup.print_bytes, setup.shadow_bytes, setup.table_bytes) = (0, 0, 0);
            state.constants_only = constants_only(instance, physical, setup);
        }
    }
    Ok(state)
}

/// The state of a device without an arena.
fn new_state(instance: &Instance, physical: &PhysicalDevice, edited: &EditedCreateInfo) -> AbortState {
    let settings = &instance.settings;
    AbortState {
        emulated: edited.emulated,
        ext_fault: edited.ext_fault,
        vendor_binary: edited.vendor_binary,
        report_masked: edited.report_masked,
        address_api: edited.api,
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

/// The memory for constant data of a device without records. `None` if it cannot be created, which the log explains.
fn constants_only(instance: &Instance, physical: &PhysicalDevice, setup: ArenaSetup<'_>) -> Option<Arena> {
    let setup = ArenaSetup {
        bytes: CONTROL_BYTES,
        ..setup
    };
    match Arena::create(&setup) {
        Ok(arena) => {
            describe(instance, physical, &arena, false);
            Some(arena)
        }
        Err(error) => {
            let text = format!(
                "large constant data will compile slowly, since shaders cannot read it from memory: {}",
                error.reason
            );
            instance.log.line(Level::Warning, &text);
            None
        }
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
    describe_checks(instance, physical, &state);
    log_no_prints(instance, physical);
    state
}

/// The memory types of a physical device.
pub fn memory_types(instance: &Instance, physical: vk::PhysicalDevice) -> vk::PhysicalDeviceMemoryProperties {
    let mut types = vk::PhysicalDeviceMemoryProperties::default();
    if let Some(get) = instance.next.vkGetPhysicalDeviceMemoryProperties {
        // SAFETY: a live physical device, and a local structure.
        unsafe { get(physical, &mut types) };
    }
    types
}

/// The preferred memory of an arena on this physical device.
pub fn memory_preference(instance: &Instance, physical: &PhysicalDevice) -> MemoryPreference {
    MemoryPreference {
        memory: instance.settings.memory,
        control: instance.settings.control_block,
        discrete: physical.discrete,
        device_coherent: physical.device_coherent,
    }
}

/// The capabilities of a physical device's queue families, by family index.
fn families(instance: &Instance, physical: vk::PhysicalDevice) -> Vec<vk::QueueFlags> {
    let Some(get) = instance.next.vkGetPhysicalDeviceQueueFamilyProperties else {
        return Vec::new();
    };
    let mut count = 0;
    // SAFETY: a live physical device; a null list queries the count.
    unsafe { get(physical, &mut count, std::ptr::null_mut()) };
    let mut list = vec![vk::QueueFamilyProperties::default(); count as usize];
    // SAFETY: the list has `count` elements.
    unsafe { get(physical, &mut count, list.as_mut_ptr()) };
    list.truncate(count as usize);
    list.iter().map(|family| family.queue_flags).collect()
}
