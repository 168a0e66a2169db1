//! Files and folders that only their user can read. On Unix they are created with the modes 0600 and 0700, and a symbolic
//! link in place of a file is not followed: it may lead to a file that the user did not mean.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{Error, Result};
use std::path::Path;

/// Opens a file.
///
/// # Errors
/// As [`OpenOptions::open`]; also if `path` is a symbolic link.
pub fn open(path: &Path, options: &mut OpenOptions) -> Result<File> {
    unix::set_flags(options, 0);
    options.open(path).map_err(unix::explain)
}

/// Opens a file that has to be a regular one of this user. Does not block on others.
///
/// # Errors
/// As [`open`]; also if the file is not regular or belongs to another user.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> Result<File> {
    unix::set_flags(options, unix::NONBLOCK);
    let file = options.open(path).map_err(unix::explain)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    check_owner(&metadata)?;
    Ok(file)
}

/// Creates a folder and its parents, those that do not exist yet.
///
/// # Errors
/// As [`DirBuilder::create`].
pub fn create_folders(path: &Path) -> Result<()> {
    unix::folder_builder().recursive(true).create(path)
}

/// Creates a folder that does not exist yet.
///
/// # Errors
/// As [`DirBuilder::create`].
pub fn create_folder(path: &Path) -> Result<()> {
    unix::folder_builder().create(path)
}

/// Checks that a folder belongs to this user, and that no other can write to it.
///
/// # Errors
/// The folder does not exist, or it fails the check.
pub fn check_folder(path: &Path) -> Result<()> {
    let metadata = std::fs::metadata(path)?;
    check_owner(&metadata)?;
    match unix::is_writable_by_others(&metadata) {
        true => Err(Error::other("other users can write to it")),
        false => Ok(()),
    }
}

fn check_owner(metadata: &Metadata) -> Result<()> {
    match unix::is_own(metadata) {
        true => Ok(()),
        false => Err(Error::other("it belongs to another user")),
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};

    pub const NONBLOCK: i32 = libc::O_NONBLOCK;

    pub fn set_flags(options: &mut OpenOptions, flags: i32) {
        options
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | flags);
    }

    pub fn folder_builder() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }

    pub fn is_own(metadata: &Metadata) -> bool {
        // SAFETY: returns a number.
        metadata.uid() == unsafe { libc::geteuid() }
    }

    pub fn is_writable_by_others(metadata: &Metadata) -> bool {
        metadata.mode() & 0o022 != 0
    }

    /// The error of a symbolic link says that there are too many of them.
    pub fn explain(error: Error) -> Error {
        match error.raw_os_error() {
            Some(libc::ELOOP) => Error::other("it is a symbolic link, which is not followed; name the file itself"),
            _ => error,
        }
    }
}

/// Elsewhere a user's folders are private, and links need privileges.
#[cfg(not(unix))]
mod unix {
    use super::*;

    pub const NONBLOCK: i32 = 0;

    pub fn set_flags(_: &mut OpenOptions, _: i32) {}

    pub fn folder_builder() -> DirBuilder {
        DirBuilder::new()
    }

    pub fn is_own(_: &Metadata) -> bool {
        true
    }

    pub fn is_writable_by_others(_: &Metadata) -> bool {
        false
    }

    pub fn explain(error: Error) -> Error {
        error
    }
}
