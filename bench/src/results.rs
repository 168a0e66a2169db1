//! Results of a part: measurements and the machine, in a file of JSON lines.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_runner::Measurement;
use vkabort_test_kit::{process, root};

/// Results of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Facts about the machine and the run: name and value.
    pub facts: Vec<(String, String)>,
    /// The measurements.
    pub measurements: Vec<Measurement>,
}

/// Folder of the results.
pub fn folder() -> PathBuf {
    root().join("bench/results")
}

impl Results {
    /// Writes the results of a part.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, part: &str) -> Result<()> {
        let facts: serde_json::Map<String, Value> = self
            .facts
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        let mut text = format!("{}\n", json!(facts));
        for measurement in &self.measurements {
            text += &(measurement.line() + "\n");
        }
        fs::create_dir_all(folder())?;
        let path = path(part);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads the results of a part; none if it has not run.
    ///
    /// # Errors
    ///
    /// The file is not one that [`Self::write`] wrote.
    pub fn read(part: &str) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(path(part)) else {
            return Ok(None);
        };
        let mut lines = text.lines();
        let facts: Value = serde_json::from_str(lines.next().unwrap_or("{}"))?;
        let facts = facts.as_object().into_iter().flatten();
        let facts = facts.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
        Ok(Some(Self {
            facts: facts.collect(),
            measurements: lines.map(serde_json::from_str).collect::<Result<_, _>>()?,
        }))
    }
}

fn path(part: &str) -> PathBuf {
    folder().join(part).with_extension("jsonl")
}

/// Facts about this machine and run.
pub fn machine_facts() -> Vec<(String, String)> {
    let first = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        let (_, value) = line.split_once([':', '=']).unwrap_or_default();
        value.trim().trim_matches('"').to_owned()
    };
    let command = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        let output = process::output(command.args(arguments).current_dir(root()));
        output.unwrap_or_default().trim().to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let date = command("date", &["--utc", "+%Y-%m-%d %H:%M UTC"]);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut commit = command("git", &["rev-parse", "--short", "HEAD"]);
    // Not the results and plots that the benchmarks write.
    let sources = [".", ":(exclude)bench/RESULTS.md", ":(exclude)docs/src/*.svg"];
    if !command("git", &[&["status", "--porcelain", "--"], &sources[..]].concat()).is_empty() {
        commit += "-dirty";
    }
    [
        (
            "processor",
            format!("{}, {cores} cores", first("/proc/cpuinfo", "model name")),
        ),
        ("memory", first("/proc/meminfo", "MemTotal")),
        ("system", first("/etc/os-release", "PRETTY_NAME")),
        ("kernel", command("uname", &["-sr"])),
        ("compiler", command("rustc", &["--version"])),
        ("commit", commit),
        (
            "profile",
            if cfg!(debug_assertions) { "dev" } else { "dist" }.to_owned(),
        ),
        ("date", date),
        (
            "load before the part",
            load.split(' ').next().unwrap_or_default().to_owned(),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Writes a file of the folder `bench`.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_report(name: &str, text: &str) -> Result<()> {
    let path: &Path = &root().join("bench").join(name);
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
