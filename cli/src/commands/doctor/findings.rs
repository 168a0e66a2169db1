//! The loader, the drivers and the layer of this machine, as JSON.

use crate::failure::{Failure, Result};
use crate::locate;
use crate::settings::variable;
use crate::stage::Stage;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::process::Command;
use vkabort_conform::probe::{CREATED, EXTENSION_NAMES};
use vkabort_manifest::{ENABLE, Kind, LAYER};

/// Lists the loader, layers and devices in a child process, with the layer in `library` or without it.
///
/// # Errors
///
/// The process cannot be started. Anything else that goes wrong in it is a finding.
pub fn probe(library: Option<&PathBuf>) -> Result<Json> {
    let failed = |error: std::io::Error| Failure::file("vkabort doctor", "started", &error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["doctor", "--probe"]).env_remove(ENABLE);
    let layers = std::env::var_os("VK_INSTANCE_LAYERS").unwrap_or_default();
    let others: Vec<PathBuf> = std::env::split_paths(&layers)
        .filter(|name| !name.as_os_str().is_empty() && name.as_os_str() != LAYER)
        .collect();
    match std::env::join_paths(others) {
        Ok(others) if !others.is_empty() => command.env("VK_INSTANCE_LAYERS", others),
        _ => command.env_remove("VK_INSTANCE_LAYERS"),
    };
    let stage = library.map(|library| Stage::new(library)).transpose()?;
    if let Some(stage) = &stage {
        stage.prepare(&mut command);
        command
            .env(variable("log_file")?, stage.file("log"))
            .env(variable("log_format")?, "text")
            .env(variable("log_level")?, "info");
    }
    let output = command.output().map_err(failed)?;
    let mut probed: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        json!({"error": format!("the probe ended with {}: {}", output.status, stderr.trim())})
    });
    if let (Some(stage), Some(probed)) = (&stage, probed.as_object_mut()) {
        let log = std::fs::read_to_string(stage.file("log")).unwrap_or_default();
        probed.insert("log".into(), log.lines().collect());
    }
    Ok(probed)
}

/// Why programs find no device on this machine, if they find none.
pub fn why_no_device() -> Option<String> {
    let probed = probe(None).ok()?;
    match probed["error"].as_str() {
        Some(error) => Some(error.to_owned()),
        None => array(&probed["devices"])
            .is_empty()
            .then(|| "the Vulkan drivers have no device".to_owned()),
    }
}

/// All findings: the registered manifests, and every device as seen `without` the layer and `with` it.
pub fn merge(library: &Result<PathBuf>, without: &Json, with: Option<&Json>) -> Json {
    let registered: Vec<Json> = locate::registered()
        .iter()
        .map(|registered| {
            json!({
                "manifest": registered.manifest,
                "kind": if registered.kind == Kind::Implicit { "implicit" } else { "explicit" },
                "library": registered.library,
                "library_exists": registered.library.is_file(),
            })
        })
        .collect();
    let layered = with.map(|probe| array(&probe["devices"])).unwrap_or_default();
    let devices: Vec<Json> = array(&without["devices"])
        .iter()
        .enumerate()
        .map(|(index, device)| classify(device, layered.get(index)))
        .collect();
    json!({
        "loader": without["loader"],
        "error": without["error"],
        "layer": match library {
            Ok(path) => json!({"library": path}),
            Err(failure) => json!({"error": failure.to_string()}),
        },
        "layer_error": with.map_or(&Json::Null, |probe| &probe["error"]),
        "layer_log": with.map_or(&Json::Null, |probe| &probe["log"]),
        "registered": registered,
        "devices": devices,
    })
}

/// Whether shader aborts work on a device, natively or by the layer.
pub fn any_device_works(findings: &Json) -> bool {
    let works = |device: &Json| device["shader_abort"] == "native" || device["shader_abort"] == "emulated";
    array(&findings["devices"]).iter().any(works)
}

/// Elements of a JSON array; none of any other value.
pub fn array(value: &Json) -> &[Json] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Key of an extension in the findings: its name without the prefix.
pub fn key(extension: &str) -> &str {
    extension.trim_start_matches("VK_KHR_")
}

/// A device with the support of every extension: `native`, `emulated` or `missing`; or `unusable`, if it would be emulated
/// but a device that enables it cannot be created.
fn classify(device: &Json, layered: Option<&Json>) -> Json {
    let mut device = device.clone();
    let has = |probe: &Json, name: &str| array(&probe["extensions"]).iter().any(|extension| extension == name);
    let works = |probe: &Json| probe["vkCreateDevice"].as_str().is_none_or(|result| result == CREATED);
    for extension in EXTENSION_NAMES {
        let name = extension.to_string_lossy();
        let support = if has(&device, &name) {
            "native"
        } else {
            match layered.filter(|layered| layered["name"] == device["name"] && has(layered, &name)) {
                Some(layered) if works(layered) => "emulated",
                Some(_) => "unusable",
                None => "missing",
            }
        };
        device[key(&name)] = json!(support);
    }
    if let Some(layered) = layered {
        device["vkCreateDevice"] = layered["vkCreateDevice"].clone();
        device["said"] = layered["said"].clone();
    }
    device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_of_a_device_is_classified() {
        let device = json!({"name": "a", "extensions": ["VK_KHR_device_fault"]});
        let layered = json!({"name": "a", "extensions": ["VK_KHR_shader_abort", "VK_KHR_device_fault"]});
        let classified = classify(&device, Some(&layered));
        assert_eq!(classified["shader_abort"], "emulated");
        assert_eq!(classified["device_fault"], "native");
        assert_eq!(classified["shader_constant_data"], "missing");
        assert_eq!(classify(&device, None)["shader_abort"], "missing");
    }

    #[test]
    fn a_device_that_cannot_be_created_is_not_emulated() {
        let device = json!({"name": "a", "extensions": []});
        let layered =
            |result: &str| json!({"name": "a", "extensions": ["VK_KHR_shader_abort"], "vkCreateDevice": result});
        let failed = classify(&device, Some(&layered("ERROR_OUT_OF_HOST_MEMORY")));
        assert_eq!(failed["shader_abort"], "unusable");
        assert!(!any_device_works(&json!({"devices": [failed]})));
        let created = classify(&device, Some(&layered(CREATED)));
        assert_eq!(created["shader_abort"], "emulated");
        assert!(any_device_works(&json!({"devices": [created]})));
    }
}
