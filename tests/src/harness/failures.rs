//! A file that keeps the failures of all runs: one that happens in one of twenty runs is easily lost with the output.

use std::fs::{self, OpenOptions};
use std::io::{Result, Write as _};
use std::process::Command;
use vkabort_test_kit::process::output;
use vkabort_test_kit::{e2e_failures, root};

/// Appends a failure at once, since the run may be killed: time, commit, load, name and error.
pub fn keep(name: &str, error: &str) {
    if let Err(problem) = append(name, error) {
        eprintln!("{}: {problem}", e2e_failures().display());
    }
}

fn append(name: &str, error: &str) -> Result<()> {
    let said = |program: &str, arguments: &[&str]| {
        let said = output(Command::new(program).args(arguments).current_dir(root()));
        said.map_or_else(|_| format!("({program} failed)"), |text| text.trim().to_owned())
    };
    let date = said("date", &["-u", "+%FT%TZ"]);
    let commit = said("git", &["describe", "--always", "--dirty", "--exclude=*"]);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let mut file = OpenOptions::new().create(true).append(true).open(e2e_failures())?;
    // In one piece, since several runs may append.
    file.write_all(format!("{date}, commit {commit}, load {load}: {name}: {error}\n\n").as_bytes())
}
