//! Links the C++ library statically, since the other machine may have an older one or none: a folder with nothing but its
//! archive, searched first, leaves the linker no choice. (`-static-libstdc++` is for programs that `c++` links, and Rust
//! has `cc` do it.)

use std::env;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "libstdc++.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let said = Command::new(compiler)
        .arg(format!("-print-file-name={ARCHIVE}"))
        .output();
    let archive = said.map(|said| PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()));
    // Where there is none, the program is linked as others are, and `cargo xtask bundle` refuses it.
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
