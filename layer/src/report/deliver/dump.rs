//! The setting `dump_dir`: writes everything about an abort to one folder, for later analysis.

use crate::device::AbortState;
use crate::private_file::{self, Access};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use vkabort_record::message_data::MessageData;
use vkabort_report::{PrintLine, Report};

static NEXT_NUMBER: AtomicU32 = AtomicU32::new(0);

/// Creates a new folder. Retries on a collision, since processes in containers may share process ids and `dump_dir`.
fn create_folder(parent: &Path, name: &str) -> io::Result<PathBuf> {
    loop {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{name}-{number}"));
        match private_file::create_folder(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| path),
        }
    }
}

/// Writes a new folder below `dump_dir`: the last prints and the report as text and as JSON lines, the raw messages, the driver's crash dump,
/// and for every module concerned its site table and its SPIR-V before and after the rewrite. A module that was rewritten in two
/// ways has two tables. Returns the folder.
///
/// # Errors
/// A folder or a file could not be written.
pub fn write(
    dump_dir: &Path,
    state: &AbortState,
    report: &Report,
    (messages, vendor_binary): (&MessageData, &[u8]),
    prints: &[PrintLine],
) -> io::Result<PathBuf> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since_epoch.map_or(0, |duration| duration.as_secs());
    private_file::create_folders(dump_dir)?;
    let folder = create_folder(dump_dir, &format!("abort-{seconds}-{}", std::process::id()))?;
    let write = |name: &str, bytes: &[u8]| {
        let mut file = private_file::open(&folder.join(name), Access::CreateNew)?;
        file.write_all(bytes)
    };
    let text: String = prints.iter().map(|print| print.text(true)).collect();
    write("report.txt", (text + &report.text(false)).as_bytes())?;
    let lines: String = prints.iter().map(PrintLine::json_line).collect();
    write("report.jsonl", (lines + &report.json_lines()).as_bytes())?;
    write("messages.bin", messages.bytes())?;
    if !vendor_binary.is_empty() {
        write("vendor.bin", vendor_binary)?;
    }
    let recorded: BTreeSet<_> = messages.records().records.iter().map(|r| r.code).collect();
    // Messages of a driver do not name the code.
    let matched: BTreeSet<_> = match recorded.is_empty() {
        true => report.sites.iter().filter_map(|site| site.module_hash).collect(),
        false => BTreeSet::new(),
    };
    let mut written = BTreeSet::new();
    for module in state.objects.all() {
        let (hash, code) = (module.sites.module_hash, module.code());
        if !recorded.contains(&code) && !matched.contains(&hash) {
            continue;
        }
        let is_first = written.insert(hash);
        let name = match is_first {
            true => hash.to_string(),
            false => format!("{hash}-{}", code.0),
        };
        if let Ok(sites) = serde_json::to_vec_pretty(&*module.sites) {
            write(&format!("{name}.sites.json"), &sites)?;
        }
        let original = module.original.as_ref().filter(|_| is_first);
        for (words, kind) in [(original, "original"), (module.rewritten.as_ref(), "rewritten")] {
            if let Some(words) = words {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                write(&format!("{name}.{kind}.spv"), &bytes)?;
            }
        }
    }
    Ok(folder)
}
