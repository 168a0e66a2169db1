//! `cargo xtask bundle`: the end-to-end tests and the benchmarks as an archive for machines without toolchain, network or
//! repository.

use crate::{debian, toolchain};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::bundle::{Built, PROGRAM};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::portability::Version;
use vkabort_test_kit::{portability, process, target};

/// The newest glibc that its programs may need: RHEL 9's version. Ubuntu 22.04 and Debian 12 have newer ones.
const GLIBC: Version = Version(2, 34);

/// Name of the folder in the archive.
const NAME: &str = "vkabort-bundle";

/// Builds the archive, checks its programs, and prints how to run them.
///
/// # Errors
///
/// A build fails, or a program needs a newer glibc than it may.
pub fn bundle() -> Result<()> {
    debian::require(&[("objdump", "binutils")], "building the bundle")?;
    // The dev profile reuses the build of the tests. The benchmarks measure the layer, which is that of packages.
    let built = cargo::build(&["-p", "vkabort-tests", "--bin", "vkabort-e2e"])?;
    let built = built.get("vkabort-e2e").context("cargo did not build vkabort-e2e")?;
    let built = Built::new(built, Profile::Dist)?;
    let parent = target().join("bundle");
    let stripped = parent.join("stripped");
    fs::create_dir_all(&stripped)?;
    let strip = |file: &Path| -> Result<PathBuf> {
        let to = stripped.join(file.file_name().context("a file without a name")?);
        process::run(toolchain::objcopy()?.arg("--strip-all").args([file, to.as_path()]))?;
        let newest = portability::required_glibc(&to, GLIBC)?;
        println!("{} needs glibc {newest}", to.display());
        Ok(to)
    };
    let built = Built {
        program: strip(&built.program)?,
        layer: strip(&built.layer)?,
        driver: strip(&built.driver)?,
        command: strip(&built.command)?,
    };
    let folder = parent.join(NAME);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    built.write(&folder)?;
    fs::remove_dir_all(&stripped)?;
    // Detects a missing file here instead of on the other machine.
    process::output(Command::new(folder.join(PROGRAM)).arg("--parts"))?;
    let archive = parent.join(format!("{NAME}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--file"])
        .arg(&archive);
    process::run(tar.arg("--directory").arg(&parent).arg(NAME))?;
    let size = fs::metadata(&archive)?.len() as f64 / f64::from(1 << 20);
    println!("\n{} ({size:.1} MiB)", archive.display());
    println!("Unpack it on the machine with the GPU and run there:");
    println!("  ./{NAME}/run --list                       the devices");
    println!("  ./{NAME}/run --device NAME --out RESULTS  tests and benchmarks");
    println!("  ./{NAME}/run --device NAME --out RESULTS --traps");
    println!("                                              the same, and real faults and hangs at the end");
    Ok(())
}
