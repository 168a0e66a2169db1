//! `vkabort doctor`: drivers found, what each supports, what the layer adds and why not.

use crate::args::DoctorArgs;
use crate::failure::{Failure, Result, code};
use crate::launch::Stage;
use crate::locate::{self, Kind, LAYER};
use crate::manifest::{ENABLE, variable};
use crate::{io, vulkan};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Looks at the machine.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    if args.probe {
        io::print(&format!("{}\n", vulkan::probe()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let library = locate::library(args.layer.as_deref());
    let without = probe(None)?;
    let with = match &library {
        Ok(library) => Some(probe(Some(library))?),
        Err(_) => None,
    };
    let findings = findings(&library, &without, with.as_ref());
    let text = if args.json {
        format!("{findings}\n")
    } else {
        show(&findings)
    };
    io::print(&text)?;
    let works = |device: &Json| device["shader_abort"] == "native" || device["shader_abort"] == "emulated";
    let any = findings["devices"].as_array().is_some_and(|all| all.iter().any(works));
    Ok(if any {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(code::UNSUPPORTED)
    })
}

/// What a child process sees, with the layer or without it.
fn probe(library: Option<&PathBuf>) -> Result<Json> {
    let failed = |error: std::io::Error| Failure::file("vkabort doctor", "started", &error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["doctor", "--probe"]).env_remove(ENABLE);
    let own: Vec<String> = std::env::var("VK_INSTANCE_LAYERS")
        .unwrap_or_default()
        .split(':')
        .filter(|name| !name.is_empty() && *name != LAYER)
        .map(str::to_owned)
        .collect();
    if own.is_empty() {
        command.env_remove("VK_INSTANCE_LAYERS");
    } else {
        command.env("VK_INSTANCE_LAYERS", own.join(":"));
    }
    let stage = library.map(|library| Stage::new(library)).transpose()?;
    if let Some(stage) = &stage {
        stage.prepare(&mut command);
        command
            .env(variable("log_file", "")?, stage.file("log"))
            .env(variable("log_format", "text")?, "text")
            .env(variable("log_level", "info")?, "info");
    }
    let output = command.output().map_err(failed)?;
    let mut seen: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        json!({"error": format!("the probe ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())})
    });
    if let (Some(stage), Some(seen)) = (&stage, seen.as_object_mut()) {
        let log = std::fs::read_to_string(stage.file("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        seen.insert("log".into(), json!(lines));
    }
    Ok(seen)
}

fn findings(library: &Result<PathBuf>, without: &Json, with: Option<&Json>) -> Json {
    let registered: Vec<Json> = locate::registered()
        .iter()
        .map(|found| {
            json!({
                "manifest": found.manifest,
                "kind": if found.kind == Kind::Implicit { "implicit" } else { "explicit" },
                "library": found.library,
                "library_exists": found.library.is_file(),
            })
        })
        .collect();
    let empty = Vec::new();
    let list = |probe: &Json| probe["devices"].as_array().cloned().unwrap_or_default();
    let layered = with.map(list).unwrap_or_default();
    let devices: Vec<Json> = without["devices"]
        .as_array()
        .unwrap_or(&empty)
        .iter()
        .enumerate()
        .map(|(index, device)| verdict(device, layered.get(index)))
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

/// A device with a verdict for every extension: `native`, `emulated` or `missing`.
fn verdict(device: &Json, layered: Option<&Json>) -> Json {
    let mut device = device.clone();
    let has = |probe: &Json, name: &str| {
        probe["extensions"]
            .as_array()
            .is_some_and(|all| all.iter().any(|e| e == name))
    };
    for extension in vulkan::EXTENSIONS {
        let name = extension.to_string_lossy();
        let verdict = if has(&device, &name) {
            "native"
        } else if layered.is_some_and(|layered| layered["name"] == device["name"] && has(layered, &name)) {
            "emulated"
        } else {
            "missing"
        };
        let key = name.trim_start_matches("VK_KHR_").to_owned();
        device[key] = json!(verdict);
    }
    if let Some(layered) = layered {
        device["vkCreateDevice"] = layered["vkCreateDevice"].clone();
        device["said"] = layered["said"].clone();
    }
    device
}

/// What the layer has decided for a device, by subject: `vkabort: info: device 0x1: subject: what`.
fn decided(line: &str) -> Option<(&str, &str)> {
    let (device, rest) = line.strip_prefix("vkabort: info: ")?.split_once(": ")?;
    device.strip_prefix("device ").and_then(|_| rest.split_once(": "))
}

fn show(findings: &Json) -> String {
    let mut out = String::new();
    let text = |value: &Json| value.as_str().unwrap_or("unknown").to_owned();
    match findings["error"].as_str() {
        Some(error) => {
            let _ = writeln!(out, "Vulkan does not work here: {error}");
        }
        None => {
            let _ = writeln!(out, "Vulkan loader    {}", text(&findings["loader"]));
        }
    }
    let layer = &findings["layer"];
    match layer["library"].as_str() {
        Some(path) => {
            let _ = writeln!(out, "layer's library  {path}");
        }
        None => {
            let _ = writeln!(out, "layer's library  not found: {}", text(&layer["error"]));
        }
    }
    if let Some(error) = findings["layer_error"].as_str() {
        let _ = writeln!(out, "with the layer   {error}");
    }
    let empty = Vec::new();
    let list = |value: &'_ Json| value.as_array().cloned().unwrap_or_default();
    let registered = findings["registered"].as_array().unwrap_or(&empty);
    if registered.is_empty() {
        out.push_str("registered       no: `vkabort install` does it; `vkabort run` works without\n");
    }
    for found in registered {
        let how = match found["kind"].as_str() {
            Some("implicit") => format!("set {ENABLE}=1 to switch it on"),
            _ => format!("set VK_INSTANCE_LAYERS={LAYER} to switch it on"),
        };
        let missing = if found["library_exists"] == json!(true) {
            ""
        } else {
            "; its library does not exist"
        };
        let _ = writeln!(out, "registered       {} ({how}{missing})", text(&found["manifest"]));
    }
    for device in list(&findings["devices"]) {
        let _ = writeln!(
            out,
            "\n{} ({}), Vulkan {}, {}",
            text(&device["name"]),
            text(&device["kind"]),
            text(&device["api_version"]),
            text(&device["driver"])
        );
        for extension in vulkan::EXTENSIONS {
            let name = extension.to_string_lossy();
            let verdict = text(&device[name.trim_start_matches("VK_KHR_")]);
            let _ = writeln!(out, "  {name:<28} {verdict}");
        }
        let lacks: Vec<String> = list(&device["lacks"]).iter().map(&text).collect();
        if !lacks.is_empty() {
            let _ = writeln!(out, "  {:<28} {}", "cannot be emulated without", lacks.join(", "));
        }
        for line in list(&device["said"]) {
            if let Some((subject, what)) = decided(&text(&line)) {
                let _ = writeln!(out, "  {subject:<28} {what}");
            }
        }
        if let Some(tried) = device["vkCreateDevice"].as_str() {
            let _ = writeln!(out, "  {:<28} {tried}", "vkCreateDevice with them");
        }
    }
    let mut log = list(&findings["layer_log"]);
    log.retain(|line| decided(&text(line)).is_none());
    if !log.is_empty() {
        out.push_str("\nwhat the layer says\n");
        for line in log {
            let _ = writeln!(out, "  {}", text(&line).trim_start_matches("vkabort: "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_for_a_device_stands_with_the_device() {
        let line = "vkabort: info: device 0x5: message address: kept in /a: b";
        assert_eq!(decided(line), Some(("message address", "kept in /a: b")));
        for other in [
            "vkabort: info: physical device 0x5: native: none",
            "vkabort: warning: device 0x5: a: b",
            "",
        ] {
            assert_eq!(decided(other), None, "{other}");
        }
    }

    #[test]
    fn a_device_has_a_verdict_for_every_extension() {
        let device = json!({"name": "a", "extensions": ["VK_KHR_device_fault"]});
        let layered = json!({"name": "a", "extensions": ["VK_KHR_shader_abort", "VK_KHR_device_fault"]});
        let found = verdict(&device, Some(&layered));
        assert_eq!(found["shader_abort"], "emulated");
        assert_eq!(found["device_fault"], "native");
        assert_eq!(found["shader_constant_data"], "missing");
        assert_eq!(verdict(&device, None)["shader_abort"], "missing");
    }
}
