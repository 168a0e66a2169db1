//! `vkabort doctor` where nothing works. On real drivers it is tested end to end.

mod common;

use common::{folder, run_with, without_vulkan};
use serde_json::Value as Json;

#[test]
fn a_machine_without_drivers_is_said_to_be_one() {
    let folder = folder("doctor");
    let home = folder.to_str().expect("UTF-8");
    let nothing = without_vulkan(home);
    std::fs::write(folder.join("libVkLayer_vkabort_shader_abort.so"), b"no library").expect("written");
    let ran = run_with(&folder, &["doctor", "--layer", ".", "--json"], b"", &nothing);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let found: Json = serde_json::from_str(ran.text()).expect("JSON");
    assert!(found["error"].is_string(), "{found}");
    assert!(found["devices"].as_array().is_some_and(Vec::is_empty), "{found}");
    let registered = |found: &Json| found["registered"].as_array().map(|all| all.len());
    assert!(registered(&found).is_some(), "{found}");
    let ran = run_with(&folder, &["doctor", "--layer", "."], b"", &nothing);
    assert_eq!(ran.code, 5);
    assert!(ran.text().starts_with("Vulkan does not work here: "), "{}", ran.text());
}
