//! Devices of several threads and processes that write their dumps to one folder at the same time.

use super::deliver::{lose_named, shader};
use super::support::marked;
use crate::case::{Case, cases};
use crate::respawn;
use crate::vk::Gpu;
use anyhow::{Result, bail, ensure};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};
use vkabort_gpu::message_data::split;

pub(super) const CASES: &[Case] = cases! {
    "dump_race::each_device_has_its_own_complete_folder" => dumps_at_once(gpu),
        alone(), set(&[("dump_dir", "dumps")]), in_own_process(), within(120);
};

/// Devices that each process loses at the same time.
const THREADS: usize = 3;

/// Three processes dump to one folder. In containers, another process can have the same id, so names may be taken.
fn dumps_at_once(gpu: &Gpu) -> Result<()> {
    const CHILD: &str = "VKABORT_E2E_CHILD";
    let is_child = std::env::var_os(CHILD).is_some();
    let mut children = Vec::new();
    if !is_child {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        fs::create_dir("dumps")?;
        // The layer refuses a folder to which others can write, as a umask may allow.
        #[cfg(unix)]
        fs::set_permissions("dumps", std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        for second in now..now + 60 {
            fs::create_dir(format!("dumps/abort-{second}-{}-0", std::process::id()))?;
        }
        for _ in 0..2 {
            children.push(respawn::command()?.env(CHILD, "1").spawn()?);
        }
    }
    std::thread::scope(|scope| {
        let lose = || lose_named(gpu, &shader()?, &marked(&[5]), |_| Ok(()));
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(lose)).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .into_iter()
            .try_for_each(|result| result.unwrap_or_else(|_| bail!("a thread panicked")))
    })?;
    if is_child {
        return Ok(());
    }
    for mut child in children {
        let status = child.wait()?;
        ensure!(status.success(), "a child ended with {status}");
    }
    let mut dumps = 0;
    for folder in fs::read_dir("dumps")? {
        let folder = folder?.path();
        let count = fs::read_dir(&folder)?.count();
        if count > 0 {
            // Report as text and JSON, messages, sites, SPIR-V before and after.
            ensure!(count == 6, "{} has {count} files", folder.display());
            let messages = split(&fs::read(folder.join("messages.bin"))?)?.len();
            ensure!(messages == 1, "{} has {messages} messages", folder.display());
            dumps += 1;
        }
    }
    ensure!(dumps == 3 * THREADS, "{dumps} folders");
    Ok(())
}
