//! This program once more.

use anyhow::{Context, Result};
use std::process::Command;

/// A command that starts this process's program again, with the same arguments.
///
/// # Errors
///
/// The command line cannot be read.
pub fn again() -> Result<Command> {
    // Not the executable's own path: a driver with a C library of its own has the program started by its linker.
    let line = std::fs::read("/proc/self/cmdline").context("cannot read the command line")?;
    let mut words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut command = Command::new(words.next().map(word).context("no program")?);
    command.args(words.map(word));
    Ok(command)
}
