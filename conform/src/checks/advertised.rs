//! What the physical device says it has, and what a device then has.

use super::super::gpu::khr::{DEVICE_FAULT_NAME, EXTENSION_NAMES, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME};
use super::{Check, Checked, Device, Enable, Gpu, hold, runs, show, skip};
use crate::gpu::Ask;
use crate::rules;
use ash::vk;
use std::collections::BTreeSet;

pub(super) const CHECKS: &[Check] = &[
    Check::new("extension.dependencies", rules::DEPENDENCIES, dependencies),
    Check::new("extension.listed_once", rules::EXTENSION_LIST, listed_once),
    Check::new("extension.count_fill_incomplete", rules::ENUMERATE, enumerate),
    Check::new("feature.with_its_extension", rules::FEATURES, features),
    Check::new("feature.in_any_order_of_structures", rules::CHAIN, any_order),
    Check::new("feature.by_the_khr_alias", rules::ALIAS, alias),
    Check::new(
        "property.maxShaderAbortMessageSize",
        rules::MESSAGE_SIZE_LIMIT,
        message_size,
    ),
    Check::new("property.maxDeviceFaultCount", rules::FAULT_COUNT_LIMIT, fault_count),
    Check::new("device.commands_where_enabled", rules::PROC_ADDR, commands),
    Check::new("device.with_features_off", rules::FEATURE_OFF, features_off),
    Check::new("device.with_one_extension", rules::DEPENDENCIES, one_extension),
];

const PLAIN: Ask = Ask {
    khr: false,
    reversed: false,
    poison: 0,
};
/// Neither `VK_TRUE` nor `VK_FALSE`.
const POISON: u32 = 0xCDCD_CDCD;

/// Skips the check where the device has none of the extensions.
fn any(gpu: &Gpu) -> Checked<()> {
    if EXTENSION_NAMES.iter().any(|name| gpu.has(name)) {
        return Ok(());
    }
    gpu.require(&EXTENSION_NAMES)
}

fn dependencies(gpu: &'static Gpu) -> Checked {
    any(gpu)?;
    if gpu.has(SHADER_ABORT_NAME) {
        for name in [DEVICE_FAULT_NAME, SHADER_CONSTANT_DATA_NAME] {
            hold!(
                gpu.has(name),
                "VK_KHR_shader_abort is listed, {} is not",
                name.to_string_lossy()
            );
        }
    }
    Ok(String::new())
}

fn listed_once(gpu: &'static Gpu) -> Checked {
    any(gpu)?;
    let mut said = Vec::new();
    for name in EXTENSION_NAMES {
        let versions = gpu.versions_of(name);
        let name = name.to_string_lossy();
        hold!(versions.len() <= 1, "{name} is listed {} times", versions.len());
        for version in versions {
            hold!(version >= 1, "{name} has version 0");
            said.push(format!("{name} {version}"));
        }
    }
    Ok(said.join(", "))
}

fn enumerate(gpu: &'static Gpu) -> Checked {
    any(gpu)?;
    let (result, total, _) = gpu.enumerate(None);
    hold!(
        result == vk::Result::SUCCESS,
        "asked for the count, it returned {}",
        show(result)
    );
    let (_, _, whole) = gpu.enumerate(Some(total));
    for room in [0, 1, total.saturating_sub(1), total, total + 5] {
        let (result, count, names) = gpu.enumerate(Some(room));
        let expected = if room < total {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        };
        hold!(
            result == expected && count == room.min(total),
            "with room for {room} of {total} it returned {} and a count of {count}",
            show(result)
        );
        hold!(
            names.len() == count as usize && whole.starts_with(&names),
            "with room for {room} of {total} it filled in {} names, or others",
            names.len()
        );
    }
    let distinct: BTreeSet<_> = whole.iter().collect();
    hold!(distinct.len() == whole.len(), "an extension is listed twice");
    Ok(format!("{total} extensions"))
}

