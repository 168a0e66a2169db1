//! Links the benchmark with SPIRV-Tools, if `cargo xtask drivers` has installed them. Without, the benchmark builds and says so.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(has_spirv_tools)");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.vkabort/spirv-tools/lib");
    println!("cargo:rerun-if-changed={}", folder.display());
    if !folder.is_dir() {
        return;
    }
    println!("cargo:rustc-cfg=has_spirv_tools");
    for argument in [
        format!("-L{}", folder.display()),
        "-lSPIRV-Tools-opt".into(),
        "-lSPIRV-Tools".into(),
        "-lstdc++".into(),
    ] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
