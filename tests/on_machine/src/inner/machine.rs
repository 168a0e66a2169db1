//! The facts: the system, the device, and what `vkabort doctor` says.

use super::Inner;
use crate::facts;
use anyhow::{Context, Result, ensure};
use std::ffi::CStr;
use std::fs;
use std::time::Duration;
use vkabort_tests::harness::{Placement, Scratch, environment, run_within};

const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn run(inner: &mut Inner) -> Result<()> {
    inner.check("facts::system", system)?;
    inner.check("facts::device", |inner| {
        let lines = facts::of_device(&inner.device)?;
        lines.into_iter().try_for_each(|line| inner.fact(line))
    })?;
    inner.check("facts::doctor", doctor)
}

fn system(inner: &mut Inner) -> Result<()> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(key).map(str::to_owned));
        found.map(|value| value.trim_matches([' ', '\t', ':', '=', '"']).to_owned())
    };
    let system = value(&read("/etc/os-release"), "PRETTY_NAME").unwrap_or_else(|| "unknown system".into());
    let kernel = read("/proc/sys/kernel/osrelease");
    // SAFETY: the function takes nothing and returns a string that stays.
    let c_library = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    inner.fact(format!("{system}, Linux {}, glibc {c_library}", kernel.trim()))?;
    let cpus = read("/proc/cpuinfo");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = value(&cpus, "model name").unwrap_or_else(|| "unknown CPU".into());
    inner.fact(format!("{model}, {cores} threads"))?;
    // The kernel's side of drivers that say so.
    let nvidia = read("/proc/driver/nvidia/version");
    for line in nvidia.lines().take(1) {
        inner.fact(line)?;
    }
    Ok(())
}

fn doctor(inner: &mut Inner) -> Result<()> {
    let carried = &inner.carried;
    let scratch = Scratch::below(&carried.processes())?;
    let environment = environment(None, &carried.layer, Placement::WithoutLayer, &scratch.0)?;
    let mut command = environment.command(&carried.command())?;
    command.args(["doctor", "--layer"]).arg(&carried.layer.library);
    command.env("TMPDIR", &scratch.0);
    let limit = inner.clock.share(LIMIT).context("no time is left")?;
    let ended = run_within(&mut command, limit, &scratch.0)?;
    let folder = carried.folder.display().to_string();
    for line in ended.stdout.lines().filter(|line| !line.trim().is_empty()) {
        // The folder has another name in every run.
        inner.fact(format!("doctor: {}", line.replace(&folder, "..")))?;
    }
    ensure!(
        ended.status.success(),
        "it ended with {}\n{}",
        ended.status,
        ended.said()
    );
    Ok(())
}
