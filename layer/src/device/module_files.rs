//! The settings `dump_modules` and `replace_modules`: modules by hand. The folders are those of other drivers and layers for
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
mod tests {
    use super::*;
    use crate::log::Format;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("vkabort-module-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// What `act` logs, with files of these folders.
    fn logged(folder: &Path, settings: &Settings, act: impl FnOnce(&ModuleFiles, &Log)) -> String {
        let path = folder.join("log");
        let log = Log::new(Level::Info, Format::Text, Some(&path));
        act(&ModuleFiles::new(settings, &log), &log);
        let text = std::fs::read_to_string(&path).expect("a log");
        std::fs::remove_file(path).expect("removed");
        text
    }

    fn bytes(words: &[u32], bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
        words.iter().flat_map(|word| bytes(*word)).collect()
    }

    #[test]
    fn a_module_is_replaced_by_the_file_with_its_hash() {
        let folder = folder("replace");
        let (module, other, new) = ([MAGIC, 1], [MAGIC, 2], [MAGIC, 3]);
        let hash = module_hash(&module, &Options::default());
        std::fs::write(folder.join(format!("{hash}.spv")), bytes(&new, u32::to_be_bytes)).expect("a file");
        std::fs::write(folder.join("0000000000000001.spv"), bytes(&new, u32::to_le_bytes)).expect("a file");
        std::fs::write(folder.join("0000000000000002.spv"), "text").expect("a file");
        std::fs::write(folder.join("other.spv"), bytes(&new, u32::to_le_bytes)).expect("a file");
        std::fs::write(folder.join("readme.txt"), "").expect("a file");
        let settings = Settings {
            replace_modules: Some(folder.clone()),
            ..Settings::default()
        };
        let text = logged(&folder, &settings, |files, log| {
            files.log_unused(log);
            for _ in 0..2 {
                assert_eq!(files.replacement(&module, log), Some(&new[..]));
                assert_eq!(files.replacement(&other, log), None);
            }
            files.log_unused(log);
            files.log_unused(log);
        });
        let count = |part: &str| text.matches(part).count();
        assert_eq!(count("is replaced: module"), 1, "{text}");
        assert_eq!(
            count("no module of the program has the hash 0000000000000001;"),
            1,
            "{text}"
        );
        assert_eq!(count("no module of the program has the hash"), 1, "{text}");
        assert_eq!(
            count("0000000000000002.spv is ignored: it is not a SPIR-V module"),
            1,
            "{text}"
        );
        assert_eq!(
            count("other.spv is ignored: a module hash is 16 hexadecimal digits"),
            1,
            "{text}"
        );
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn every_module_is_written_once_and_again_if_the_driver_refuses_it() {
        let folder = folder("dump");
        let settings = Settings {
            dump_modules: Some(folder.join("modules")),
            ..Settings::default()
        };
        let module = [MAGIC, 1];
        let hash = module_hash(&module, &Options::default());
        let read = |kind: &str| std::fs::read(folder.join(format!("modules/{hash}.{kind}.spv"))).unwrap_or_default();
        logged(&folder, &settings, |files, log| {
            files.dump(&module, Some((hash, &[MAGIC, 2])), log);
            files.dump(&module, Some((hash, &[MAGIC, 3])), log);
            assert_eq!(read("original"), bytes(&module, u32::to_le_bytes));
            assert_eq!(read("rewritten"), bytes(&[MAGIC, 2], u32::to_le_bytes));
            files.forget(hash);
            files.dump(&module, None, log);
            assert!(read("rewritten").is_empty());
            // With specialisation data: the file begins with the hash of the original.
            let specialised = ModuleHash(7);
            let kind = format!("{specialised}.rewritten");
            files.dump(&module, Some((specialised, &[MAGIC, 4])), log);
            assert_eq!(read(&kind), bytes(&[MAGIC, 4], u32::to_le_bytes));
            files.forget(specialised);
            assert!(read(&kind).is_empty());
            log.line(Level::Error, "complete");
        });
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_logged_once() {
        let folder = folder("refused");
        let settings = Settings {
            dump_modules: Some(folder.join("file/modules")),
            replace_modules: Some(folder.join("nowhere")),
            ..Settings::default()
        };
        std::fs::write(folder.join("file"), "").expect("a file");
        let text = logged(&folder, &settings, |files, log| {
            files.dump(&[MAGIC, 1], None, log);
            files.dump(&[MAGIC, 2], None, log);
        });
        assert_eq!(text.matches("dump_modules: cannot write").count(), 1, "{text}");
        assert!(text.contains("nowhere: "), "{text}");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
