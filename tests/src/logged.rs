//! Compares what the layer has logged with the files in `reports/`. `VKABORT_BLESS=1` writes what came out.

use crate::files;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use vkabort_record::report::Report;

/// Where what a report has to be is kept.
pub fn file(name: &str, extension: &str) -> PathBuf {
    files::folder("reports").join(format!("{name}.{extension}"))
}

/// Checks a whole log, text or JSON lines, against the files of that name.
///
/// # Errors
///
/// It differs: the text has both. Or it is no report.
pub fn check(name: &str, log: &str) -> Result<()> {
    ensure!(!log.contains('\x1b'), "there are colours in a log that is no terminal");
    if !log.starts_with('{') {
        return same(&file(name, "txt"), log);
    }
    same(&file(name, "jsonl"), log)?;
    // The strict reader knows every key and refuses others; what it read has to say what the text says.
    let reports = Report::read_json_lines(log).context("the JSON lines are no report")?;
    let again: String = reports.iter().map(Report::json_lines).collect();
    ensure!(again == log, "read and written again it is\n{again}");
    let text: String = reports.iter().map(|report| report.text(false)).collect();
    same(&file(name, "txt"), &text).context("the JSON lines say something else than the text")
}

fn same(path: &Path, found: &str) -> Result<()> {
    if std::env::var_os("VKABORT_BLESS").is_some() {
        return std::fs::write(path, found).with_context(|| format!("cannot write {}", path.display()));
    }
    let expected = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {}: VKABORT_BLESS=1 writes it", path.display()))?;
    if found != expected {
        bail!(
            "the log is not {}; VKABORT_BLESS=1 rewrites it. Expected\n{expected}\nfound\n{found}",
            path.display()
        );
    }
    Ok(())
}
