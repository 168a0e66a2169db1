//! Checks of the source text: import circles and refused identifiers.
//!
//! An import circle is a set of modules of one crate that import each other, directly or by way of others.
//!
//! A module here is a source file. Modules inside a file count as that file, `#[cfg(test)]` modules not at all. An import
//! is any path in the code that leads into another file, whether in a `use` or not; a re-export (`pub use`) is followed
//! to the file that defines the item, and does not count as an import of the file that it is in.

mod circles;
mod identifiers;
mod imports;
mod modules;

use anyhow::Result;
use std::path::Path;

/// The import circles of the crate whose sources are in `folder`: each as the sorted paths of its modules.
///
/// # Errors
///
/// A file cannot be read or is not Rust.
fn circles(folder: &Path) -> Result<Vec<Vec<String>>> {
    let modules = modules::Modules::read(folder)?;
    Ok(circles::find(&modules, &imports::edges(&modules)))
}

#[cfg(test)]
mod levels;
#[cfg(test)]
mod tests;
