//! Links the benchmark with SPIRV-Tools, which `cargo xtask drivers` installs.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let libraries = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.vkabort/spirv-tools/lib");
    for argument in [
        format!("-L{}", libraries.display()),
        "-lSPIRV-Tools-opt".into(),
        "-lSPIRV-Tools".into(),
        "-lstdc++".into(),
    ] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
