//! Files and folders that only their user can read. A symbolic link in place of a file is not followed: it may lead to a file
//! that the user did not mean.

pub use crate::os::Access;

use crate::os;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Opens a file.
///
/// # Errors
/// As [`File::open`]; also if `path` is a symbolic link.
pub fn open(path: &Path, access: Access) -> Result<File> {
    os::open_private(path, access, false)
}

/// Opens a file that has to be a regular one of this user. Does not block on others.
///
/// # Errors
/// As [`open`]; also if the file is not regular or belongs to another user.
pub fn open_own(path: &Path, access: Access) -> Result<File> {
    let file = os::open_private(path, access, true)?;
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
/// As [`std::fs::create_dir_all`].
pub fn create_folders(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    match create_folder(path) {
        // Another process may have created it meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_folders(path.parent().ok_or(error)?)?;
            create_folders(path)
        }
        result => result,
    }
}

/// Creates a folder that does not exist yet.
///
/// # Errors
/// As [`std::fs::create_dir`].
pub fn create_folder(path: &Path) -> Result<()> {
    os::create_private_folder(path)
}

/// Checks that a folder belongs to this user, and that no other can write to it.
///
/// # Errors
/// The folder does not exist, or it fails the check.
pub fn check_folder(path: &Path) -> Result<()> {
    let metadata = std::fs::metadata(path)?;
    check_owner(&metadata)?;
    match os::is_writable_by_others(&metadata) {
        true => Err(Error::other("other users can write to it")),
        false => Ok(()),
    }
}

fn check_owner(metadata: &Metadata) -> Result<()> {
    match os::is_own(metadata) {
        true => Ok(()),
        false => Err(Error::other("it belongs to another user")),
    }
}
