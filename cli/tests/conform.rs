//! `vkabort conform` without a driver, and its lists. The end-to-end tests run the checks on real drivers.

mod common;

use common::{Run, folder, run_with, vkabort, without_vulkan};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the command where no driver is found.
fn without_driver(folder: &Path, args: &[&str]) -> Run {
    let home = folder.to_str().expect("UTF-8");
    let nothing = without_vulkan(home);
    run_with(folder, &[&["conform"], args].concat(), b"", &nothing)
}

fn json(run: &Run) -> Json {
    serde_json::from_str(run.text()).expect("JSON")
}

#[test]
fn the_list_names_every_check_and_cites_the_specification() {
    let run = vkabort(&["conform", "--list", "--json"], b"").ok();
    let list = json(&run);
    let list = list.as_array().expect("an array");
    assert!(list.len() > 60, "{} checks", list.len());
    let names: BTreeSet<&str> = list.iter().filter_map(|check| check["name"].as_str()).collect();
    assert_eq!(names.len(), list.len());
    for group in [
        "extension.",
        "abort.",
        "message.",
        "debug_info.",
        "reports.",
        "lost.",
        "recovery.",
        "cache.",
    ] {
        assert!(names.iter().any(|name| name.starts_with(group)), "{group}");
    }
    for check in list {
        assert!(check["section"].is_string() && check["sentence"].is_string(), "{check}");
    }
    let run = vkabort(&["conform", "--list"], b"").ok();
    for check in list {
        assert!(run.text().contains(check["name"].as_str().expect("text")));
        assert!(run.text().contains(check["sentence"].as_str().expect("text")));
    }
}

#[test]
fn a_filter_selects_by_a_part_of_the_name() {
    let run = vkabort(&["conform", "--list", "--filter", "lost.vkwait", "--json"], b"").ok();
    let list = json(&run);
    let names: Vec<&str> = list
        .as_array()
        .expect("an array")
        .iter()
        .filter_map(|check| check["name"].as_str())
        .collect();
    assert_eq!(names, ["lost.vkWaitForFences", "lost.vkWaitSemaphores"]);
    vkabort(&["conform", "--filter", "nothing like it"], b"").fails(3, "--list");
}

#[test]
fn without_a_driver_the_reason_is_stated_once() {
    let folder = folder("conform-without");
    let run = without_driver(&folder, &["--filter", "message.", "--junit", "result.xml"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    let lines: Vec<&str> = run.text().lines().collect();
    // The machine may lack the loader too.
    let reasons = ["no Vulkan driver was found", "the Vulkan loader"];
    assert!(reasons.iter().any(|reason| lines[0].contains(reason)), "{}", run.text());
    let xml = std::fs::read_to_string(folder.join("result.xml")).expect("written");
    let skipped = xml.matches("<skipped message=").count();
    assert!(skipped > 3, "{xml}");
    assert!(xml.contains("classname=\"vkabort.conform.message\""), "{xml}");
    assert!(lines[0].starts_with("skip  message."), "{}", lines[0]);
    assert!(
        lines[0].contains(&format!(" and {} more: ", skipped - 3)),
        "{}",
        lines[0]
    );
    let summary = format!("0 passed, 0 failed, {skipped} skipped");
    assert_eq!(lines[1..], ["", summary.as_str()]);
}

#[test]
fn json_contains_the_results_and_their_counts() {
    let folder = folder("conform-json");
    let run = without_driver(&folder, &["--filter", "extension.", "--json"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    let found = json(&run);
    assert_eq!(found["mode"], "as installed");
    assert!(found["device"].is_null());
    let results = found["results"].as_array().expect("an array");
    assert_eq!(found["counts"]["skip"], results.len());
    let counted: u64 = found["counts"]
        .as_object()
        .expect("an object")
        .values()
        .filter_map(Json::as_u64)
        .sum();
    assert_eq!(counted, results.len() as u64);
    for result in results {
        assert_eq!(result["outcome"], "skip");
        assert!(result["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        assert!(result["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));
        assert!(result["name"].is_string() && result["sentence"].is_string());
    }
}

#[test]
fn emulated_checks_require_the_layer() {
    let folder = folder("conform-layer");
    let run = without_driver(&folder, &["--emulated", "--layer", "nowhere"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let run = without_driver(&folder, &["--emulated", "--as-installed"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let run = without_driver(&folder, &["--set", "trap=hang"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn shaders_are_written_as_modules() {
    let folder = folder("conform-shaders");
    let run = common::run_in(&folder, &["conform", "--shaders", "out"], b"").ok();
    let mut count = 0;
    for path in run.text().lines() {
        let bytes = std::fs::read(folder.join(path)).expect("written");
        assert_eq!(bytes.first_chunk(), Some(&0x0723_0203u32.to_le_bytes()), "{path}");
        count += 1;
    }
    assert!(count >= 10, "{count} shaders");
}
