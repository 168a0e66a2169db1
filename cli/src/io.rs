//! Files, with `-` for standard input and output, and messages on standard error.
//!
//! All output passes through here, and here alone it is made safe for a terminal: file names, shaders, settings, drivers and
//! reports are not trusted.

pub use crate::failure::input_name;
use crate::failure::{Failure, Result, is_standard};
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::path::Path;
use vkabort_record::escape::{json_text, printable};
use vkabort_record::site::SiteTable;
use vkabort_report::COLUMNS;
use vkabort_report::Styled;

/// Reads a whole file, or standard input.
///
/// # Errors
///
/// The file cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let result = if is_standard(path) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    result.map_err(|error| Failure::path(path, "read", &error))
}

/// Writes bytes that are not for a terminal to a file, or to standard output.
///
/// # Errors
///
/// The file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_standard(path) {
        return write_stdout(bytes);
    }
    std::fs::write(path, bytes).map_err(|error| Failure::path(path, "written", &error))
}

/// Writes text to a file, or to standard output, its control characters escaped.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, printable(text).as_bytes())
}

/// Writes a table of abort sites as JSON.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_sites(path: &Path, sites: &SiteTable) -> Result<()> {
    // Serialising plain structures with string keys does not fail.
    write_json(path, &serde_json::to_string_pretty(sites).unwrap_or_default())
}

/// Writes text to standard output, its control characters escaped.
///
/// # Errors
///
/// Standard output cannot be written. A closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    print_styled(&Styled::plain(text))
}

/// Writes text with styles to standard output.
///
/// # Errors
///
/// As [`print`].
pub fn print_styled(text: &Styled) -> Result<()> {
    write_stdout(text.as_bytes())
}

/// Writes a JSON text and a line end to standard output. Strings keep their values; [`print`] would change them.
///
/// # Errors
///
/// As [`print`].
pub fn print_json(json: &impl Display) -> Result<()> {
    write_json("-".as_ref(), json)
}

/// [`print_json`], or writes the same to a file.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_json(path: &Path, json: &impl Display) -> Result<()> {
    write(path, json_text(&format!("{json}\n")).as_bytes())
}

/// Writes a message to standard error, after the command's name, its control characters escaped. Lines after the first are
/// indented, so that a name in the message cannot forge a message.
pub fn note(text: &str) {
    let mut lines = text.split('\n');
    let mut out = format!("vkabort: {}\n", lines.next().unwrap_or_default());
    for line in lines {
        let indent = if line.starts_with(' ') { "" } else { "  " };
        out += &format!("{indent}{line}\n");
    }
    print_error(&Styled::plain(&out));
}

/// Writes text with styles to standard error.
pub fn print_error(text: &Styled) {
    // A closed standard error leaves no place to report its own failure.
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

/// Width of the terminal on a stream, or that of reports without one.
pub fn columns(stream: &Term) -> usize {
    stream.size_checked().map_or(COLUMNS, |(_, columns)| columns.into())
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
