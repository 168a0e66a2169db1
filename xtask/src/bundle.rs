//! `cargo xtask bundle`: the end-to-end suite and the benchmarks as one program for machines without toolchain, network or
//! repository.

use crate::layer::{self, LIBRARY};
use crate::pack::{self, Carried};
use crate::{debian, portable, process, root, target};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program may weigh.
const LARGEST: u64 = 40 << 20;

/// The tests' own driver, where it is unpacked.
pub const DRIVER: &str = "libvkabort_driver.so";
/// The command `vkabort`, where it is unpacked.
pub const COMMAND: &str = "vkabort";

/// Builds the program, checks it, and says how it is run.
///
/// # Errors
///
/// A build fails, or the result is too large or would not run elsewhere.
pub fn bundle() -> Result<()> {
    for (program, package) in [("c++", "g++"), ("objdump", "binutils"), ("strip", "binutils")] {
        if !process::exists(program) {
            debian::install(&[package], "building the bundle")?;
        }
    }
    // With the profile of the tests, whose C++ is there if they have been built: what is measured is the layer, which is
    // built in release, and nothing of the program itself has to be fast.
    let built = layer::built(&["--workspace", "--bin", "vkabort-bundle"], "vkabort-bundle")?;
    let folder = target().join("bundle");
    let stripped = folder.join("stripped");
    fs::create_dir_all(&stripped)?;
    let strip = |file: &Path| -> Result<PathBuf> {
        let to = stripped.join(file.file_name().context("a file without a name")?);
        process::run(Command::new("strip").arg("-o").args([&to, file]))?;
        let newest = portable::check(&to)?;
        println!("{} needs glibc {newest}", to.display());
        Ok(to)
    };
    let files = files()?;
    let files = Files {
        layer: strip(&files.layer)?,
        driver: strip(&files.driver)?,
        command: strip(&files.command)?,
    };
    let out = folder.join("vkabort-bundle");
    pack::pack(&strip(&built)?, &files.carried()?, &out)?;
    fs::remove_dir_all(&stripped)?;
    let size = fs::metadata(&out)?.len();
    ensure!(
        size <= LARGEST,
        "{} has {:.1} MiB, and {} would do",
        out.display(),
        mebibytes(size),
        LARGEST >> 20
    );
    // What is not there or damaged would be noticed on the other machine only.
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

/// The files that the program carries, as they were built.
pub struct Files {
    layer: PathBuf,
    driver: PathBuf,
    command: PathBuf,
}

/// Builds what the program carries.
///
/// # Errors
///
/// A build fails.
pub fn files() -> Result<Files> {
    Ok(Files {
        layer: layer::build()?.library,
        driver: layer::build_driver_library()?,
        command: layer::build_command()?,
    })
}

impl Files {
    /// Their contents, and what stands in the repository.
    ///
    /// # Errors
    ///
    /// One cannot be read.
    pub fn carried(&self) -> Result<Vec<Carried>> {
        let mut carried = Vec::new();
        for (name, path, program) in [
            (LIBRARY, &self.layer, false),
            (DRIVER, &self.driver, false),
            (COMMAND, &self.command, true),
        ] {
            carried.push(Carried {
                path: name.into(),
                bytes: fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
                program,
            });
        }
        carried.push(Carried {
            path: "about".into(),
            bytes: about().into_bytes(),
            program: false,
        });
        for (folder, to) in [
            ("manifest", "manifest"),
            ("tests/shaders", "files/shaders"),
            ("tests/reports", "files/reports"),
        ] {
            tree(&root().join(folder), to, &mut carried)?;
        }
        Ok(carried)
    }
}

/// Of which version and commit the program is.
fn about() -> String {
    let git = |words: &[&str]| process::output(Command::new("git").args(words).current_dir(root())).ok();
    let mut about = format!("vkabort {}", env!("CARGO_PKG_VERSION"));
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        about += &format!(", commit {}", commit.trim());
    }
    if git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changed| !changed.trim().is_empty()) {
        about += " and changes";
    }
    about
}

/// Every file below a folder, in the order of their names.
fn tree(folder: &Path, to: &str, carried: &mut Vec<Carried>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let to = format!("{to}/{name}");
        if path.is_dir() {
            tree(&path, &to, carried)?;
        } else {
            carried.push(Carried {
                path: to,
                bytes: fs::read(&path)?,
                program: false,
            });
        }
    }
    Ok(())
}