fn features(gpu: &'static Gpu) -> Checked {
    any(gpu)?;
    let found = gpu.ask(PLAIN);
    let pairs = [
        (SHADER_ABORT_NAME, "shaderAbort", found.shader_abort),
        (DEVICE_FAULT_NAME, "deviceFault", found.device_fault),
        (
            SHADER_CONSTANT_DATA_NAME,
            "shaderConstantData",
            found.shader_constant_data,
        ),
    ];
    for (extension, feature, value) in pairs {
        let listed = gpu.has(extension);
        let extension = extension.to_string_lossy();
        hold!(
            value == vk::Bool32::from(listed),
            "{extension} is {}, and {feature} is {value}",
            if listed { "listed" } else { "not listed" }
        );
    }
    Ok(String::new())
}

fn any_order(gpu: &'static Gpu) -> Checked {
    gpu.require(&EXTENSION_NAMES)?;
    let plain = gpu.ask(PLAIN);
    for reversed in [false, true] {
        let found = gpu.ask(Ask {
            reversed,
            poison: POISON,
            ..PLAIN
        });
        hold!(
            found == plain,
            "in another order, over other values before, the answers are {found:?} instead of {plain:?}"
        );
    }
    Ok(String::new())
}

fn alias(gpu: &'static Gpu) -> Checked {
    gpu.require(&EXTENSION_NAMES)?;
    let (plain, khr) = (gpu.ask(PLAIN), gpu.ask(Ask { khr: true, ..PLAIN }));
    hold!(khr == plain, "the alias answers {khr:?}, the command {plain:?}");
    Ok(String::new())
}

fn message_size(gpu: &'static Gpu) -> Checked {
    gpu.require(&[SHADER_ABORT_NAME])?;
    let size = gpu.ask(PLAIN).max_message_size;
    hold!(size >= 65536, "it is {size}");
    Ok(format!("{size} bytes"))
}

fn fault_count(gpu: &'static Gpu) -> Checked {
    gpu.require(&[DEVICE_FAULT_NAME])?;
    let count = gpu.ask(PLAIN).max_fault_count;
    hold!(count >= 1, "it is {count}");
    Ok(count.to_string())
}

fn commands(gpu: &'static Gpu) -> Checked {
    let with = Device::new(gpu, Enable::FAULT)?;
    let without = Device::new(gpu, Enable::default())?;
    for name in [c"vkGetDeviceFaultReportsKHR", c"vkGetDeviceFaultDebugInfoKHR"] {
        let text = name.to_string_lossy();
        hold!(with.has_command(name), "{text} is not there");
        hold!(
            !without.has_command(name),
            "{text} is there for a device that did not enable its extension"
        );
    }
    Ok(String::new())
}

fn features_off(gpu: &'static Gpu) -> Checked {
    gpu.require(&EXTENSION_NAMES)?;
    let off = Enable {
        without_features: true,
        ..Enable::ABORT
    };
    let device = Device::new(gpu, off)?;
    let result = device.wait_idle();
    hold!(
        result == vk::Result::SUCCESS,
        "vkDeviceWaitIdle returned {}",
        show(result)
    );
    let device = Device::new(gpu, Enable::ABORT)?;
    runs(device)?;
    Ok(String::new())
}

fn one_extension(gpu: &'static Gpu) -> Checked {
    any(gpu)?;
    let mut made = 0;
    for (name, enable) in [
        (DEVICE_FAULT_NAME, Enable::FAULT),
        (SHADER_CONSTANT_DATA_NAME, Enable::DATA),
    ] {
        if gpu.has(name) {
            let device = Device::new(gpu, enable)?;
            let result = device.submit_nothing();
            hold!(
                result == vk::Result::SUCCESS,
                "an empty submission returned {}",
                show(result)
            );
            made += 1;
        }
    }
    if made == 0 {
        return skip("neither VK_KHR_device_fault nor VK_KHR_shader_constant_data is there by itself");
    }
    Ok(String::new())
}
