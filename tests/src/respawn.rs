//! Starts this program again.

use anyhow::{Context, Result};
use std::process::Command;

/// A command with the program and arguments of this process.
///
/// # Errors
///
/// The command line cannot be read.
pub fn command() -> Result<Command> {
    if cfg!(windows) {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(std::env::args_os().skip(1));
        return Ok(command);
    }
    // Not `current_exe`: for a driver with its own C library, the command line starts that library's dynamic linker.
    let line = std::fs::read("/proc/self/cmdline").context("cannot read the command line")?;
    let mut words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut command = Command::new(words.next().map(word).context("an empty command line")?);
    command.args(words.map(word));
    Ok(command)
}
