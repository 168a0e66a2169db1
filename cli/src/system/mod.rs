//! Code that depends on the operating system: where layers are registered, how a program is supervised, and its exit code. `unix`
//! and `windows` have the same items.

#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(windows)]
pub use windows::*;
#[cfg(unix)]
pub use {signals::Supervisor, unix::*};

use std::path::PathBuf;

/// Folders of an installation.
pub struct Folders {
    /// The folder of `implicit_layer.d` and `explicit_layer.d`.
    pub manifests: PathBuf,
    /// The folder of the library, for this layer alone.
    pub library: PathBuf,
}

/// For whom a layer is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// For this user.
    This,
    /// For all users of the machine.
    All,
}
