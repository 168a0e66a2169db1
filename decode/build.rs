//! Names the version of the interface in the shared library, so that the dynamic linker refuses another.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libvkabort_decode.so.1");
    }
}
