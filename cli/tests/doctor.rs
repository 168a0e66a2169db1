//! `vkabort doctor` without drivers. The end-to-end tests run it on real drivers.
// Shell scripts and the folders of Linux.
#![cfg(unix)]

mod common;

use common::{folder, run_with, without_vulkan};
use serde_json::Value as Json;

#[test]
fn machines_without_drivers_are_unsupported() {
    let folder = folder("doctor");
    let home = folder.to_str().expect("UTF-8");
    let variables = without_vulkan(home);
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), b"not a library").expect("written");
    let run = run_with(&folder, &["doctor", "--layer", ".", "--json"], b"", &variables);
    assert_eq!(run.code, 5, "{}", run.stderr);
    let found: Json = serde_json::from_str(run.text()).expect("JSON");
    assert!(found["error"].is_string(), "{found}");
    assert!(found["devices"].as_array().is_some_and(Vec::is_empty), "{found}");
    let registered = |found: &Json| found["registered"].as_array().map(|all| all.len());
    assert!(registered(&found).is_some(), "{found}");
    let run = run_with(&folder, &["doctor", "--layer", "."], b"", &variables);
    assert_eq!(run.code, 5);
    run.begins("Vulkan loader    does not work: ");
    if run.text().contains("no Vulkan driver was found") {
        run.prints("VK_DRIVER_FILES is set to /nonexistent.json, so ");
    }
}
