//! The Rust toolchain, and the components added to it.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{process, root, store, target};

/// The Cargo that runs this program, in the root of the repository.
pub fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root());
    command
}

/// Adds a component to the toolchain, which needs rustup.
///
/// # Errors
///
/// There is no rustup, or it cannot download the component.
pub fn add_component(component: &str) -> Result<()> {
    rustup(&format!("component add {component}"))
}

/// Runs rustup with these words.
fn rustup(words: &str) -> Result<()> {
    let line = format!("rustup {words}");
    if !process::is_on_path("rustup") {
        bail!("a part of the Rust toolchain is missing: install what `{line}` adds");
    }
    println!("Running `{line}`.");
    process::output(Command::new("rustup").args(words.split(' ')).current_dir(root())).map(drop)
}

/// Installs a program from crates.io into `.vkabort/`, unless it is there or on the `PATH`. Returns it.
///
/// # Errors
///
/// Cargo cannot download or build it.
pub fn install(name: &str, arguments: &[&str]) -> Result<OsString> {
    if process::is_on_path(name) {
        return Ok(name.into());
    }
    let folder = store().join(name);
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        println!("Installing {name} into {}.", folder.display());
        let mut command = cargo(&["install", name, "--locked", "--root"]);
        process::run(command.arg(&folder).args(arguments)).with_context(|| format!("{name} cannot be installed"))?;
    }
    Ok(program.into_os_string())
}

/// Adds the standard library of another target to the toolchain, unless it is there.
///
/// # Errors
///
/// There is no rustup, or it cannot download the library.
pub fn add_target(target: &str) -> Result<()> {
    let folder = process::output(&mut rustc(&["--print", "target-libdir", "--target", target]))?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    rustup(&format!("target add {target}"))
}

/// The target that the toolchain runs on, for example `x86_64-unknown-linux-gnu`.
///
/// # Errors
///
/// The compiler cannot be started.
pub fn host() -> Result<String> {
    version_field("host")
}

/// A field of `rustc --version --verbose`.
fn version_field(name: &str) -> Result<String> {
    let version = process::output(&mut rustc(&["--version", "--verbose"]))?;
    let prefix = format!("{name}: ");
    let field = version.lines().find_map(|line| line.strip_prefix(&prefix));
    let field = field.with_context(|| format!("`rustc --version --verbose` has no {name}"))?;
    Ok(field.to_owned())
}

fn sysroot() -> Result<PathBuf> {
    let sysroot = process::output(&mut rustc(&["--print", "sysroot"]))?;
    Ok(sysroot.trim().into())
}

/// The folder of the standard library's source, which is added to the toolchain unless it is there, and the path that debug
/// information has for it without. With the source, rustc divides that path differently into folder and file, so a build that is
/// to give the same bytes everywhere has it.
///
/// # Errors
///
/// The compiler cannot be started. As [`add_component`].
pub fn library_source() -> Result<(PathBuf, String)> {
    let commit = version_field("commit-hash")?;
    let library = sysroot()?.join("lib/rustlib/src/rust/library");
    if !library.join("Cargo.lock").is_file() {
        add_component("rust-src")?;
    }
    Ok((library, format!("/rustc/{commit}/library")))
}

/// The toolchain's LLVM objcopy, which reads every architecture.
///
/// # Errors
///
/// The toolchain has none.
pub fn objcopy() -> Result<Command> {
    let libraries = sysroot()?.join("lib");
    let path = libraries.join("rustlib").join(host()?).join("bin/rust-objcopy");
    let mut command = Command::new(existing(path)?);
    command.env("LD_LIBRARY_PATH", libraries);
    Ok(command)
}

/// The licences of the standard library and of its dependencies.
///
/// # Errors
///
/// The toolchain has none.
pub fn library_licenses() -> Result<PathBuf> {
    existing(sysroot()?.join("share/doc/rust/COPYRIGHT-library.html"))
}

/// The path, if the toolchain has this file: those of distributions lack some.
fn existing(path: PathBuf) -> Result<PathBuf> {
    if !path.is_file() {
        bail!("the Rust toolchain has no {}; use that of rustup", path.display());
    }
    Ok(path)
}

/// The environment variable of one of Cargo's settings of a target, for example `RUNNER`.
pub fn target_variable(target: &str, setting: &str) -> String {
    format!("CARGO_TARGET_{}_{setting}", target.to_uppercase().replace('-', "_"))
}

fn rustc(words: &[&str]) -> Command {
    let mut command = Command::new("rustc");
    command.args(words).current_dir(root());
    command
}

/// Adds a nightly toolchain with Miri, unless there is one.
///
/// # Errors
///
/// There is no rustup, or it cannot download the toolchain.
pub fn add_miri() -> Result<()> {
    if process::output(miri().arg("--version")).is_ok() {
        return Ok(());
    }
    rustup("toolchain install nightly --profile minimal --component miri,rust-src")
}

/// `cargo miri` of the nightly toolchain.
pub fn miri() -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo", "miri"])
        .current_dir(root())
        // Those of the toolchain that runs this program.
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("CARGO_TARGET_DIR", target().join("miri"))
        // Tests read files and the clock. Stacked Borrows refuses chains whose links are older than the move of a node's owner.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-tree-borrows");
    command
}

/// The output of `cargo metadata` for the workspace and its dependencies.
///
/// # Errors
///
/// Cargo fails, or `Cargo.lock` is not up to date.
pub fn metadata() -> Result<Value> {
    let text = process::output(&mut cargo(&["metadata", "--locked", "--format-version", "1"]))?;
    Ok(serde_json::from_str(&text)?)
}
