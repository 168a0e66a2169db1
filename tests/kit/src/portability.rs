//! Checks that a program runs on other distributions: the libraries and the glibc version that it needs.

use crate::process;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// Libraries that every distribution with glibc has.
const EVERYWHERE: [&str; 9] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux.so.2",
    "ld-linux-aarch64.so.1",
];

/// A glibc version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The glibc version that a program or library needs.
///
/// # Errors
///
/// It needs a library that other distributions lack, or a newer glibc than `newest`.
pub fn required_glibc(file: &Path, newest: Version) -> Result<Version> {
    let dump = process::output(Command::new("objdump").arg("-p").arg(file))?;
    parse(&dump, newest)
        .map_err(|reason| anyhow::anyhow!("{} does not run on other distributions: {reason}", file.display()))
}

/// Reads the output of `objdump -p`.
fn parse(dump: &str, newest: Version) -> Result<Version> {
    let lines = || dump.lines().map(str::split_whitespace);
    let needed = lines().filter_map(|mut words| words.next().filter(|word| *word == "NEEDED").and(words.next()));
    let others: Vec<&str> = needed.filter(|name| !EVERYWHERE.contains(name)).collect();
    if !others.is_empty() {
        bail!("it needs {}", others.join(", "));
    }
    let versions = lines().filter_map(|words| version(words.last()?));
    let Some(required) = versions.max() else {
        bail!("it names no glibc version");
    };
    if required > newest {
        bail!("it needs glibc {required}, and {newest} is the newest allowed");
    }
    Ok(required)
}

/// `GLIBC_2.34`
fn version(word: &str) -> Option<Version> {
    let mut numbers = word.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "Dynamic Section:\n  NEEDED               libgcc_s.so.1\n  NEEDED               libc.so.6\n\
                        Version References:\n  required from libc.so.6:\n    0x069691b4 0x00 02 GLIBC_2.34\n    \
                        0x09691a75 0x00 20 GLIBC_2.2.5\n";

    #[test]
    fn reads_libraries_and_versions() {
        let newest = Version(2, 34);
        assert_eq!(parse(DUMP, newest).ok(), Some(newest));
        let error = |dump: &str| parse(dump, newest).err().map(|error| error.to_string());
        assert_eq!(
            error(&DUMP.replace("libgcc_s.so.1", "libstdc++.so.6")),
            Some("it needs libstdc++.so.6".into())
        );
        assert_eq!(
            error(&DUMP.replace("GLIBC_2.34", "GLIBC_2.100")),
            Some("it needs glibc 2.100, and 2.34 is the newest allowed".into())
        );
        assert!(error("").is_some());
    }
}
