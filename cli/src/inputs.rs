//! The modules that a command line names: files, folders, `-`. A bad one does not keep the others from being read.

use crate::failure::{Failure, Result};
use crate::io;
use crate::module::Module;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walkdir::WalkDir;

/// Calls `each` with every module that `paths` name. Of folders these are all files below them that end in `.spv` or start
/// like a SPIR-V module, in alphabetical order.
///
/// Reports the inputs that cannot be read or that `each` refuses, and continues. Returns the exit code of the first of these failures.
pub fn for_each_module(paths: &[PathBuf], mut each: impl FnMut(Module) -> Result<()>) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let mut failed = |failure: Failure| {
        io::note(&format!("error: {failure}"));
        if code == ExitCode::SUCCESS {
            code = failure.exit_code();
        }
    };
    for path in paths {
        if !path.is_dir() {
            Module::read(path).and_then(&mut each).unwrap_or_else(&mut failed);
            continue;
        }
        let mut is_empty = true;
        for file in modules_below(path) {
            is_empty = false;
            let read = file.and_then(|file| Module::read(&file));
            read.and_then(&mut each).unwrap_or_else(&mut failed);
        }
        if is_empty {
            failed(Failure::input(format!(
                "{}: no SPIR-V module in this folder",
                io::input_name(path)
            )));
        }
    }
    code
}

fn modules_below(folder: &Path) -> impl Iterator<Item = Result<PathBuf>> {
    let entries = WalkDir::new(folder).follow_links(true).sort_by_file_name();
    entries.into_iter().filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_file() && is_module(entry.path()) => Some(Ok(entry.into_path())),
        Ok(_) => None,
        Err(error) => {
            let path = error.path().unwrap_or(folder).to_owned();
            let error = error
                .into_io_error()
                .unwrap_or_else(|| std::io::Error::other("symbolic links form a circle"));
            Some(Err(Failure::path(&path, "read", &error)))
        }
    })
}

/// Whether a file is a module by its name or its first bytes.
fn is_module(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.extension().is_some_and(|extension| extension == "spv")
        || File::open(path)
            .and_then(|mut file| file.read_exact(&mut magic))
            .is_ok()
            && Module::has_magic(&magic)
}
