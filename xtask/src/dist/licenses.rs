//! The licences of everything that released programs contain.

use crate::toolchain;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::{process, root};

/// Beginnings of the names of licence files, in upper case.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// A text that lists the crates in the released programs of `packages` for `target` with their licences, and every licence file
/// once. `runtime` is the code that the linker adds: its name, licence expression and licence file.
///
/// # Errors
///
/// Cargo fails, or the copyright notice of a crate is missing.
pub fn text(target: &str, packages: &[&str], runtime: (&str, &str, &Path)) -> Result<String> {
    let mut list =
        String::from("The programs and libraries of vkabort contain these libraries. Their licences follow.\n\n");
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (runtime, runtime_license, file) = runtime;
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    files.entry(normalized(&text)).or_default().insert(runtime.into());
    for (name, license, folder) in crates(target, packages)? {
        list += &format!("{name}: {license}\n");
        let texts = license_files(&folder)?;
        // The text of this licence has no copyright notice, and another crate brings it.
        ensure!(
            !texts.is_empty() || license == "Apache-2.0",
            "the crate {name} under {license} has no licence file"
        );
        for text in texts {
            files.entry(text).or_default().insert(name.clone());
        }
    }
    list += &format!("{runtime}: {runtime_license}\n");
    list += "Rust standard library: MIT OR Apache-2.0, and others (rust-standard-library.html)\n";
    for (text, names) in files {
        let names: Vec<String> = names.into_iter().collect();
        list += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    Ok(list)
}

/// Name with version, licence expression and folder of each crate that is linked, sorted by name.
fn crates(target: &str, packages: &[&str]) -> Result<Vec<(String, String, PathBuf)>> {
    let mut tree = toolchain::cargo(&[
        "tree",
        "--locked",
        "--target",
        target,
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    tree.args(["--edges", "normal,no-proc-macro", "--format", "{p}"]);
    for package in packages {
        tree.arg("--package").arg(format!("vkabort-{package}"));
    }
    let linked: BTreeSet<String> = process::output(&mut tree)?
        .lines()
        .filter_map(|line| {
            Some(line.split_once(" v")?).map(|(name, rest)| (name, rest.split(' ').next().unwrap_or(rest)))
        })
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let metadata = toolchain::metadata()?;
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` lists no packages")?;
    let mut crates = Vec::new();
    for package in packages {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        let folder = Path::new(text("manifest_path")).parent().unwrap_or(Path::new("/"));
        if !linked.contains(&name) || folder.starts_with(root()) {
            continue;
        }
        ensure!(
            !text("license").is_empty(),
            "the crate {name} does not name its licence"
        );
        crates.push((name, text("license").to_owned(), folder.to_path_buf()));
    }
    ensure!(!crates.is_empty(), "no dependency found");
    crates.sort();
    Ok(crates)
}

/// Contents of the licence files of a crate.
fn license_files(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && (NAMES.iter().any(|start| name.starts_with(start)) || name == "UNLICENSE") {
            texts.push(normalized(&fs::read_to_string(&path)?));
        }
    }
    Ok(texts)
}

/// The text without trailing spaces and blank lines at either end, so that copies of one licence are equal.
fn normalized(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
