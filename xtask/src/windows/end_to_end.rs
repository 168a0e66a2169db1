//! The end-to-end cases as a Windows program in Wine. The harness that starts them runs on Linux.

use super::build::{TARGET, built, cargo};
use super::wine::Wine;
use crate::{debian, toolchain};
use anyhow::Result;
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::{process, wine};

/// The C++ compiler for glslang. It needs `std::mutex`, which the compiler with Windows' own threads lacks.
const COMPILER: &str = "x86_64-w64-mingw32-g++-posix";
/// The C compiler of the same package, which links.
const LINKER: &str = "x86_64-w64-mingw32-gcc-posix";
/// The compiler's libraries, which have to lie beside the program.
const LIBRARIES: [&str; 3] = ["libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll"];
const PROGRAM: &str = "vkabort-e2e.exe";

/// Builds the program into `folder`.
///
/// # Errors
///
/// The compiler cannot be installed, or the build fails.
pub fn build(folder: &Path) -> Result<()> {
    let package = "g++-mingw-w64-x86-64-posix";
    debian::require(&[(COMPILER, package)], "building the end-to-end tests for Windows")?;
    let mut build = cargo("build", &["tests"]);
    build
        .args(["--bin", "vkabort-e2e"])
        .env("CXX_x86_64_pc_windows_gnu", COMPILER)
        .env(toolchain::target_variable(TARGET, "LINKER"), LINKER);
    process::run(&mut build)?;
    fs::copy(built(PROGRAM), folder.join(PROGRAM))?;
    for library in LIBRARIES {
        let path = process::output(Command::new(COMPILER).arg(format!("-print-file-name={library}")))?;
        fs::copy(path.trim(), folder.join(library))?;
    }
    Ok(())
}

/// Runs the cases.
///
/// # Errors
///
/// A case fails, or the harness does not build.
pub fn test(prefix: &Wine) -> Result<()> {
    let mut harness = toolchain::cargo(&["test", "--package", "vkabort-tests", "--test", "e2e"]);
    prefix.prepare(&mut harness);
    harness
        .env(wine::PROGRAMS, &prefix.folder)
        .env("VKABORT_REQUIRE_DRIVERS", "1");
    process::run(&mut harness)
}
