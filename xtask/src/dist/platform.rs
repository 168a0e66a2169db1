//! The targets that packages are made for.

use crate::{qemu, toolchain};
use anyhow::{Result, bail};
use vkabort_test_kit::i686;

/// A target that packages are made for.
pub struct Platform {
    /// Rust's name.
    pub target: String,
    /// Debian's name of the architecture.
    pub debian: &'static str,
    /// Debian's folder of libraries, below `/usr/`.
    pub libraries: &'static str,
    /// The target of 32-bit programs that run on the same machines.
    pub target_32: Option<&'static str>,
    /// Words before a command line that runs it on this machine.
    pub runner: Vec<String>,
}

impl Platform {
    /// The platform of a target.
    ///
    /// # Errors
    ///
    /// No packages are made for the target, or qemu cannot be provided.
    pub fn of(target: &str) -> Result<Self> {
        let (debian, libraries) = match target {
            "x86_64-unknown-linux-gnu" => ("amd64", "lib/x86_64-linux-gnu"),
            "aarch64-unknown-linux-gnu" => ("arm64", "lib/aarch64-linux-gnu"),
            _ => bail!("no packages for {target}; use x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu"),
        };
        let runner = match toolchain::host()? == target {
            true => Vec::new(),
            false => qemu::runner()?,
        };
        Ok(Self {
            target: target.into(),
            debian,
            libraries,
            target_32: (debian == "amd64").then_some(i686::TARGET),
            runner,
        })
    }
}
