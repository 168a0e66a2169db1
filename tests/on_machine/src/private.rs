//! A folder of this program's own: nobody else looks into it, libraries in it can be loaded, and it goes at the end.

use anyhow::{Result, bail};
use std::ffi::CString;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder.
pub struct Private {
    path: PathBuf,
    keep: bool,
}

impl Private {
    /// Makes the folder where files may be written and programs be run: on servers `/tmp` is not always such a place.
    ///
    /// # Errors
    ///
    /// There is no such place. The text says what is wrong with each.
    pub fn new(keep: bool) -> Result<Self> {
        let mut wrong = Vec::new();
        for base in bases() {
            match make(&base) {
                Ok(path) => return Ok(Self { path, keep }),
                Err(reason) => wrong.push(format!("{}: {reason}", base.display())),
            }
        }
        bail!(
            "there is no folder for temporary files (TMPDIR may name one): {}",
            wrong.join("; ")
        )
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if self.keep {
            eprintln!("The unpacked files are in {}", self.path.display());
        } else if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("{} cannot be removed: {error}", self.path.display());
        }
    }
}

fn bases() -> Vec<PathBuf> {
    let named = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let here = std::env::current_dir().ok();
    let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let mut bases: Vec<PathBuf> = named("TMPDIR").into_iter().chain(fixed).collect();
    bases.extend(named("XDG_RUNTIME_DIR").into_iter().chain(here));
    // Paths are handed to processes that stand in other folders.
    bases.retain(|base| base.is_absolute());
    bases
}

fn make(base: &Path) -> Result<PathBuf, String> {
    for attempt in 0..1000 {
        let path = base.join(format!("vkabort-bundle-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) if may_run_programs(&path) => return Ok(path),
            Ok(()) => {
                let _ = fs::remove_dir(&path);
                return Err("programs there may not be run (mounted noexec)".into());
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("no name is free".into())
}

fn may_run_programs(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: a structure of integers, for which zero is valid.
    let mut about: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends in NUL, and the structure is ours. Where it cannot be told, it is tried.
    let told = unsafe { libc::statvfs(name.as_ptr(), &raw mut about) } == 0;
    !told || about.f_flag & libc::ST_NOEXEC == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_folder_is_private_and_goes() -> Result<()> {
        let private = Private::new(false)?;
        let path = private.path().to_path_buf();
        fs::write(path.join("file"), "text")?;
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o700);
        drop(private);
        assert!(!path.exists());
        Ok(())
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let refused = make(Path::new("/proc"));
        assert!(refused.is_err());
    }
}
