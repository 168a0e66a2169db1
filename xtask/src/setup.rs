//! `cargo xtask setup` builds the layer and the command, provides a GLSL compiler, and prints the line that makes both programs available.

#[cfg(test)]
mod tests;

use crate::{debian, provision};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::process;

/// The oldest glslang whose messages are right: older ones write parts that overlap.
const GLSLANG: (u32, u32) = (16, 6);

/// Builds the layer and the command. Returns the folders to put in front of the `PATH`: that of the command, and that of a GLSL compiler,
/// unless one is on the `PATH`.
///
/// # Errors
///
/// A build fails. What the system lacks for the programs of the guide is printed as a note: people have shaders and programs of their own.
pub fn setup(profile: Profile) -> Result<Vec<PathBuf>> {
    eprintln!("Building the layer and the command. The first time, this takes some minutes.");
    cargo::build_layer(profile)?;
    let command = cargo::build_command(profile)?;
    let mut folders = vec![folder(&command)?];
    note(provision::system_driver());
    note(debian::require(
        &[("cc", "gcc"), debian::VULKAN_HEADERS],
        "compiling the examples in C",
    ));
    if let Some(version) = version_of("glslang") {
        eprintln!("glslang {version} is on the PATH.");
        return Ok(folders);
    }
    match glslang() {
        Ok(glslang) => folders.push(folder(&glslang)?),
        Err(error) => eprintln!("note: compiling GLSL needs glslang 16.6 or newer, which is not here: {error:#}"),
    }
    Ok(folders)
}

/// Unpacks Debian unstable's glslang, or else builds it, which takes some minutes and a C++ compiler.
fn glslang() -> Result<PathBuf> {
    match provision::bring_glslang(&mut None) {
        Err(error) if process::is_on_path("c++") => {
            eprintln!("Building glslang from its sources, since Debian unstable's is not available: {error:#}");
            cargo::build_glslang()
        }
        unpacked => unpacked,
    }
}

/// The line for a shell that makes the programs of `folders` available.
///
/// # Errors
///
/// A folder's name is not UTF-8.
pub fn path_line(folders: &[PathBuf]) -> Result<String> {
    let names: Option<Vec<&str>> = folders.iter().map(|folder| folder.to_str()).collect();
    let names = names.context("the repository is in a folder whose name is not UTF-8")?;
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    Ok(format!("export PATH=\"{}:$PATH\"", names.join(":")))
}

/// A name between double quotes.
fn quoted(name: &str) -> String {
    let is_special = |c| matches!(c, '"' | '$' | '`' | '\\');
    name.chars().fold(String::new(), |mut text, c| {
        text.extend(is_special(c).then_some('\\'));
        text.push(c);
        text
    })
}

fn folder(program: &Path) -> Result<PathBuf> {
    let folder = program.parent().context("a program without a folder")?;
    Ok(folder.to_path_buf())
}

fn note(result: Result<()>) {
    if let Err(error) = result {
        eprintln!("note: {error:#}");
    }
}

/// The version of a glslang that compiles aborts correctly. `None` for an older one, and if the program is not there.
fn version_of(program: impl Into<OsString>) -> Option<String> {
    let text = process::output(Command::new(program.into()).arg("--version")).ok()?;
    let version = version(&text)?;
    (parts(&version)? >= GLSLANG).then_some(version)
}

/// The version in the first line that glslang prints: `Glslang Version: 11:16.6.0`.
fn version(text: &str) -> Option<String> {
    let version = text.lines().next()?.strip_prefix("Glslang Version: ")?;
    let (_, version) = version.split_once(':')?;
    Some(version.trim().to_owned())
}

fn parts(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}
