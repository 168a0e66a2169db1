//! The targets that packages are made for.

use crate::{qemu, toolchain};
use anyhow::{Result, bail};

/// A target that packages are made for.
pub struct Platform {
    /// Rust's name.
    pub target: String,
    /// Debian's name of the architecture.
    pub debian: &'static str,
    /// Debian's folder of libraries, below `/usr/`.
    pub libraries: &'static str,
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
            runner,
        })
    }
}
