//! Tests of `cargo xtask setup`.

use super::{parts, path_line, setup, version, version_of};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;
use vkabort_test_kit::cargo::Profile;
use vkabort_test_kit::process;

#[test]
fn a_shell_finds_the_command_and_a_compiler() -> Result<()> {
    let line = path_line(&setup(Profile::Dev)?)?;
    let run = |command: &str| process::output(Command::new("sh").args(["-c", &format!("{line}\n{command}")]));
    ensure!(run("vkabort --version")?.starts_with("vkabort "), "{line}");
    let glslang = run("command -v glslang")?;
    version_of(glslang.trim()).context("the glslang on the PATH is older than 16.6")?;
    Ok(())
}

#[test]
fn versions_are_compared_by_number() {
    let of = |text: &str| version(text).as_deref().and_then(parts);
    assert_eq!(of("Glslang Version: 11:16.6.0\nESSL Version: x"), Some((16, 6)));
    assert_eq!(of("Glslang Version: 10:12.0.0"), Some((12, 0)));
    assert_eq!(of("glslangValidator: unknown"), None);
    assert!(parts("16.10.1") > Some(super::GLSLANG));
}

#[test]
fn folders_are_quoted_for_a_shell() -> Result<()> {
    let line = path_line(&[PathBuf::from("/a b/$x\"`"), PathBuf::from("/c")])?;
    assert_eq!(line, "export PATH=\"/a b/\\$x\\\"\\`:/c:$PATH\"");
    Ok(())
}
