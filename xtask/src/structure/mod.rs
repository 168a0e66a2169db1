//! Checks of the source text: import circles and refused identifiers; and of the documents about it.
//!
//! An import circle is a set of modules of one crate that import each other, directly or by way of others.
//!
//! A module here is a source file. Modules inside a file count as that file; `#[cfg(test)]` items, and files whose names end
//! with `tests`, do not count. An import is any path in the code that leads into another file, whether in a `use` or not; a
//! re-export (`pub use`) is followed to the file that defines the item, and does not count as an import of the file that it
//! is in.

mod circles;
mod identifiers;
mod imports;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below `folder`, without those that Cargo builds, and their tokens.
fn rust_files(folder: &Path) -> Result<Vec<(PathBuf, TokenStream)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let tokens = fs::read_to_string(&path)?.parse();
            files.push((
                path.clone(),
                tokens.map_err(|error| anyhow!("{}: {error}", path.display()))?,
            ));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod documents;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod tests;
