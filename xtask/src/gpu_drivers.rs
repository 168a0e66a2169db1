//! Installs real GPU drivers, and builds the libraries that play their kernel drivers from Mesa's source.

use crate::debian::Archive;
use crate::manifests::write_validation_manifest;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::drivers::LIBRARIES;
use vkabort_test_kit::gpu_drivers::{Family, folder, manifests, shim_file};
use vkabort_test_kit::{process, root};

/// The release whose Mesa compiles for every GPU of the tests, NVIDIA's included. Its libraries run on older systems through
/// their own dynamic linker.
const RELEASE: &str = "trixie";

/// The release with the newest drivers.
pub const UNSTABLE: &str = "sid";

/// The files of Mesa's source that the shims need.
const SOURCES: [&str; 13] = [
    "*/include/*",
    "*/src/util/*",
    "*/src/drm-shim/*",
    "*/src/c11/*",
    "*/src/compiler/*.h",
    "*/src/amd/drm-shim/*",
    "*/src/amd/common/*.h",
    "*/src/nouveau/*.[ch]",
    "*/src/freedreno/drm-shim/*",
    "*/src/intel/dev/*",
    "*/src/intel/common/*",
    "*/src/intel/tools/intel_noop_drm_shim.c",
    "*/src/gallium/drivers/nouveau/*.h",
];

/// Whether everything that [`install`] writes is there.
pub fn are_installed() -> bool {
    let shims = Family::ALL.map(|family| shim_file(family.shim()));
    let others = ["validation/VkLayer_khronos_validation.json", "version"].map(str::to_owned);
    let mut files = shims.into_iter().chain(others).chain(manifests().map(|(name, _)| name));
    files.all(|file| folder().join(file).is_file())
}

/// Installs the drivers in place of those that are there.
///
/// # Errors
///
/// A package cannot be downloaded or unpacked, or a shim does not compile.
pub fn install(archive: &Archive) -> Result<()> {
    let fresh = folder().with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let release = archive.other_release(RELEASE)?;
    let version = release.version("mesa-vulkan-drivers", false)?;
    release.unpack_with_dependencies(
        &["mesa-vulkan-drivers", "libvulkan1", "vulkan-validationlayers"],
        &fresh,
    )?;
    let build = fresh.join("build");
    release.unpack(&["libdrm-dev", "python3-mako", "python3-markupsafe"], false, &build)?;
    // The kernel's interface to Apple's GPUs is newer than the other packages.
    let unstable = archive.other_release(UNSTABLE)?;
    unstable.unpack(&["linux-libc-dev"], false, &build.join("kernel"))?;
    let source = build.join("mesa");
    release.unpack_source("mesa", &SOURCES, &source)?;
    fs::create_dir_all(fresh.join("shim"))?;
    generate_intel_sources(&build)?;
    for shim in ["amdgpu", "intel", "nouveau", "msm", "asahi"] {
        compile(shim, &build, &fresh.join(shim_file(shim))).with_context(|| format!("building the {shim} shim"))?;
    }
    fs::remove_dir_all(&build)?;
    for (name, text) in manifests() {
        fs::write(fresh.join(name), text)?;
    }
    fs::write(
        fresh.join("version"),
        format!("{RELEASE}'s mesa-vulkan-drivers {version}"),
    )?;
    let validation = folder().join(LIBRARIES).join("libVkLayer_khronos_validation.so");
    write_validation_manifest(&fresh, &validation)?;
    let _ = fs::remove_dir_all(folder());
    fs::rename(&fresh, folder())?;
    println!("GPU drivers: unpacked {version} into {}", folder().display());
    Ok(())
}

/// Runs the generators of Mesa's tables of Intel GPUs. They import Mako.
fn generate_intel_sources(build: &Path) -> Result<()> {
    let generated = build.join("generated");
    fs::create_dir_all(generated.join("intel/dev"))?;
    let python = |script: &str, arguments: &[PathBuf]| {
        let mut command = Command::new("python3");
        command
            .env("PYTHONPATH", build.join("usr/lib/python3/dist-packages"))
            .arg(build.join("mesa/src/intel/dev").join(script))
            .args(arguments);
        process::output(&mut command)
    };
    let output = |name: &str| generated.join("intel/dev").join(name);
    let definitions = build.join("mesa/src/intel/dev/mesa_defs.json");
    python(
        "gen_wa_helpers.py",
        &[definitions, output("intel_wa.h"), output("intel_wa.c")],
    )?;
    python("intel_device_info_gen_h.py", &[output("intel_device_info_gen.h")])?;
    python(
        "intel_device_info_serialize_gen_c.py",
        &[output("intel_device_info_serialize_gen.c")],
    )?;
    fs::write(generated.join("git_sha1.h"), "#define MESA_GIT_SHA1 \"\"\n")?;
    Ok(())
}

