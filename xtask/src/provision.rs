//! Installs the test drivers and tools that [`vkabort_test_kit`] looks for into `.vkabort/`.

use crate::debian::{self, Archive};
use crate::manifests::{write_driver_manifest, write_validation_manifest};
use crate::{gpu_drivers, wheel};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::drivers::{self, LIBRARIES, TestDriver, has_loader};
use vkabort_test_kit::{glslang, gpu_drivers as real_gpus, process, slang, spirv_tools, store};

/// Installs everything that the tests need, unless it is there; with `newest`, also Debian unstable's drivers.
///
/// # Errors
///
/// A package cannot be downloaded, unpacked or installed.
pub fn provision(newest: bool) -> Result<()> {
    let mut archive = None;
    for driver in TestDriver::ALL {
        if driver == TestDriver::Newest && !newest {
            continue;
        }
        bring(driver, &mut archive)?;
    }
    if !gpu_drivers::are_installed() {
        gpu_drivers::install(opened(&mut archive)?)?;
    }
    bring_glslang(&mut archive)?;
    wheel::install_slang()?;
    wheel::install_spirv_tools()
}

/// Installs one driver, unless it is there. Opens `archive` when it is first needed.
///
/// # Errors
///
/// As [`provision`].
pub fn bring(driver: TestDriver, archive: &mut Option<Archive>) -> Result<()> {
    if driver.find().is_ok() {
        return Ok(());
    }
    if driver == TestDriver::Lavapipe {
        return debian::install(&["libvulkan1", "mesa-vulkan-drivers"], "running Vulkan programs");
    }
    let archive = opened(archive)?;
    // Unpacked beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
    let folder = driver.folder();
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&fresh)?;
    let version = match driver {
        TestDriver::Lavapipe => bail!("lavapipe is installed, not unpacked"),
        TestDriver::LavapipeBackports => unpack_lavapipe(archive, &fresh, &folder)?,
        TestDriver::SwiftShader => unpack_swiftshader(archive, &fresh, &folder)?,
        TestDriver::Newest => unpack_newest(archive, &fresh, &folder)?,
    };
    fs::write(fresh.join("version"), &version)?;
    fs::rename(&fresh, &folder)?;
    println!("{}: unpacked {version} into {}", driver.name(), folder.display());
    Ok(())
}

/// Installs Debian's loader and its driver for the CPU, if the machine has no loader or no driver.
///
/// # Errors
///
/// As [`debian::install`].
pub fn system_driver() -> Result<()> {
    match has_loader() && drivers::has_system_driver() {
        true => Ok(()),
        false => debian::install(&["libvulkan1", "mesa-vulkan-drivers"], "running Vulkan programs"),
    }
}

/// Installs the GLSL compiler, unless it is there: Debian unstable's program, with the libraries that it needs.
///
/// # Errors
///
/// As [`provision`].
pub fn bring_glslang(archive: &mut Option<Archive>) -> Result<PathBuf> {
    if let Ok(found) = glslang::find() {
        return Ok(found);
    }
    let folder = glslang::folder();
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(&folder);
    let unpacked = fresh.join("unpacked");
    let unstable = opened(archive)?.other_release(gpu_drivers::UNSTABLE)?;
    let version = unstable.version("glslang-tools", false)?;
    let packages = ["glslang-tools", "libc6", "libgcc-s1", "libstdc++6"];
    unstable.unpack(&packages, false, &unpacked)?;
    for part in ["bin", "lib"] {
        fs::create_dir_all(fresh.join(part))?;
    }
    let [script, files @ ..] = glslang::FILES;
    for file in files {
        let name = Path::new(file).file_name().unwrap_or_default();
        let from = match file == glslang::PROGRAM {
            true => unpacked.join("usr/bin").join(name),
            false => unpacked.join(LIBRARIES).join(name),
        };
        fs::copy(&from, fresh.join(file)).with_context(|| format!("the packages have no {}", from.display()))?;
    }
    fs::write(fresh.join(script), glslang::SCRIPT_TEXT)?;
    process::output(Command::new("chmod").arg("+x").arg(fresh.join(script)))?;
    fs::write(fresh.join("version"), &version)?;
    fs::remove_dir_all(&unpacked)?;
    fs::rename(&fresh, &folder)?;
    println!("glslang: unpacked version {version} into {}", folder.display());
    glslang::find().map_err(anyhow::Error::msg)
}

