//! Links libstdc++ statically into programs for this system, since a machine that runs the bundle may have an older version or
//! none. The linker searches first a folder that contains only the static archive. (`-static-libstdc++` works only if `c++` links; Rust links with `cc`.)

use std::env;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "libstdc++.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    if env::var_os("TARGET") != env::var_os("HOST") {
        return;
    }
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let output = Command::new(compiler)
        .arg(format!("-print-file-name={ARCHIVE}"))
        .output();
    let archive = output.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    // Without the archive, libstdc++ is linked dynamically, and `cargo xtask bundle` rejects the program.
    let (Ok(archive), Some(out)) = (archive, env::var_os("OUT_DIR")) else {
        return;
    };
    if !archive.is_absolute() {
        return;
    }
    let link = Path::new(&out).join(ARCHIVE);
    let _ = std::fs::remove_file(&link);
    if symlink(archive, link).is_ok() {
        println!("cargo:rustc-link-search=native={}", Path::new(&out).display());
    }
}
