//! Cargo with zig as its linker: links for other architectures, and with older glibc versions than that of this machine.

use crate::{pypi, toolchain};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use vkabort_test_kit::portability::Version;
use vkabort_test_kit::{root, store};

/// The glibc that programs are linked with: the version of Debian 11 and Ubuntu 20.04.
pub const GLIBC: Version = Version(2, 31);

const CARGO_ZIGBUILD: &str = "cargo-zigbuild==0.24.0";
const ZIG: &str = "ziglang==0.17.1";
const PURPOSE: &str = "linking for other systems";

/// Starts zig in `/` to link. When zig first links, it compiles libunwind, and names the folder in which it was started in the debug
/// information: packages would depend on where they are built. Sources are compiled where they are, since their paths may be relative.
const LINKER: &str = r#"#!/bin/sh
case " $* " in
*" -c "*) ;;
*) cd / ;;
esac
exec "$VKABORT_ZIG" "$@"
"#;

/// `cargo SUBCOMMAND --target TARGET` (build or test), in the root of the repository. Installs zig and the target's standard
/// library if they are missing.
///
/// # Errors
///
/// A download fails, or a file cannot be written.
pub fn cargo(subcommand: &str, target: &str) -> Result<Command> {
    let cargo_zigbuild = pypi::install(CARGO_ZIGBUILD, PURPOSE)?.join("bin/cargo-zigbuild");
    let linker = store().join("zig/linker");
    if fs::read_to_string(&linker).ok().as_deref() != Some(LINKER) {
        fs::create_dir_all(store().join("zig"))
            .and_then(|()| fs::write(&linker, LINKER))
            .and_then(|()| fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)))
            .with_context(|| format!("cannot write {}", linker.display()))?;
    }
    toolchain::add_target(target)?;
    let subcommand = if subcommand == "build" { "zigbuild" } else { subcommand };
    let mut command = Command::new(cargo_zigbuild);
    command
        .args([subcommand, "--target", &format!("{target}.{GLIBC}")])
        .current_dir(root())
        .env("CARGO_ZIGBUILD_ZIG_PATH", linker)
        .env("VKABORT_ZIG", zig()?.join("zig"))
        .env("CARGO_ZIGBUILD_CACHE_DIR", store().join("zig"));
    set_caches(&mut command);
    Ok(command)
}

/// The C compiler for a target with glibc, as in `x86_64-unknown-linux-gnu`. Installs zig if it is missing.
///
/// # Errors
///
/// The download fails.
pub fn cc(target: &str) -> Result<Command> {
    let mut command = Command::new(zig()?.join("zig"));
    let target = target.replace("-unknown-", "-").replace("i686-", "x86-");
    command.args(["cc", "-target", &format!("{target}.{GLIBC}")]);
    set_caches(&mut command);
    Ok(command)
}

fn set_caches(command: &mut Command) {
    for variable in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
        command.env(variable, store().join("zig/cache"));
    }
}

/// The licence of libunwind, which zig links statically in place of libgcc_s.
///
/// # Errors
///
/// As [`cargo`].
pub fn libunwind_license() -> Result<PathBuf> {
    Ok(zig()?.join("lib/libunwind/LICENSE.TXT"))
}

fn zig() -> Result<PathBuf> {
    Ok(pypi::install(ZIG, PURPOSE)?.join("ziglang"))
}
