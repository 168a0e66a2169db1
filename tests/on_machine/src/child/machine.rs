//! Facts about the machine: system, device, output of `vkabort doctor`.

use super::context::PartContext;
use crate::facts;
use anyhow::{Context, Result, ensure};
use std::ffi::CStr;
use std::fs;
use std::time::Duration;
use vkabort_tests::harness::Placement;

const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn run(context: &mut PartContext) -> Result<()> {
    context.check("facts::system", system)?;
    context.check("facts::device", |context| {
        let lines = facts::of_device(&context.device)?;
        lines.into_iter().try_for_each(|line| context.fact(line))
    })?;
    context.check("facts::doctor", doctor)
}

fn system(context: &mut PartContext) -> Result<()> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(key).map(str::to_owned));
        found.map(|value| value.trim_matches([' ', '\t', ':', '=', '"']).to_owned())
    };
    let system = value(&read("/etc/os-release"), "PRETTY_NAME").unwrap_or_else(|| "unknown system".into());
    let kernel = read("/proc/sys/kernel/osrelease");
    // SAFETY: returns a NUL-terminated string with static lifetime.
    let c_library = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    context.fact(format!("{system}, Linux {}, glibc {c_library}", kernel.trim()))?;
    let cpus = read("/proc/cpuinfo");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = value(&cpus, "model name").unwrap_or_else(|| "unknown CPU".into());
    context.fact(format!("{model}, {cores} threads"))?;
    // The version of the kernel module. Only NVIDIA's driver has this file.
    let nvidia = read("/proc/driver/nvidia/version");
    for line in nvidia.lines().take(1) {
        context.fact(line)?;
    }
    Ok(())
}

fn doctor(context: &mut PartContext) -> Result<()> {
    let unpacked = &context.unpacked;
    let limit = context.budget.share(LIMIT).context("no time is left")?;
    let finished = unpacked.run(&unpacked.command(), Placement::WithoutLayer, limit, |command| {
        command.args(["doctor", "--layer"]).arg(&unpacked.layer.library);
    })?;
    let folder = unpacked.folder.display().to_string();
    for line in finished.stdout.lines().filter(|line| !line.trim().is_empty()) {
        // The folder's name differs in every run.
        context.fact(format!("doctor: {}", line.replace(&folder, "..")))?;
    }
    ensure!(
        finished.status.success(),
        "`vkabort doctor` ended with {}\n{}",
        finished.status,
        finished.output_tail()
    );
    Ok(())
}
