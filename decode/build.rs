//! Names the version of the interface in the shared library, so that the dynamic linker refuses another, and writes the link by
//! which it finds a library that is used where Cargo built it.

use std::path::Path;

/// `vkabort_test_kit::decoder::SHARED`.
const SONAME: &str = "libvkabort_decode.so.1";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    // Cargo's folder of the profile, in which it will place the library, from `PROFILE/build/PACKAGE/out`.
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    let Some(folder) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    let link = folder.join(SONAME);
    if let Err(error) = write_link(&link) {
        println!(
            "cargo::warning={} cannot be written ({error}): programs do not load the library there",
            link.display()
        );
    }
}

/// Writes the link to the library beside it, which need not exist yet.
#[cfg(unix)]
fn write_link(link: &Path) -> std::io::Result<()> {
    let _ = std::fs::remove_file(link);
    std::os::unix::fs::symlink("libvkabort_decode.so", link)
}

/// Links need rights of their own on Windows, and no Linux program runs there.
#[cfg(not(unix))]
fn write_link(_: &Path) -> std::io::Result<()> {
    Ok(())
}
