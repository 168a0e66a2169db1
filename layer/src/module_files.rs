//! Writes modules to files and replaces modules by files (`dump_modules`, `replace_modules`). The folders are those of other drivers and layers for
//! the same purpose: a file is named by the hash of the application's module.

use crate::locks::{lock, try_lock};
use crate::log::{Level, Log};
use crate::private_file::{self, Access};
use crate::settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use vkabort_instrument::{Options, module_hash};
use vkabort_record::site::ModuleHash;

/// End of the names of files with rewritten modules.
const REWRITTEN: &str = ".rewritten.spv";

/// First word of a SPIR-V module.
const MAGIC: u32 = 0x0723_0203;

/// The module files of an instance.
#[derive(Default)]
pub struct ModuleFiles {
    dump: Option<PathBuf>,
    replacements: BTreeMap<ModuleHash, Vec<u32>>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    /// Modules whose replacement runs. The first one says so.
    replaced: BTreeSet<ModuleHash>,
    /// Files that are written.
    written: BTreeSet<PathBuf>,
    /// The instance has had a module.
    has_modules: bool,
    /// `dump_modules` could not be written.
    has_failed: bool,
}

impl ModuleFiles {
    /// Reads the replacements. Logs files that cannot be used.
    pub fn new(settings: &Settings, log: &Log) -> Self {
        let mut files = Self {
            dump: settings.dump_modules.clone(),
            ..Self::default()
        };
        if let Some(folder) = &settings.replace_modules {
            files.replacements = read_folder(folder, log).unwrap_or_else(|error| {
                let text = format!("replace_modules = {}: {error}", folder.display());
                log.line(Level::Error, &text);
                BTreeMap::new()
            });
        }
        files
    }

    /// Whether both settings are off, so that no module has to be hashed.
    pub fn is_off(&self) -> bool {
        self.dump.is_none() && self.replacements.is_empty()
    }

    /// The words that run in place of the application's.
    pub fn replacement(&self, words: &[u32], log: &Log) -> Option<&[u32]> {
        if self.replacements.is_empty() {
            return None;
        }
        let hash = module_hash(words, &Options::default());
        let mut progress = lock(&self.progress);
        progress.has_modules = true;
        let replacement = self.replacements.get(&hash)?;
        if progress.replaced.insert(hash) {
            let new = module_hash(replacement, &Options::default());
            let text = format!("module {hash} is replaced: module {new} runs in its place (replace_modules)");
            log.line(Level::Info, &text);
        }
        Some(replacement)
    }

    /// Writes a module as the application has it, and the words that the driver gets if they are others.
    pub fn dump(&self, original: &[u32], rewritten: Option<(ModuleHash, &[u32])>, log: &Log) {
        let Some(folder) = &self.dump else { return };
        let hash = module_hash(original, &Options::default());
        // Specialisation data of a shader object is a part of the second hash.
        let name = |new| match new == hash {
            true => format!("{hash}{REWRITTEN}"),
            false => format!("{hash}.{new}{REWRITTEN}"),
        };
        let rewritten = rewritten.map(|(new, words)| (name(new), words));
        for (name, words) in [(format!("{hash}.original.spv"), original)]
            .into_iter()
            .chain(rewritten)
        {
            let path = folder.join(name);
            // Held while the file is written: another thread may create the same module.
            let mut progress = lock(&self.progress);
            if !progress.has_failed
                && progress.written.insert(path.clone())
                && let Err(error) = write(folder, &path, words)
            {
                progress.has_failed = true;
                let text = format!("dump_modules: cannot write {}: {error}", path.display());
                log.line(Level::Error, &text);
            }
        }
    }

    /// Lets the words of a module be written once more: the driver gets others than those that it has refused.
    pub fn forget(&self, hash: ModuleHash) {
        if self.dump.is_some() {
            let end = format!("{hash}{REWRITTEN}");
            let mut progress = lock(&self.progress);
            progress.written.retain(|path| {
                let is_forgotten = path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().ends_with(&end));
                if is_forgotten {
                    // The next words may be the application's.
                    let _ = std::fs::remove_file(path);
                }
                !is_forgotten
            });
        }
    }

    /// Logs the replacements that no module of the instance had a use for. Of an instance without modules there are none.
    pub fn log_unused(&self, log: &Log) {
        // At the end of the process a thread that will never run again may hold the lock.
        let Some(mut progress) = try_lock(&self.progress) else {
            return;
        };
        if progress.has_modules {
            for hash in self
                .replacements
                .keys()
                .filter(|hash| !progress.replaced.contains(hash))
            {
                let text = format!(
                    "replace_modules: no module of the program has the hash {hash}; dump_modules writes all modules by their \
                     hashes"
                );
                log.line(Level::Warning, &text);
            }
            // Once.
            progress.has_modules = false;
        }
    }
}

/// Replaces a file.
fn write(folder: &Path, path: &Path, words: &[u32]) -> io::Result<()> {
    private_file::create_folders(folder)?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match private_file::open(path, Access::CreateNew) {
        // Another process has the same module.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => file?.write_all(&bytes),
    }
}

/// Reads the files `HASH.spv` of a folder.
fn read_folder(folder: &Path, log: &Log) -> io::Result<BTreeMap<ModuleHash, Vec<u32>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "spv") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let module = ModuleHash::try_from(stem)
            .map_err(|problem| format!("{problem}, so the file has to be named HASH.spv"))
            .and_then(|hash| Ok((hash, read(&path)?)));
        match module {
            Ok((hash, words)) => {
                found.insert(hash, words);
            }
            Err(problem) => {
                let text = format!("replace_modules: {} is ignored: {problem}", path.display());
                log.line(Level::Error, &text);
            }
        }
    }
    Ok(found)
}

/// Reads a module in either byte order.
fn read(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let (words, rest) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    match words.first() {
        Some(&MAGIC) if rest.is_empty() => Ok(words),
        Some(magic) if magic.swap_bytes() == MAGIC && rest.is_empty() => {
            Ok(words.into_iter().map(u32::swap_bytes).collect())
        }
        _ => Err("it is not a SPIR-V module".to_owned()),
    }
}

#[cfg(test)]
#[path = "module_files_tests.rs"]
mod tests;