/// Opens the package lists when they are first needed.
///
/// # Errors
///
/// As [`Archive::open`].
pub fn opened(archive: &mut Option<Archive>) -> Result<&Archive> {
    if archive.is_none() {
        *archive = Some(Archive::open(&store().join("apt"))?);
    }
    archive.as_ref().context("the package lists are open")
}

/// Unpacks the backports' Mesa. Its other dependencies are those of the release's Mesa, which is installed.
fn unpack_lavapipe(archive: &Archive, fresh: &Path, folder: &Path) -> Result<String> {
    let version = archive.version("mesa-vulkan-drivers", true)?;
    archive.unpack(&["mesa-vulkan-drivers", "libdrm2", "libdrm-amdgpu1"], true, fresh)?;
    write_driver_manifest(fresh, &folder.join(LIBRARIES).join("libvulkan_lvp.so"), "1.4.305")?;
    Ok(format!("mesa-vulkan-drivers {version}"))
}

/// Unpacks SwiftShader, the validation layer and a newer loader, all parts of Debian's Chromium.
fn unpack_swiftshader(archive: &Archive, fresh: &Path, folder: &Path) -> Result<String> {
    let version = archive.version("chromium-common", false)?;
    archive.unpack(&["chromium-common"], false, fresh)?;
    let libraries = "usr/lib/chromium";
    for large in [
        "resources.pak",
        "icudtl.dat",
        "locales",
        "chrome_crashpad_handler",
        "chrome_200_percent.pak",
    ] {
        let path = fresh.join(libraries).join(large);
        let _ = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
    write_driver_manifest(fresh, &folder.join(libraries).join("libvk_swiftshader.so"), "1.3.0")?;
    let validation = folder.join(libraries).join("libVkLayer_khronos_validation.so");
    write_validation_manifest(fresh, &validation)?;
    Ok(format!("chromium-common {version}"))
}

/// Unpacks Debian unstable's drivers, their dependencies and SPIRV-Tools. Programs run with these libraries through their dynamic
/// linker.
fn unpack_newest(archive: &Archive, fresh: &Path, folder: &Path) -> Result<String> {
    let unstable = archive.other_release(gpu_drivers::UNSTABLE)?;
    let version = unstable.version("mesa-vulkan-drivers", false)?;
    let packages = [
        "mesa-vulkan-drivers",
        "libvulkan1",
        "vulkan-validationlayers",
        "spirv-tools",
    ];
    unstable.unpack_with_dependencies(&packages, fresh)?;
    let libraries = folder.join(LIBRARIES);
    write_driver_manifest(fresh, &libraries.join("libvulkan_lvp.so"), "1.4.0")?;
    write_validation_manifest(fresh, &libraries.join("libVkLayer_khronos_validation.so"))?;
    Ok(format!("{}'s mesa-vulkan-drivers {version}", gpu_drivers::UNSTABLE))
}

/// Prints which drivers and tools are installed.
pub fn report() {
    println!("loader: {}", if has_loader() { "installed" } else { "not installed" });
    for driver in TestDriver::ALL {
        match driver.find() {
            Ok(found) if found.version.is_empty() => println!("{}: {}", driver.name(), found.manifest.display()),
            Ok(found) => println!("{}: {} ({})", driver.name(), found.manifest.display(), found.version),
            Err(reason) => println!("{}: {reason}", driver.name()),
        }
    }
    match fs::read_to_string(real_gpus::folder().join("version")) {
        Ok(version) => println!("GPU drivers: {version}"),
        Err(_) => println!("GPU drivers: not installed; `cargo xtask drivers` installs them"),
    }
    match drivers::validation_layer(None) {
        Ok(folder) => println!("validation layer: {}", folder.display()),
        Err(reason) => println!("validation layer: {reason}"),
    }
    match glslang::find() {
        Ok(program) => println!("glslang: {}", program.display()),
        Err(reason) => println!("glslang: {reason}"),
    }
    match slang::find() {
        Ok(library) => println!("slang: {}", library.display()),
        Err(reason) => println!("slang: {reason}"),
    }
    match spirv_tools::find("spirv-val") {
        Ok(program) => println!("spirv-tools: {}", program.display()),
        Err(reason) => println!("spirv-tools: {reason}"),
    }
}
