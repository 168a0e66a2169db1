//! The findings as text.

use super::findings::{array, key};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use vkabort_conform::probe::EXTENSION_NAMES;
use vkabort_manifest::{ENABLE, LAYER};

/// All findings, in a paragraph about the layer and one for each device.
pub fn text(findings: &Json) -> String {
    let mut out = String::new();
    show_layer(findings, &mut out);
    for device in array(&findings["devices"]) {
        show_device(device, &mut out);
    }
    let log: Vec<&str> = array(&findings["layer_log"])
        .iter()
        .map(string)
        .filter(|line| device_line(line).is_none())
        .collect();
    if !log.is_empty() {
        out.push_str("\nlog of the layer\n");
        for line in log {
            let _ = writeln!(out, "  {}", line.trim_start_matches("vkabort: "));
        }
    }
    out
}

fn show_layer(findings: &Json, out: &mut String) {
    let _ = match findings["error"].as_str() {
        Some(error) => writeln!(out, "Vulkan loader    does not work: {error}"),
        None => writeln!(out, "Vulkan loader    {}", string(&findings["loader"])),
    };
    let layer = &findings["layer"];
    let _ = match layer["library"].as_str() {
        Some(path) => writeln!(out, "layer's library  {path}"),
        None => writeln!(out, "layer's library  not found: {}", string(&layer["error"])),
    };
    if let Some(error) = findings["layer_error"].as_str() {
        let _ = writeln!(out, "with the layer   {error}");
    }
    let registered = array(&findings["registered"]);
    if registered.is_empty() {
        out.push_str("registered       no (`vkabort install` registers the layer; `vkabort run` does not need it)\n");
    }
    for manifest in registered {
        let switch = match manifest["kind"].as_str() {
            Some("implicit") => format!("set {ENABLE}=1 to switch it on"),
            _ => format!("set VK_INSTANCE_LAYERS={LAYER} to switch it on"),
        };
        let missing = if manifest["library_exists"] == json!(true) {
            ""
        } else {
            "; its library does not exist"
        };
        let _ = writeln!(
            out,
            "registered       {} ({switch}{missing})",
            string(&manifest["manifest"])
        );
    }
}

fn show_device(device: &Json, out: &mut String) {
    let _ = writeln!(
        out,
        "\n{} ({}), Vulkan {}, {}",
        string(&device["name"]),
        string(&device["kind"]),
        string(&device["api_version"]),
        string(&device["driver"])
    );
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<28} {value}");
    };
    for extension in EXTENSION_NAMES {
        let name = extension.to_string_lossy();
        row(
            &name,
            match string(&device[key(&name)]) {
                "unusable" => "not usable: with it, vkCreateDevice fails as shown below",
                support => support,
            },
        );
    }
    let lacks: Vec<&str> = array(&device["lacks"]).iter().map(string).collect();
    if !lacks.is_empty() && device["shader_abort"] == "missing" {
        let remedy = match lacks.iter().all(|feature| feature.ends_with("StoresAndAtomics")) {
            true => " (emulation = partial emulates the other shader stages)",
            false => "",
        };
        row("cannot be emulated without", &format!("{}{remedy}", lacks.join(", ")));
    }
    for line in array(&device["said"]) {
        if let Some((subject, decision)) = device_line(string(line)) {
            row(subject, decision);
        }
    }
    if let Some(result) = device["vkCreateDevice"].as_str() {
        row("vkCreateDevice with them", result);
    }
}

fn string(value: &Json) -> &str {
    value.as_str().unwrap_or("unknown")
}

/// Subject and decision of a log line about a logical device: ``vkabort: info: device `NAME`: SUBJECT: DECISION``.
fn device_line(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix("vkabort: info: device `")?.split_once("`: ")?;
    rest.split_once(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decisions_about_logical_devices_are_device_lines() {
        let line = "vkabort: info: device `GPU: 2`: message address: kept in /a: b";
        assert_eq!(device_line(line), Some(("message address", "kept in /a: b")));
        for other in [
            "vkabort: info: physical device `GPU`: native: none",
            "vkabort: warning: device `GPU`: a: b",
            "",
        ] {
            assert_eq!(device_line(other), None, "{other}");
        }
    }
}
