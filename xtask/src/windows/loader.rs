//! The Khronos loader for Windows, built from Debian's source package, and the other files that Wine lacks.

use crate::debian::Archive;
use crate::provision;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{process, store};

/// The release with a loader that has `VK_ADD_IMPLICIT_LAYER_PATH` (1.3.296).
const RELEASE: &str = "trixie";
/// The library with the random numbers of Rust's standard library. Wine 8 lacks it.
pub const RANDOM: &str = "bcryptprimitives.dll";
const RANDOM_SOURCE: &str = "#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return SystemFunction036(data, length); }
";
const TOOLCHAIN: &str = "set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
";

fn folder() -> PathBuf {
    store().join("windows")
}

/// The loader.
pub fn library() -> PathBuf {
    folder().join("vulkan-1.dll")
}

/// The library [`RANDOM`].
pub fn random() -> PathBuf {
    folder().join(RANDOM)
}

/// Builds both libraries, unless they are there. Opens `archive` when it is first needed.
///
/// # Errors
///
/// The source cannot be downloaded, or does not compile.
pub fn build(archive: &mut Option<Archive>) -> Result<()> {
    if library().is_file() {
        return Ok(());
    }
    let fresh = folder().with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let release = provision::opened(archive)?.other_release(RELEASE)?;
    let source = fresh.join("source");
    release.unpack_source("vulkan-loader", &["*"], &source)?;
    compile(&source, &fresh).context("building the Vulkan loader for Windows")?;
    let random = fresh.join("random.c");
    fs::write(&random, RANDOM_SOURCE)?;
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    compiler
        .args(["-shared", "-O1"])
        .arg(&random)
        .arg("-o")
        .arg(fresh.join(RANDOM));
    process::output(compiler.arg("-ladvapi32"))?;
    for done in ["source", "headers", "build", "installed"] {
        fs::remove_dir_all(fresh.join(done))?;
    }
    let _ = fs::remove_dir_all(folder());
    fs::rename(&fresh, folder())?;
    println!("Vulkan loader for Windows: built {}", library().display());
    Ok(())
}

fn compile(source: &Path, fresh: &Path) -> Result<()> {
    // Debian's archive has no generated sources, and contains the headers.
    let headers = source.join("vulkan-headers");
    fs::create_dir_all(source.join("loader/generated"))?;
    let mut generate = Command::new("python3");
    generate.arg(source.join("scripts/generate_source.py"));
    process::output(
        generate
            .args(["--incremental", "--generated-version", "1.4.309"])
            .arg(headers.join("registry")),
    )?;
    let toolchain = fresh.join("toolchain.cmake");
    fs::write(&toolchain, TOOLCHAIN)?;
    let installed = fresh.join("installed");
    let option = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    let configure = |source: &Path, build: &str, options: &[String]| {
        let mut cmake = Command::new("cmake");
        cmake
            .args(["-G", "Ninja", "-S"])
            .arg(source)
            .arg("-B")
            .arg(fresh.join(build));
        process::output(cmake.args(options))
    };
    configure(
        &headers,
        "headers",
        // Headers are the same for all systems.
        &[
            option("CMAKE_INSTALL_PREFIX", &installed),
            "-DVULKAN_HEADERS_ENABLE_MODULE=OFF".to_owned(),
            "-DVULKAN_HEADERS_ENABLE_TESTS=OFF".to_owned(),
        ],
    )?;
    process::output(Command::new("cmake").arg("--install").arg(fresh.join("headers")))?;
    let mut options: Vec<String> = [
        "CMAKE_BUILD_TYPE=Release",
        "UPDATE_DEPS=OFF",
        "BUILD_TESTS=OFF",
        "USE_GAS=ON",
        // Wine's processes are elevated. A loader with the default does not read the environment in them.
        "LOADER_USE_UNSAFE_FILE_SEARCH=ON",
    ]
    .map(|option| format!("-D{option}"))
    .to_vec();
    options.push(option("CMAKE_TOOLCHAIN_FILE", &toolchain));
    options.push(option("VULKAN_HEADERS_INSTALL_DIR", &installed));
    configure(source, "build", &options)?;
    process::output(Command::new("cmake").arg("--build").arg(fresh.join("build")))?;
    fs::copy(fresh.join("build/loader/vulkan-1.dll"), fresh.join("vulkan-1.dll"))?;
    Ok(())
}
