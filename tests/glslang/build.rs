//! Compiles the command-line program of glslang, which the crate `glslang-sys` contains but does not build.

use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() -> Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let native = crate_folder("glslang-sys")?.join("native");
    let sources = native.join("glslang");
    let folder = PathBuf::from(env::var_os("OUT_DIR").context("no OUT_DIR")?);
    // The project generates this header from files of extensions that no shader here uses.
    fs::create_dir_all(folder.join("glslang"))?;
    fs::write(
        folder.join("glslang/glsl_intrinsic_header.h"),
        "#include <string>\nstatic std::string getIntrinsic(const char* const*, int) { return {}; }\n",
    )?;
    fs::write(folder.join("glslang/build_info.h"), build_info(&sources)?)?;
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .define("main", "glslang_main")
        .define("ENABLE_SPIRV", "1")
        .define("ENABLE_HLSL", "1")
        .define("ENABLE_OPT", "0")
        .includes([&folder, &sources, &native.join("build_info")])
        .files([
            sources.join("StandAlone/StandAlone.cpp"),
            sources.join("glslang/ResourceLimits/ResourceLimits.cpp"),
            sources.join("glslang/ResourceLimits/resource_limits_c.cpp"),
            sources.join("glslang/OSDependent/Unix/ossource.cpp"),
        ])
        .compile("glslang_command");
    Ok(())
}

/// The header with the version, of which the crate has an old one. It is that of the newest release in the project's history.
fn build_info(sources: &Path) -> Result<String> {
    let history = fs::read_to_string(sources.join("CHANGES.md"))?;
    let mut releases = history.lines().filter_map(|line| line.strip_prefix("## "));
    let numbers = |release: &str| {
        let version = release.split_whitespace().next()?;
        let numbers: Vec<u32> = version
            .split('.')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        <[u32; 3]>::try_from(numbers).ok()
    };
    let [major, minor, patch] = releases
        .find_map(numbers)
        .context("CHANGES.md of glslang has no release")?;
    Ok(format!(
        "#define GLSLANG_VERSION_MAJOR {major}\n#define GLSLANG_VERSION_MINOR {minor}\n\
         #define GLSLANG_VERSION_PATCH {patch}\n#define GLSLANG_VERSION_FLAVOR \"\"\n"
    ))
}

/// Folder of a dependency's sources.
fn crate_folder(name: &str) -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").context("no CARGO")?;
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .output()
        .context("cannot start `cargo metadata`")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("`cargo metadata` failed: {errors}")
    })?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let package = packages.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    Ok(folder
        .with_context(|| format!("{name} is not a dependency"))?
        .to_owned())
}
