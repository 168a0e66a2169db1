//! `vkabort settings`.

mod common;

use common::{Run, folder, run_with};

fn settings(name: &str, file: &str, options: &[&str], variables: &[(&str, &str)]) -> Run {
    let folder = folder(name);
    std::fs::write(folder.join("vk_layer_settings.txt"), file).expect("written");
    let home = folder.to_string_lossy().into_owned();
    let mut all = vec![("HOME", home.as_str()), ("XDG_DATA_HOME", &home)];
    all.extend(variables);
    run_with(&folder, &[&["settings"], options].concat(), b"", &all)
}

#[test]
fn every_setting_is_listed_with_its_value_and_source() {
    let file = "khronos_validation.log_level = none\nvkabort_shader_abort.arena_size = 4M # bytes\n";
    let variables = [("VK_VKABORT_SHADER_ABORT_ENABLE", "always"), ("VKABORT_ENABLE", "1")];
    let ran = settings("settings_valid", file, &[], &variables).ok();
    assert_eq!(ran.stderr, "");
    let lines: Vec<Vec<&str>> = ran
        .text()
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for expected in [
        &[
            "enable",
            "always",
            "environment",
            "variable",
            "VK_VKABORT_SHADER_ABORT_ENABLE",
        ][..],
        &["arena_size", "4M", "vk_layer_settings.txt,", "line", "2"],
        &["trap", "return", "default"],
        &["max_message_size", "65536", "default"],
        &["vk_layer_settings.txt:", "vk_layer_settings.txt"],
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected:?}\n{}",
            ran.text()
        );
    }
    let ran = settings("settings_json", file, &["--json"], &variables[..1]).ok();
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(json["problems"], serde_json::json!([]));
    let enable = serde_json::json!({
        "key": "enable", "value": "always", "origin": "environment variable VK_VKABORT_SHADER_ABORT_ENABLE"
    });
    assert!(
        json["settings"].as_array().is_some_and(|all| all.contains(&enable)),
        "{json}"
    );
}

#[test]
fn whatever_has_no_effect_is_reported_with_the_nearest_name() {
    let ran = settings(
        "settings_misspelt",
        "vkabort_shader_abort.on_abort = contineu\n",
        &[],
        &[
            ("VK_VKABORT_SHADER_ABORT_TARP", "hang"),
            ("VK_SHADER_ABORT_TRAP", "explode"),
            ("VK_LAYER_SETTINGS_PATH", "/nonexistent"),
            ("VKABORT_ENABLE", "true"),
        ],
    );
    let lines = ran.text().lines().map(str::split_whitespace);
    assert!(
        lines.clone().any(|line| line.eq(["on_abort", "lose", "default"])),
        "{}",
        ran.text()
    );
    assert!(
        lines.clone().any(|line| line.eq(["trap", "return", "default"])),
        "{}",
        ran.text()
    );
    ran.fails(3, "Did you mean `VK_VKABORT_SHADER_ABORT_TRAP`?");
    ran.says("VK_SHADER_ABORT_TRAP: `explode` is not a valid value for trap");
    ran.says("VK_LAYER_SETTINGS_PATH = /nonexistent: there is no file /nonexistent");
    ran.says("vk_layer_settings.txt, line 1: `contineu` is not a valid value for on_abort; did you mean `continue`?");
    ran.says("VKABORT_ENABLE=true does not switch the layer on: the Vulkan loader accepts the value 1 only");
}

#[test]
fn a_variable_that_switches_the_layer_off_is_named() {
    let ran = settings(
        "settings_off",
        "",
        &[],
        &[("VKABORT_ENABLE", "1"), ("VKABORT_DISABLE", "0")],
    );
    ran.fails(
        3,
        "VKABORT_DISABLE is set: it switches the layer off, whatever its value",
    );
}

#[test]
fn settings_that_others_imply_have_their_values() {
    let variables = [("VK_VKABORT_SHADER_ABORT_SANITIZE", "loops")];
    let ran = settings(
        "settings_implied",
        "vkabort_shader_abort.emulation = force\n",
        &[],
        &variables,
    )
    .ok();
    let lines: Vec<Vec<&str>> = ran
        .text()
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for expected in [
        &["enable", "always", "implied", "by", "sanitize"][..],
        &["on_abort", "continue_checks", "implied", "by", "sanitize"],
        &["emulation", "force", "vk_layer_settings.txt,", "line", "1"],
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected:?}\n{}",
            ran.text()
        );
    }
    let off = settings("settings_off", "", &[], &[("VK_VKABORT_SHADER_ABORT_SANITIZE", "off")]).ok();
    assert!(!off.text().contains("implied"), "{}", off.text());
    let ran = settings("settings_check", "vkabort_shader_abort.sanitize = loop\n", &[], &[]);
    ran.fails(3, "`loop` is not a valid value for sanitize; did you mean `loops`?");
}