/// Compiles one shim with the system's C compiler.
fn compile(shim: &str, build: &Path, library: &Path) -> Result<()> {
    let own = root().join("tests/gpu_drivers");
    let mut command = Command::new("cc");
    command.current_dir(build.join("mesa"));
    command.args(
        "-shared -O1 -fPIC -std=gnu11 -fvisibility=hidden -w -ffunction-sections -fdata-sections -Wl,--gc-sections"
            .split(' '),
    );
    command.arg("-include").arg(own.join("compat.h"));
    command.args(DEFINES.split_whitespace().map(|name| format!("-D{name}")));
    command.args(INCLUDES.split_whitespace().map(|path| format!("-I{path}")));
    for path in [
        "usr/include",
        "usr/include/libdrm",
        "generated",
        "generated/intel",
        "generated/intel/dev",
    ] {
        command.arg("-I").arg(build.join(path));
    }
    match shim {
        "intel" => {
            command.args(INTEL_FILES.split_whitespace().map(|file| format!("src/{file}.c")));
            for file in ["intel_wa.c", "intel_device_info_serialize_gen.c"] {
                command.arg(build.join("generated/intel/dev").join(file));
            }
        }
        "amdgpu" => {
            command
                .arg(own.join("amdgpu.c"))
                .arg("src/amd/drm-shim/amdgpu_devices.c");
        }
        _ => {
            command.arg("-idirafter").arg(build.join("kernel/usr/include"));
            command.arg(own.join(format!("{shim}.c")));
        }
    }
    command.args(COMMON_FILES.split_whitespace().map(|file| format!("src/{file}.c")));
    command.arg("-o").arg(library).args(["-ldl", "-lpthread", "-lm"]);
    process::output(&mut command)?;
    Ok(())
}

/// Mesa's configuration for glibc and GCC.
const DEFINES: &str = "
    _GNU_SOURCE HAVE_PTHREAD HAVE_STRUCT_TIMESPEC HAVE_MEMFD_CREATE HAVE_DLADDR HAVE_SECURE_GETENV HAVE_DIRENT_D_TYPE
    HAVE_POSIX_MEMALIGN HAVE_ENDIAN_H HAVE_LINUX_FUTEX_H HAVE___BUILTIN_CLZ HAVE___BUILTIN_CLZLL HAVE___BUILTIN_CTZ
    HAVE___BUILTIN_FFS HAVE___BUILTIN_FFSLL HAVE___BUILTIN_POPCOUNT HAVE___BUILTIN_UNREACHABLE HAVE___BUILTIN_BSWAP32
    HAVE___BUILTIN_BSWAP64 HAVE_PROGRAM_INVOCATION_NAME USE_GCC_ATOMIC_BUILTINS MAJOR_IN_SYSMACROS NDEBUG
    UTIL_ARCH_LITTLE_ENDIAN=1 MESA_DEBUG=0 PACKAGE_VERSION=\"vkabort\"";

const INCLUDES: &str = "
    include include/drm-uapi src src/util . src/amd src/amd/drm-shim src/nouveau/winsys src/nouveau src/nouveau/drm-shim
    src/gallium/winsys src/intel src/intel/dev src/intel/common";

const COMMON_FILES: &str = "
    drm-shim/drm_shim drm-shim/device util/hash_table util/ralloc util/set util/vma util/anon_file util/u_debug util/log
    util/os_misc util/os_file util/u_math util/u_process util/u_call_once util/memstream util/u_printf util/strtod
    util/u_cpu_detect util/cnd_monotonic util/futex c11/impl/threads_posix util/u_thread util/os_time util/os_memory_fd";

const INTEL_FILES: &str = "
    intel/tools/intel_noop_drm_shim intel/dev/intel_device_info intel/dev/intel_debug intel/dev/intel_hwconfig
    intel/dev/intel_kmd intel/dev/i915/intel_device_info intel/dev/xe/intel_device_info intel/common/intel_gem
    intel/common/i915/intel_gem intel/common/xe/intel_gem intel/common/xe/intel_device_query intel/common/intel_engine
    intel/common/i915/intel_engine intel/common/xe/intel_engine util/parson util/build_id util/bitscan util/mesa-sha1
    util/sha1/sha1";
