//! The extensions, features and limits that the physical device advertises, and the commands of a logical device.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu, Query, show};
use crate::rules;
use crate::scenario::{run_without_abort, skip, success};
use crate::verdict::{CheckOutput, hold};
use ash::vk;
use std::collections::BTreeSet;
use vk_ext::{DEVICE_FAULT_NAME, EXTENSION_NAMES, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME};
use vkabort_test_kit::vk::code;

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

/// An initial value that is neither `VK_TRUE` nor `VK_FALSE`.
const INITIAL: u32 = 0xCDCD_CDCD;

/// Skips the check if the device has none of the extensions.
fn require_any(gpu: &Gpu) -> CheckOutput<()> {
    if EXTENSION_NAMES.iter().any(|name| gpu.has(name)) {
        return Ok(());
    }
    gpu.require(&EXTENSION_NAMES)
}

fn dependencies(gpu: &'static Gpu) -> CheckOutput {
    require_any(gpu)?;
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

fn listed_once(gpu: &'static Gpu) -> CheckOutput {
    require_any(gpu)?;
    let mut listed = Vec::new();
    for name in EXTENSION_NAMES {
        let versions = gpu.versions_of(name);
        let name = name.to_string_lossy();
        hold!(versions.len() <= 1, "{name} is listed {} times", versions.len());
        for version in versions {
            hold!(version >= 1, "{name} has version 0");
            listed.push(format!("{name} {version}"));
        }
    }
    Ok(listed.join(", "))
}

fn enumerate(gpu: &'static Gpu) -> CheckOutput {
    require_any(gpu)?;
    let (result, total, _) = gpu.enumerate(None);
    success("the call for the count", result)?;
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
            "with room for {room} of {total} the call returned {} and a count of {count}",
            show(result)
        );
        hold!(
            names.len() == count as usize && whole.starts_with(&names),
            "with room for {room} of {total} the call wrote {} names, or other names",
            names.len()
        );
    }
    let distinct: BTreeSet<_> = whole.iter().collect();
    hold!(distinct.len() == whole.len(), "an extension is listed twice");
    Ok(format!("{total} extensions"))
}

fn features(gpu: &'static Gpu) -> CheckOutput {
    require_any(gpu)?;
    let answers = gpu.query(Query::default());
    let pairs = [
        (SHADER_ABORT_NAME, "shaderAbort", answers.shader_abort),
        (DEVICE_FAULT_NAME, "deviceFault", answers.device_fault),
        (
            SHADER_CONSTANT_DATA_NAME,
            "shaderConstantData",
            answers.shader_constant_data,
        ),
    ];
    for (extension, feature, value) in pairs {
        let listed = gpu.has(extension);
        let extension = extension.to_string_lossy();
        hold!(
            value == vk::Bool32::from(listed),
            "{extension} is {}, but {feature} is {value}",
            if listed { "listed" } else { "not listed" }
        );
    }
    Ok(String::new())
}

fn any_order(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    let plain = gpu.query(Query::default());
    for reversed in [false, true] {
        let answers = gpu.query(Query {
            reversed,
            initial: INITIAL,
            ..Query::default()
        });
        hold!(
            answers == plain,
            "with another order or other initial values, the answers are {answers:?} instead of {plain:?}"
        );
    }
    Ok(String::new())
}

fn alias(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    let plain = gpu.query(Query::default());
    let alias = gpu.query(Query {
        khr_alias: true,
        ..Query::default()
    });
    hold!(alias == plain, "the alias answers {alias:?}, the command {plain:?}");
    Ok(String::new())
}

fn message_size(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&[SHADER_ABORT_NAME])?;
    let size = gpu.query(Query::default()).max_message_size;
    hold!(size >= 65536, "it is {size}");
    Ok(format!("{size} bytes"))
}

fn fault_count(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&[DEVICE_FAULT_NAME])?;
    let count = gpu.query(Query::default()).max_fault_count;
    hold!(count >= 1, "it is {count}");
    Ok(count.to_string())
}

fn commands(gpu: &'static Gpu) -> CheckOutput {
    let with = Device::new(gpu, Enable::FAULT)?;
    let without = Device::new(gpu, Enable::default())?;
    for name in [c"vkGetDeviceFaultReportsKHR", c"vkGetDeviceFaultDebugInfoKHR"] {
        let text = name.to_string_lossy();
        hold!(with.has_command(name), "vkGetDeviceProcAddr returns NULL for {text}");
        hold!(
            !without.has_command(name),
            "vkGetDeviceProcAddr returns {text} for a device that did not enable its extension"
        );
    }
    Ok(String::new())
}

fn features_off(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    let off = Enable {
        without_features: true,
        ..Enable::ABORT
    };
    let device = Device::new(gpu, off)?;
    success("vkDeviceWaitIdle", code(device.wait_idle()))?;
    let device = Device::new(gpu, Enable::ABORT)?;
    run_without_abort(device)?;
    Ok(String::new())
}

fn one_extension(gpu: &'static Gpu) -> CheckOutput {
    require_any(gpu)?;
    let mut devices = 0;
    for (name, enable) in [
        (DEVICE_FAULT_NAME, Enable::FAULT),
        (SHADER_CONSTANT_DATA_NAME, Enable::DATA),
    ] {
        if gpu.has(name) {
            let device = Device::new(gpu, enable)?;
            success("an empty submission", device.submit_nothing())?;
            devices += 1;
        }
    }
    if devices == 0 {
        return skip("the device has neither VK_KHR_device_fault nor VK_KHR_shader_constant_data");
    }
    Ok(String::new())
}
