//! Files, with `-` for standard input and output.

use crate::failure::{Failure, Result};
use std::io::{self, IsTerminal, Read, Write};

/// How a file is called in messages.
pub fn name(path: &str, standard: &'static str) -> String {
    if path == "-" {
        standard.to_owned()
    } else {
        path.to_owned()
    }
}

/// All of a file, or of standard input.
pub fn read(path: &str) -> Result<Vec<u8>> {
    let result = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    result.map_err(|error| Failure::file(&name(path, "standard input"), "read", &error))
}

/// Writes a file, or to standard output.
pub fn write(path: &str, bytes: &[u8]) -> Result<()> {
    if path == "-" {
        return write_stdout(bytes);
    }
    std::fs::write(path, bytes).map_err(|error| Failure::file(path, "written", &error))
}

/// Writes text to standard output.
pub fn print(text: &str) -> Result<()> {
    write_stdout(text.as_bytes())
}

/// A line for people on standard error.
pub fn note(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr().lock(), "vkabort: {text}");
}

/// Text on standard error, as it is.
pub fn print_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether output on standard output may be coloured.
pub fn stdout_color() -> bool {
    io::stdout().is_terminal() && color_wanted()
}

/// The user does not refuse colours.
pub fn color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // `vkabort sites x.spv | head` is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::file("standard output", "written", &error)),
    }
}
