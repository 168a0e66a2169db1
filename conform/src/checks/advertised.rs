//! The extensions, features and limits that the physical device advertises, and the commands of a logical device.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::{run_without_abort, skip, success};
use anyhow::{Result, ensure};
use ash::vk;
use std::collections::BTreeSet;
use vk_ext::{DEVICE_FAULT_NAME, EXTENSION_NAMES, SHADER_ABORT_NAME, SHADER_CONSTANT_DATA_NAME};
use vkabort_gpu::{Enable, Query, code, show};
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "extension.dependencies" => dependencies(gpu), rule(rules::DEPENDENCIES);
    "extension.listed_once" => listed_once(gpu), rule(rules::EXTENSION_LIST);
    "extension.count_fill_incomplete" => enumerate(gpu), rule(rules::ENUMERATE);
    "feature.with_its_extension" => features(gpu), rule(rules::FEATURES);
    "feature.in_any_order_of_structures" => any_order(gpu), rule(rules::CHAIN);
    "feature.by_the_khr_alias" => alias(gpu), rule(rules::ALIAS);
    "property.maxShaderAbortMessageSize" => message_size(gpu), rule(rules::MESSAGE_SIZE_LIMIT);
    "property.maxDeviceFaultCount" => fault_count(gpu), rule(rules::FAULT_COUNT_LIMIT);
    "device.commands_where_enabled" => commands(gpu), rule(rules::PROC_ADDR);
    "device.with_features_off" => features_off(gpu), rule(rules::FEATURE_OFF);
    "device.with_one_extension" => one_extension(gpu), rule(rules::DEPENDENCIES);
};

/// An initial value that is neither `VK_TRUE` nor `VK_FALSE`.
const INITIAL: u32 = 0xCDCD_CDCD;

fn dependencies(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_any()?;
    if gpu.has_extension(SHADER_ABORT_NAME)? {
        for name in [DEVICE_FAULT_NAME, SHADER_CONSTANT_DATA_NAME] {
            ensure!(
                gpu.has_extension(name)?,
                "VK_KHR_shader_abort is listed, {} is not",
                name.to_string_lossy()
            );
        }
    }
    Ok(String::new())
}

fn listed_once(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_any()?;
    let mut listed = Vec::new();
    for name in EXTENSION_NAMES {
        let versions = gpu.versions_of(name)?;
        let name = name.to_string_lossy();
        ensure!(versions.len() <= 1, "{name} is listed {} times", versions.len());
        for version in versions {
            ensure!(version >= 1, "{name} has version 0");
            listed.push(format!("{name} {version}"));
        }
    }
    Ok(listed.join(", "))
}

fn enumerate(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_any()?;
    let (result, total, _) = gpu.enumerate_extensions(None);
    success("the call for the count", result)?;
    let (_, _, whole) = gpu.enumerate_extensions(Some(total));
    for room in [0, 1, total.saturating_sub(1), total, total + 5] {
        let (result, count, names) = gpu.enumerate_extensions(Some(room));
        let expected = if room < total {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        };
        ensure!(
            result == expected && count == room.min(total),
            "with room for {room} of {total} the call returned {} and a count of {count}",
            show(result)
        );
        ensure!(
            names.len() == count as usize && whole.starts_with(&names),
            "with room for {room} of {total} the call wrote {} names, or other names",
            names.len()
        );
    }
    let distinct: BTreeSet<_> = whole.iter().collect();
    ensure!(distinct.len() == whole.len(), "an extension is listed twice");
    Ok(format!("{total} extensions"))
}

fn features(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_any()?;
    let answers = gpu.abort_support(Query::default());
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
        let listed = gpu.has_extension(extension)?;
        let extension = extension.to_string_lossy();
        ensure!(
            value == vk::Bool32::from(listed),
            "{extension} is {}, but {feature} is {value}",
            if listed { "listed" } else { "not listed" }
        );
    }
    Ok(String::new())
}

fn any_order(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    let plain = gpu.abort_support(Query::default());
    for reversed in [false, true] {
        let answers = gpu.abort_support(Query {
            reversed,
            initial: INITIAL,
            ..Query::default()
        });
        ensure!(
            answers == plain,
            "with another order or other initial values, the answers are {answers:?} instead of {plain:?}"
        );
    }
    Ok(String::new())
}

fn alias(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    let plain = gpu.abort_support(Query::default());
    let alias = gpu.abort_support(Query {
        khr_alias: true,
        ..Query::default()
    });
    ensure!(alias == plain, "the alias answers {alias:?}, the command {plain:?}");
    Ok(String::new())
}

fn message_size(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&[SHADER_ABORT_NAME])?;
    let size = gpu.abort_support(Query::default()).max_message_size;
    ensure!(size >= 65536, "it is {size}");
    Ok(format!("{size} bytes"))
}

fn fault_count(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&[DEVICE_FAULT_NAME])?;
    let count = gpu.abort_support(Query::default()).max_fault_count;
    ensure!(count >= 1, "it is {count}");
    Ok(count.to_string())
}

fn commands(gpu: &'static CheckedGpu) -> Result<String> {
    let with = gpu.device(Enable::FAULT)?;
    let without = gpu.device(Enable::default())?;
    for name in [c"vkGetDeviceFaultReportsKHR", c"vkGetDeviceFaultDebugInfoKHR"] {
        let text = name.to_string_lossy();
        ensure!(with.has_command(name), "vkGetDeviceProcAddr returns NULL for {text}");
        ensure!(
            !without.has_command(name),
            "vkGetDeviceProcAddr returns {text} for a device that did not enable its extension"
        );
    }
    Ok(String::new())
}

fn features_off(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    let off = Enable {
        without_features: true,
        ..Enable::ABORT
    };
    let device = gpu.device(off)?;
    success("vkDeviceWaitIdle", code(device.wait_idle()))?;
    let device = gpu.device(Enable::ABORT)?;
    run_without_abort(device)?;
    Ok(String::new())
}

fn one_extension(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_any()?;
    let mut devices = 0;
    for (name, enable) in [
        (DEVICE_FAULT_NAME, Enable::FAULT),
        (SHADER_CONSTANT_DATA_NAME, Enable::DATA),
    ] {
        if gpu.has_extension(name)? {
            let device = gpu.device(enable)?;
            success("an empty submission", device.submit_nothing())?;
            devices += 1;
        }
    }
    if devices == 0 {
        return skip("the device has neither VK_KHR_device_fault nor VK_KHR_shader_constant_data");
    }
    Ok(String::new())
}
