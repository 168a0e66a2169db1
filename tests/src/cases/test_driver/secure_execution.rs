//! Secure execution: in a process with more privileges than its user, only the application configures the layer, and the
//! layer writes no file. In other processes its files are private to their user. `tests/tests/secure_execution.rs` runs the
//! first case as a setuid program.

use super::support::{lose_with, payload};
use crate::case::{Case, Context, cases};
use crate::cases::objects::message_limit;
use crate::cases::settings::{open, text};
use crate::vk::{Device, Gpu, khr};
use anyhow::{Context as _, Result, ensure};
use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use vkabort_test_kit::layer::{LIBRARY_FILE, VARIABLE_PREFIX};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_secure_execution::only_the_application_configures_it" => configured(context),
        on_driver("replay,abort=1"), silent(), set(&[("log_file", "layer.log")]);
    "test_driver_secure_execution::log_dump_and_addresses_are_private" => private(context),
        on_driver("replay,abort=1"), silent(), set(&[("log_file", "layer.log"), ("dump_dir", "dumps")]);
    "test_driver_secure_execution::a_log_file_behind_a_symbolic_link_is_not_opened" => linked(context),
        on_driver(""), set(&[("log_file", "layer.log"), ("log_level", "info")]),
        logs(&["log_file = layer.log: cannot open the file: it is a symbolic link"]);
};

/// `maxShaderAbortMessageSize` without any setting.
const DEFAULT_SIZE: u64 = 65536;

/// Whether the process has more privileges than its user.
fn is_secure() -> bool {
    // SAFETY: reads the auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the layer is loaded.
fn is_loaded() -> bool {
    unsafe extern "C" fn check(info: *mut libc::dl_phdr_info, _: usize, found: *mut std::ffi::c_void) -> i32 {
        // SAFETY: the linker passes a valid structure with a null-terminated name.
        unsafe {
            let name = CStr::from_ptr((*info).dlpi_name).to_string_lossy();
            *found.cast::<bool>() |= name.ends_with(LIBRARY_FILE);
        }
        0
    }
    let mut found = false;
    // SAFETY: the callback gets a pointer to `found` during the call.
    unsafe { libc::dl_iterate_phdr(Some(check), (&raw mut found).cast()) };
    found
}

/// Environment and files change a process without privileges, and have no effect on one with them. The application's own
/// settings have an effect on both, except those that write files.
fn configured(context: &Context) -> Result<()> {
    let secure = is_secure();
    let gpu = Gpu::open(context)?;
    ensure!(is_loaded(), "the loader did not load the layer");
    ensure!(
        gpu.has_extension(khr::SHADER_ABORT_NAME)? != secure,
        "the extension is {}listed",
        if secure { "" } else { "not " }
    );
    drop(gpu);
    let values = [c"auto", c"/attack/log", c"/attack/dump"].map(|value| [value.as_ptr()]);
    let keys = [c"emulation", c"log_file", c"dump_dir"];
    let settings = std::array::from_fn::<_, 3, _>(|index| text(keys[index], &values[index]));
    let gpu = open(context, if secure { &settings } else { &[] })?;
    let size = message_limit(&gpu);
    println!("secure {secure}, message size {size}");
    ensure!(!secure || size == DEFAULT_SIZE, "the message size is {size}");
    lose_with(&Device::new(&gpu)?, &[payload(1, 0)])
}

/// All files below a path have the mode 0600 and all folders 0700, whatever the umask is.
fn check_private(path: &Path) -> Result<()> {
    let found = fs::symlink_metadata(path).with_context(|| format!("{}", path.display()))?;
    let expected = if found.is_dir() { 0o700 } else { 0o600 };
    let mode = found.mode() & 0o777;
    ensure!(mode == expected, "{} has the mode {mode:o}", path.display());
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            check_private(&entry?.path())?;
        }
    }
    Ok(())
}

fn private(context: &Context) -> Result<()> {
    // SAFETY: sets the process's umask.
    unsafe { libc::umask(0) };
    let gpu = Gpu::open(context)?;
    lose_with(&Device::new(&gpu)?, &[payload(1, 0)])?;
    let cache = std::env::var("HOME")? + "/.cache/vkabort";
    for path in ["layer.log", "dumps", &cache] {
        check_private(Path::new(path))?;
    }
    Ok(())
}

fn linked(context: &Context) -> Result<()> {
    fs::write("victim", "")?;
    symlink("victim", "layer.log")?;
    drop(Gpu::open(context)?);
    ensure!(std::env::var(format!("{VARIABLE_PREFIX}LOG_FILE")).is_ok());
    ensure!(fs::read("victim")?.is_empty(), "the layer wrote to the link's target");
    Ok(())
}
