//! The folder of the unpacked files: private to this user, on a file system that can run programs, and removed at the end.

use anyhow::{Result, bail, ensure};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use vkabort_test_kit::scratch::{self, TempDir};

/// Creates the folder in the first usable place: servers may mount `/tmp` noexec. `keep` disables its removal.
///
/// # Errors
///
/// No place is usable. The message states the reason for each.
pub fn folder(keep: bool) -> Result<TempDir> {
    let mut errors = Vec::new();
    for base in places() {
        match folder_in(&base) {
            Ok(mut folder) => {
                folder.disable_cleanup(keep);
                return Ok(folder);
            }
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    bail!(
        "no usable folder for temporary files (set TMPDIR to one): {}",
        errors.join("; ")
    )
}

fn places() -> Vec<PathBuf> {
    let variable = |name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let mut places: Vec<PathBuf> = variable("TMPDIR").into_iter().chain(fixed).collect();
    places.extend(
        variable("XDG_RUNTIME_DIR")
            .into_iter()
            .chain(std::env::current_dir().ok()),
    );
    // Child processes have other working directories.
    places.retain(|place| place.is_absolute());
    places
}

fn folder_in(base: &Path) -> Result<TempDir> {
    let name = CString::new(base.as_os_str().as_bytes())?;
    // SAFETY: `statvfs` consists of integers, so zero is valid.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is NUL-terminated, and `stat` is writable.
    let is_read = unsafe { libc::statvfs(name.as_ptr(), &raw mut stat) } == 0;
    ensure!(
        !is_read || stat.f_flag & libc::ST_NOEXEC == 0,
        "{} is mounted noexec",
        base.display()
    );
    ensure!(base.is_dir(), "{} is not a folder", base.display());
    scratch::folder_in(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_folder_is_private_and_removed() -> Result<()> {
        let folder = folder(false)?;
        let path = folder.path().to_path_buf();
        fs::write(path.join("file"), "text")?;
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
        Ok(())
    }

    #[test]
    fn the_error_names_a_place_that_is_not_writable() {
        let error = folder_in(Path::new("/proc")).err();
        assert!(error.is_some_and(|error| error.to_string().contains("/proc")));
    }
}
