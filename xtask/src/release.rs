//! `cargo xtask release`: every check that is too slow for each change, one after the other.
//!
//! Each is a command of its own and writes its row in `xtask/last_runs.md`. The rows decide the result: each has to say that the
//! command passed, with the sources as they are.

use crate::last_runs::{self, Row};
use anyhow::{Result, bail};
use std::process::Command;
use vkabort_test_kit::{process, root};

/// A command, without `cargo xtask`, and the paths that it covers besides [`COMMON`].
type Slow = (&'static [&'static str], &'static [&'static str]);

/// Paths that every command covers.
const COMMON: [&str; 11] = [
    "Cargo.lock",
    "Cargo.toml",
    "record",
    "report",
    "instrument",
    "vk-ext",
    "layer",
    "manifest",
    "settings",
    "spirv-builder",
    ".cargo",
];
/// Paths that run the end-to-end cases.
const CASES: [&str; 7] = [
    "conform",
    "gpu",
    "runner",
    "tests/driver",
    "tests/kit",
    "tests/src",
    "tests/shaders",
];
/// Further paths in packages.
const PACKAGED: [&str; 5] = ["cli", "decode", "examples", "windows", "xtask/src/dist"];

const SLOW: [Slow; 14] = [
    (&["sanitize", "address"], &CASES),
    (&["sanitize", "thread"], &CASES),
    (&["sanitize", "memcheck"], &CASES),
    (&["sanitize", "miri"], &[]),
    (&["fuzz"], &["tests/oracle", "tests/fuzz/fuzz_targets"]),
    (&["test", "--matrix"], &CASES),
    (&["test", "--windows"], &["windows", "cli", "tests"]),
    (&["test", "--arm64"], &["cli", "examples"]),
    (&["test", "--i686"], &CASES),
    (&["test", "--apps"], &["cli", "tests/apps"]),
    (&["test", "--apps", "--sanitize"], &["cli", "tests/apps"]),
    // With the layer for 32-bit programs.
    (&["dist", "--check"], &PACKAGED),
    (&["dist", "--target", "aarch64-unknown-linux-gnu", "--check"], &PACKAGED),
    (&["dist", "--windows", "--check"], &PACKAGED),
];

/// Runs the commands in turn, each to its end although others fail, unless `only_rows`. Then checks their rows.
///
/// # Errors
///
/// A row is missing, says that its command failed, or is older than the last change of the paths that it covers.
pub fn release(only_rows: bool) -> Result<()> {
    if !only_rows {
        let program = std::env::current_exe()?;
        for (words, _) in SLOW {
            println!("\n== {}", name(words));
            if let Err(error) = process::run(Command::new(&program).args(words).current_dir(root())) {
                println!("{}: {error:#}", name(words));
            }
        }
    }
    let rows = last_runs::rows()?;
    let faults: Vec<String> = SLOW
        .iter()
        .filter_map(|(words, covered)| {
            let name = name(words);
            let fault = fault(rows.iter().find(|row| row.command == name), covered)?;
            Some(format!("{name}: {fault}"))
        })
        .collect();
    if faults.is_empty() {
        println!("\nEvery slow check passed with these sources.");
        return Ok(());
    }
    bail!("{}", faults.join("\n"))
}

fn name(words: &[&str]) -> String {
    format!("cargo xtask {}", words.join(" "))
}

/// Why a row does not speak for the sources as they are.
fn fault(row: Option<&Row>, covered: &[&str]) -> Option<String> {
    let Some(row) = row else {
        return Some("has never run".to_owned());
    };
    if !row.outcome.starts_with("passed") {
        return Some(row.outcome.clone());
    }
    if row.commit.contains(',') {
        return Some(format!("ran with uncommitted changes of {}", row.commit));
    }
    let mut compared = Command::new("git");
    compared
        .args(["diff", "--quiet", &row.commit, "--"])
        .args(COMMON)
        .args(covered)
        .current_dir(root());
    let is_current = compared.status().is_ok_and(|status| status.success());
    (!is_current).then(|| format!("ran on {}, before the last change of what it covers", row.commit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(commit: &str, outcome: &str) -> Row {
        Row {
            command: String::new(),
            commit: commit.to_owned(),
            outcome: outcome.to_owned(),
        }
    }

    #[test]
    fn a_row_speaks_for_the_sources_only_if_it_passed_with_them() {
        let fault = |commit, outcome| fault(Some(&row(commit, outcome)), &[]);
        assert_eq!(super::fault(None, &[]).as_deref(), Some("has never run"));
        assert_eq!(fault("HEAD", "failed: x").as_deref(), Some("failed: x"));
        assert!(fault("HEAD, changed", "passed").is_some_and(|text| text.contains("uncommitted")));
        assert!(fault("0000000", "passed").is_some_and(|text| text.contains("before the last change")));
    }

    #[test]
    fn every_path_that_is_covered_exists() {
        for path in SLOW.iter().flat_map(|(_, covered)| *covered).chain(&COMMON) {
            assert!(root().join(path).exists(), "{path}");
        }
    }
}
