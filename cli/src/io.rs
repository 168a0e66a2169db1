//! Files, with `-` for standard input and output, and messages on standard error.

use crate::failure::{Failure, Result};
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Read, Write};
use vkabort_record::site::SiteTable;

/// Name of a file in messages: its path, or `standard input` for `-`.
pub fn input_name(path: &str) -> String {
    if path == "-" { "standard input" } else { path }.to_owned()
}

/// Reads a whole file, or standard input.
///
/// # Errors
///
/// The file cannot be read.
pub fn read(path: &str) -> Result<Vec<u8>> {
    let result = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    result.map_err(|error| Failure::file(&input_name(path), "read", &error))
}

/// Writes a file, or to standard output.
///
/// # Errors
///
/// The file cannot be written.
pub fn write(path: &str, bytes: &[u8]) -> Result<()> {
    if path == "-" {
        return write_stdout(bytes);
    }
    std::fs::write(path, bytes).map_err(|error| Failure::file(path, "written", &error))
}

/// Writes a table of abort sites as JSON.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_sites(path: &str, sites: &SiteTable) -> Result<()> {
    // Serialising plain structures with string keys does not fail.
    let table = serde_json::to_string_pretty(sites).unwrap_or_default();
    write(path, (table + "\n").as_bytes())
}

/// Writes text to standard output.
///
/// # Errors
///
/// Standard output cannot be written. A closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    write_stdout(text.as_bytes())
}

/// Writes a line to standard error, after the command's name.
pub fn note(text: &str) {
    // A closed standard error leaves no place to report its own failure.
    let _ = writeln!(io::stderr().lock(), "vkabort: {text}");
}

/// Writes text to standard error as it is.
pub fn print_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A number with its noun: `1 error`, `2 errors`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Whether text on `stream` has colours: as `--color` says, else if `NO_COLOR` is not set and either `CLICOLOR_FORCE` is, or
/// the stream is a terminal that shows them (`TERM`, `CLICOLOR`).
pub fn has_color(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// A progress bar of `steps` steps on standard error; invisible if that is not a terminal.
pub fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}");
    // The template is valid; if it were not, the default style would do.
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps as u64).with_style(style)
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader of `vkabort sites x.spv | head` closes the pipe early.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::file("standard output", "written", &error)),
    }
}
