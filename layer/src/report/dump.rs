//! `dump_dir`: everything about an abort in one folder, to be looked at elsewhere and later.

use crate::device::state::AbortState;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use vkabort_record::report::Report;
use vkabort_record::snapshot::Records;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Makes a folder that nobody else has: processes in containers share their numbers, and perhaps this folder.
fn fresh(folder: &Path, name: &str) -> io::Result<PathBuf> {
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{name}-{number}"));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| path),
        }
    }
}

/// Writes the report as text and as JSON lines, the raw messages and the driver's crash dump, and for every module concerned its site table and its
/// SPIR-V before and after the rewrite.
///
/// # Errors
/// The folder or a file in it could not be written.
pub fn write(
    folder: &Path,
    state: &AbortState,
    report: &Report,
    records: &Records,
    raw: (&[u8], &[u8]),
) -> io::Result<PathBuf> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    fs::create_dir_all(folder)?;
    let to = fresh(folder, &format!("abort-{seconds}-{}", std::process::id()))?;
    fs::write(to.join("report.txt"), report.text(false))?;
    fs::write(to.join("report.jsonl"), report.json_lines())?;
    fs::write(to.join("messages.bin"), raw.0)?;
    if !raw.1.is_empty() {
        fs::write(to.join("vendor.bin"), raw.1)?;
    }
    let recorded = records.records.iter().map(|r| r.module_hash);
    let matched = report.sites.iter().filter_map(|site| site.module_hash);
    let hashes: BTreeSet<_> = recorded.chain(matched).collect();
    for module in hashes.into_iter().filter_map(|hash| state.modules.find(hash)) {
        let name = module.sites.module_hash;
        if let Ok(sites) = serde_json::to_vec_pretty(&*module.sites) {
            fs::write(to.join(format!("{name}.sites.json")), sites)?;
        }
        for (words, kind) in [(&module.original, "original"), (&module.rewritten, "rewritten")] {
            if let Some(words) = words {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                fs::write(to.join(format!("{name}.{kind}.spv")), bytes)?;
            }
        }
    }
    Ok(to)
}
