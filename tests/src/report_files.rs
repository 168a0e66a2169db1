//! Compares logs with the expected reports in `reports/`. `VKABORT_BLESS=1` rewrites the files.

use crate::files;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use vkabort_report::Report;
use vkabort_report::json::SCHEMA_VERSION;

/// Path of an expected report.
pub fn file(name: &str, extension: &str) -> PathBuf {
    files::folder("reports").join(format!("{name}.{extension}"))
}

/// The text of an expected report in JSON lines, with the current version.
///
/// # Errors
///
/// It cannot be read.
pub fn json(name: &str) -> Result<String> {
    let path = file(name, "jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.replace("\"version\":\"\"", &format!("\"version\":\"{SCHEMA_VERSION}\"")))
}

/// Compares a log, in text or JSON lines, with the files of that name.
///
/// # Errors
///
/// The log differs, or is not a report.
pub fn check(name: &str, log: &str) -> Result<()> {
    ensure!(!log.contains('\x1b'), "the log file contains colours");
    if !log.starts_with('{') {
        return compare(&file(name, "txt"), log);
    }
    // A change of the version alone changes no expected report.
    let version = format!("\"version\":\"{SCHEMA_VERSION}\"");
    compare(&file(name, "jsonl"), &log.replace(&version, "\"version\":\"\""))?;
    // The strict reader rejects unknown keys. The report that it reads must equal the text.
    let reports = Report::read_json_lines(log).context("the JSON lines are not a report")?;
    let rewritten: String = reports.iter().map(Report::json_lines).collect();
    ensure!(rewritten == log, "parsed and written again, the log is\n{rewritten}");
    let text: String = reports.iter().map(|report| report.text(false)).collect();
    compare(&file(name, "txt"), &text).context("the JSON lines differ from the text report")
}

fn compare(path: &Path, found: &str) -> Result<()> {
    if std::env::var_os("VKABORT_BLESS").is_some() {
        return std::fs::write(path, found).with_context(|| format!("cannot write {}", path.display()));
    }
    let expected = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {}; VKABORT_BLESS=1 writes it", path.display()))?;
    if found != expected {
        bail!(
            "the log differs from {}; VKABORT_BLESS=1 rewrites it. Expected\n{expected}\nfound\n{found}",
            path.display()
        );
    }
    Ok(())
}
