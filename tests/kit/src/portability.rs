//! Whether a program runs on another distribution: what it takes from the C library, and which libraries it needs.

use crate::process;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// Libraries that every distribution with glibc has.
const EVERYWHERE: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
];

/// The newest C library that may be asked for: RHEL 9 has it, Ubuntu 22.04 and Debian 12 have newer ones.
const GLIBC: Version = Version(2, 34);

/// A version of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// Checks a program or library. Returns the newest C library that it asks for.
///
/// # Errors
///
/// It needs a library that other distributions do not have, or a newer C library.
pub fn check(file: &Path) -> Result<Version> {
    let said = process::output(Command::new("objdump").arg("-p").arg(file))?;
    judge(&said).map_err(|reason| anyhow::anyhow!("{} would not run elsewhere: {reason}", file.display()))
}

/// Reads what `objdump -p` says.
fn judge(said: &str) -> Result<Version> {
    let lines = || said.lines().map(str::split_whitespace);
    let needed = lines().filter_map(|mut words| words.next().filter(|word| *word == "NEEDED").and(words.next()));
    let others: Vec<&str> = needed.filter(|name| !EVERYWHERE.contains(name)).collect();
    if !others.is_empty() {
        bail!("it needs {}", others.join(", "));
    }
    let versions = lines().filter_map(|words| version(words.last()?));
    let Some(newest) = versions.max() else {
        bail!("nothing says which C library it needs");
    };
    if newest > GLIBC {
        bail!("it needs glibc {newest}, and {GLIBC} has to do");
    }
    Ok(newest)
}

/// `GLIBC_2.34`
fn version(word: &str) -> Option<Version> {
    let mut numbers = word.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Dynamic Section:\n  NEEDED               libgcc_s.so.1\n  NEEDED               libc.so.6\n\
                        Version References:\n  required from libc.so.6:\n    0x069691b4 0x00 02 GLIBC_2.34\n    \
                        0x09691a75 0x00 20 GLIBC_2.2.5\n";

    #[test]
    fn libraries_and_versions_decide() {
        assert_eq!(judge(SAID).ok(), Some(Version(2, 34)));
        let refused = |said: &str| judge(said).err().map(|error| error.to_string());
        assert_eq!(
            refused(&SAID.replace("libgcc_s.so.1", "libstdc++.so.6")),
            Some("it needs libstdc++.so.6".into())
        );
        assert_eq!(
            refused(&SAID.replace("GLIBC_2.34", "GLIBC_2.100")),
            Some("it needs glibc 2.100, and 2.34 has to do".into())
        );
        assert!(refused("").is_some());
    }
}
