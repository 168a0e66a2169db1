//! `cargo xtask bundle`: the end-to-end suite and the benchmarks as one program for machines without toolchain, network or
//! repository.

use crate::{debian, toolchain};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::bundle::{Files, files};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::portability::Version;
use vkabort_test_kit::{archive, portability, process, target};

/// Largest size of the program, in bytes.
const MAX_SIZE: u64 = 40 << 20;

/// The newest glibc that it may need: RHEL 9's version. Ubuntu 22.04 and Debian 12 have newer ones.
const GLIBC: Version = Version(2, 34);

/// Builds the program, checks it, and prints how to run it.
///
/// # Errors
///
/// A build fails, or the program is too large or needs a newer glibc than it may.
pub fn bundle() -> Result<()> {
    for (program, package) in [("c++", "g++"), ("objdump", "binutils")] {
        if !process::is_on_path(program) {
            debian::install(&[package], "building the bundle")?;
        }
    }
    // The dev profile reuses the C++ of the tests. The benchmarks measure the layer, which is that of packages.
    let built = cargo::build(&["--workspace", "--bin", "vkabort-bundle"])?;
    let built = built
        .get("vkabort-bundle")
        .context("cargo did not build vkabort-bundle")?;
    let folder = target().join("bundle");
    let stripped = folder.join("stripped");
    fs::create_dir_all(&stripped)?;
    let strip = |file: &Path| -> Result<PathBuf> {
        let to = stripped.join(file.file_name().context("a file without a name")?);
        process::run(toolchain::objcopy()?.arg("--strip-all").args([file, to.as_path()]))?;
        let newest = portability::required_glibc(&to, GLIBC)?;
        println!("{} needs glibc {newest}", to.display());
        Ok(to)
    };
    let files = files(Profile::Dist)?;
    let files = Files {
        layer: strip(&files.layer)?,
        driver: strip(&files.driver)?,
        command: strip(&files.command)?,
    };
    let out = folder.join("vkabort-bundle");
    archive::pack(&strip(built)?, &files.carried()?, &out)?;
    fs::remove_dir_all(&stripped)?;
    let size = fs::metadata(&out)?.len();
    ensure!(
        size <= MAX_SIZE,
        "{} has {:.1} MiB, more than the limit of {} MiB",
        out.display(),
        mebibytes(size),
        MAX_SIZE >> 20
    );
    // Detects a missing or damaged file here instead of on the other machine.
    process::output(Command::new(&out).arg("--parts"))?;
    println!("\n{} ({:.1} MiB)", out.display(), mebibytes(size));
    println!("Copy it to the machine with the GPU and run there:");
    println!("  ./vkabort-bundle --list                       the devices");
    println!("  ./vkabort-bundle --device NAME --out RESULTS  tests and benchmarks, a minute for each part at most");
    println!("  ./vkabort-bundle --device NAME --out RESULTS --traps");
    println!("                                                the same, and real faults and hangs at the end");
    Ok(())
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
