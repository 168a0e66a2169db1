//! `cargo xtask guide`: builds the guide in `docs/` with mdBook.

use crate::toolchain;
use anyhow::Result;
use std::process::Command;
use vkabort_test_kit::{process, root, target};

/// Checks the links of the guide and builds it. `cargo xtask test` checks the links and runs the commands, without mdBook.
///
/// # Errors
///
/// A link leads nowhere, or mdBook cannot be installed or fails.
pub fn guide() -> Result<()> {
    let tests = ["test", "--package", "vkabort-tests", "--test", "documents", "links::"];
    process::run(&mut toolchain::cargo(&tests))?;
    // Without the server that shows pages while they are edited.
    let features = ["--version", "0.5.4", "--no-default-features", "--features", "search"];
    let mut mdbook = Command::new(toolchain::install("mdbook", &features)?);
    let folder = target().join("guide");
    mdbook
        .arg("build")
        .arg(root().join("docs"))
        .arg("--dest-dir")
        .arg(&folder);
    process::run(&mut mdbook)?;
    println!("The guide is in {}.", folder.join("index.html").display());
    Ok(())
}
