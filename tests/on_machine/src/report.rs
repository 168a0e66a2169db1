//! Output files: `table.txt`, `table.json` and the logs.

use crate::results::Comparison;
use crate::supervise::Row;
use anyhow::{Context, Result};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

/// The folder named by `--out`.
pub struct Out<'a>(pub Option<&'a Path>);

impl Out<'_> {
    /// Creates the folder before any part runs, so that an unwritable path fails early.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn prepare(&self) -> Result<()> {
        let Some(folder) = self.0 else { return Ok(()) };
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
    }

    /// Copies the log of a part.
    ///
    /// # Errors
    ///
    /// The log cannot be copied.
    pub fn log(&self, row: &Row) -> Result<()> {
        let (Some(folder), Some(name)) = (self.0, row.log.file_name()) else {
            return Ok(());
        };
        fs::copy(&row.log, folder.join(name)).with_context(|| format!("cannot write into {}", folder.display()))?;
        Ok(())
    }

    /// Writes the table as text and as JSON.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn tables(&self, text: &str, json: &Json) -> Result<()> {
        let Some(folder) = self.0 else { return Ok(()) };
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        write("table.txt", text)?;
        write("table.json", &format!("{json:#}\n"))
    }
}

/// The table as JSON.
pub fn json(head: &Json, rows: &[Row]) -> Json {
    let named = |list: &[(String, String)], key: &str| -> Vec<Json> {
        list.iter()
            .map(|(name, text)| json!({"name": name, key: text}))
            .collect()
    };
    let part = |row: &Row| {
        json!({
            "part": row.part,
            "passed": row.passed,
            "failed": named(&row.failed, "text"),
            "skipped": named(&row.skipped, "reason"),
            "facts": row.facts,
            "seconds": row.time.as_secs_f64(),
        })
    };
    let compared = |compared: &Comparison| {
        json!({
            "what": compared.name,
            "without": compared.without,
            "with": compared.with,
            "ratio": compared.ratio(),
            "to_reach": compared.goal,
            "reached": compared.reached(),
        })
    };
    json!({
        "about": head,
        "parts": rows.iter().map(part).collect::<Vec<_>>(),
        "benchmarks": rows.iter().flat_map(|row| &row.compared).map(compared).collect::<Vec<_>>(),
    })
}
