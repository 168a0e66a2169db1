//! The standard streams of this process: the answers of a worker go to the one that it was started with, the output of its cases
//! to files.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::Path;

#[cfg(unix)]
use unix as os;
#[cfg(windows)]
use windows as os;

pub use os::standard_output;

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{Error, Result, stdout};
    use std::os::fd::{AsFd as _, AsRawFd as _};

    /// The standard output, which stays open when the stream is redirected.
    ///
    /// # Errors
    ///
    /// The process has too many open files.
    pub fn standard_output() -> Result<File> {
        Ok(File::from(stdout().as_fd().try_clone_to_owned()?))
    }

    pub fn redirect(stdout: &File, stderr: &File) -> Result<()> {
        for (file, stream) in [(stdout, libc::STDOUT_FILENO), (stderr, libc::STDERR_FILENO)] {
            // SAFETY: both descriptors are open; `dup2` replaces the stream's atomically.
            if unsafe { libc::dup2(file.as_raw_fd(), stream) } == -1 {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::File;
    use std::io::{Result, stdout};
    use std::os::windows::io::AsHandle as _;

    /// The standard output, which stays open when the stream is redirected.
    ///
    /// # Errors
    ///
    /// The process has too many open files.
    pub fn standard_output() -> Result<File> {
        Ok(File::from(stdout().as_handle().try_clone_to_owned()?))
    }

    pub fn redirect(stdout: &File, stderr: &File) -> Result<()> {
        vkabort_windows::redirect_output(stdout.try_clone()?, stderr.try_clone()?)
    }
}

/// Makes the standard streams write to the files `stdout` and `stderr` in a folder.
///
/// # Errors
///
/// A file cannot be created, or the operating system refuses.
pub fn redirect(folder: &Path) -> Result<()> {
    let create = |name: &str| {
        let path = folder.join(name);
        File::create(&path).with_context(|| format!("cannot write {}", path.display()))
    };
    Ok(os::redirect(&create("stdout")?, &create("stderr")?)?)
}

/// Flushes Rust's and C's buffers.
///
/// # Errors
///
/// The output cannot be written.
pub fn flush() -> Result<()> {
    stdout().flush()?;
    // SAFETY: null flushes every output stream of the C library.
    if unsafe { libc::fflush(std::ptr::null_mut()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
}
