//! Files and folders that only their user can read. A symbolic link in place of a file is not followed: it may lead to a file
//! that the user did not mean.

pub use crate::os::{Access, create_private_folder as create_folder};

use crate::os;
use std::fs::{File, Metadata};
use std::io::{Error, Result};
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

/// Creates a folder, and those of its parents that do not exist yet.
///
/// # Errors
/// As [`std::fs::create_dir_all`].
pub fn create_folders(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    // The parent of a relative path's first folder is empty.
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_folders(parent)?;
    }
    match create_folder(path) {
        // Another process may have created it meanwhile.
        Err(_) if path.is_dir() => Ok(()),
        result => result,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_folders_are_created_with_their_parents() {
        let top = std::env::temp_dir().join(format!("vkabort-folders-{}", std::process::id()));
        let folder = top.join("a/b");
        assert!(create_folders(&folder).is_ok() && folder.is_dir());
        assert!(create_folders(&folder).is_ok(), "it exists");
        std::fs::write(top.join("file"), "").expect("a file");
        assert!(create_folders(&top.join("file")).is_err());
        assert!(create_folders(&top.join("file/c")).is_err());
        std::fs::remove_dir_all(&top).expect("removed");
    }

    #[test]
    fn a_relative_folder_is_created() {
        let folder = Path::new("vkabort-relative-folder");
        assert!(create_folders(&folder.join("a")).is_ok());
        std::fs::remove_dir_all(folder).expect("it was created");
    }

    /// A new folder in `/proc` fails as if `/proc` did not exist.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_cannot_be_created_in_an_existing_one_is_an_error() {
        let error = create_folders(Path::new("/proc/vkabort/a")).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}
