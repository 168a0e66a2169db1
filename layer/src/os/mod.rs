//! Facilities of the operating system that the standard library lacks. Each system's file has the same items.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// Why a file is not opened.
const SYMBOLIC_LINK: &str = "it is a symbolic link, which is not followed; name the file itself";

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads a file that exists.
    Read,
    /// Reads and writes; creates the file if it does not exist.
    ReadWrite,
    /// Appends; creates the file if it does not exist.
    Append,
    /// Writes a file that does not exist yet.
    CreateNew,
}
