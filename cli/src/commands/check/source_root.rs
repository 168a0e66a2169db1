//! Names source files relative to the repository, as code hosts do, whatever folder their compiler ran in.

use super::finding::Finding;
use crate::failure::{Failure, Result};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The folder of `--source-root`, without symbolic links.
pub struct SourceRoot {
    folder: PathBuf,
    /// All files below it but hidden ones; empty until they are needed.
    files: OnceCell<Vec<PathBuf>>,
}

impl SourceRoot {
    /// # Errors
    ///
    /// The folder does not exist.
    pub fn new(folder: &Path) -> Result<Self> {
        let folder = dunce::canonicalize(folder).map_err(|error| Failure::path(folder, "found", &error))?;
        Ok(Self {
            folder,
            files: OnceCell::new(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names the file of a finding relative to the folder, if it is in it: the file of that name in the working directory, else the
    /// only file below the folder whose path ends like that.
    pub fn apply(&self, finding: &mut Finding) {
        let name = Path::new(&finding.file);
        let path = dunce::canonicalize(name)
            .ok()
            .filter(|path| path.starts_with(&self.folder));
        if let Some(path) = path.or_else(|| self.only_file(name))
            && let Ok(relative) = path.strip_prefix(&self.folder)
        {
            let parts: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
            finding.file = parts.join("/");
        }
    }

    /// The only file whose path ends with `name`, if it is a relative path without `..`.
    fn only_file(&self, name: &Path) -> Option<PathBuf> {
        let parts = name.components().filter(|part| *part != Component::CurDir);
        let name: PathBuf = parts.collect();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let mut found = self.files().iter().filter(|path| path.ends_with(&name));
        let first = found.next()?.clone();
        found.next().is_none().then_some(first)
    }

    fn files(&self) -> &[PathBuf] {
        let is_visible =
            |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_file = |entry: &DirEntry| entry.file_type().is_file();
        self.files.get_or_init(|| {
            let entries = WalkDir::new(&self.folder)
                .into_iter()
                .filter_entry(is_visible)
                .flatten();
            entries.filter(is_file).map(DirEntry::into_path).collect()
        })
    }
}
