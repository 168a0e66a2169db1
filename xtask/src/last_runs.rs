//! The table of the last runs of commands that are too slow for every change.

use crate::times::processor_time;
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;
use std::time::Instant;
use vkabort_test_kit::{process, root};

/// The table.
const FILE: &str = "xtask/last_runs.md";

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub command: String,
    pub commit: String,
    pub outcome: String,
}

/// The rows of the table.
///
/// # Errors
///
/// The table cannot be read.
pub fn rows() -> Result<Vec<Row>> {
    let table = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    Ok(table.lines().filter_map(row).collect())
}

/// The row in a line.
fn row(line: &str) -> Option<Row> {
    let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ");
    let command = cells.next()?.strip_suffix('`')?.to_owned();
    let commit = cells.nth(1)?.to_owned();
    let outcome = cells.last()?.to_owned();
    Some(Row {
        command,
        commit,
        outcome,
    })
}

/// Runs a command of the table and writes its row, also if it fails.
///
/// # Errors
///
/// The command's, or the table cannot be written.
pub fn record(command: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let (date, commit) = (output("date", &["-u", "+%F"]), commit());
    let (start, used) = (Instant::now(), processor_time());
    let result = run();
    let outcome = match &result {
        Ok(()) => "passed".to_owned(),
        Err(error) => relative(&format!("failed: {error:#}"), &root().to_string_lossy(), &home()),
    };
    let wall = start.elapsed().as_secs();
    let processor = processor_time().saturating_sub(used).as_secs();
    let path = root().join(FILE);
    let table = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let cells = [
        &date,
        &commit,
        &format!("{wall} s"),
        &format!("{processor} s"),
        &outcome,
    ];
    let written = fs::write(&path, updated(&table, command, cells));
    result.and_then(|()| written.with_context(|| format!("cannot write {FILE}")))
}

/// The commit of the sources, with a mark if they differ from it. Empty outside of a repository.
fn commit() -> String {
    let mut commit = output("git", &["rev-parse", "--short", "HEAD"]);
    if !output("git", &["status", "--porcelain", "--", ".", &format!(":!{FILE}")]).is_empty() {
        commit += ", changed";
    }
    commit
}

fn output(program: &str, words: &[&str]) -> String {
    let text = process::output(Command::new(program).args(words).current_dir(root()));
    text.unwrap_or_default().trim().to_owned()
}

/// The table with the row of a command replaced, or added at the end.
fn updated(table: &str, command: &str, cells: [&String; 5]) -> String {
    /// Longest text of a cell, in characters.
    const LONGEST: usize = 200;
    let start = format!("| `{command}` |");
    let mut row = start.clone();
    for cell in cells {
        let line = cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/");
        row += &format!(" {} |", line.chars().take(LONGEST).collect::<String>());
    }
    let mut lines: Vec<&str> = table.lines().collect();
    match lines.iter().position(|line| line.starts_with(&start)) {
        Some(index) => lines[index] = &row,
        None => lines.push(&row),
    }
    lines.join("\n") + "\n"
}

fn home() -> String {
    std::env::var("HOME").unwrap_or_default()
}

/// A text without the folders of this machine.
fn relative(text: &str, root: &str, home: &str) -> String {
    let text = text.replace(&format!("{root}/"), "");
    match home {
        "" => text,
        home => text.replace(&format!("{home}/"), "~/"),
    }
}

#[test]
fn a_row_has_no_folder_of_the_machine() {
    let text = "failed: `/home/a/bin/cargo test` /home/a/src/target/x";
    assert_eq!(
        relative(text, "/home/a/src", "/home/a"),
        "failed: `~/bin/cargo test` target/x"
    );
    assert_eq!(relative("/x", "/root", ""), "/x");
}

#[test]
fn the_rows_of_a_table_are_read() {
    let line = "| `x y` | 2026-01-02 | abc | | 4 s | failed: a b/c |";
    let expected = ["x y", "abc", "failed: a b/c"].map(str::to_owned);
    assert_eq!(
        row(line).map(|row| [row.command, row.commit, row.outcome]),
        Some(expected)
    );
    assert_eq!(row("| --- | --- |"), None);
}

#[test]
fn a_run_replaces_the_row_of_its_command() {
    let cells = ["2026-01-02", "abc", "3 s", "4 s", "failed: a\n  b|c"].map(str::to_owned);
    let row = "| `x y` | 2026-01-02 | abc | 3 s | 4 s | failed: a b/c |\n";
    let table = "text\n\n| command | date |\n| --- | --- |\n";
    let first = updated(table, "x y", cells.each_ref());
    assert_eq!(first, format!("{table}{row}"));
    let old = format!("{table}| `x y` | old |\n| `x yz` | other |\n");
    assert_eq!(
        updated(&old, "x y", cells.each_ref()),
        format!("{table}{row}| `x yz` | other |\n")
    );
}
