//! The standard streams of the process.

use std::fs::File;
use std::io::{Error, Result};
use std::os::windows::io::IntoRawHandle as _;
use windows_sys::Win32::System::Console::{STD_ERROR_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle};

/// Makes standard output and standard error write to these files. The previous files stay open, since another thread may be
/// writing.
///
/// # Errors
///
/// Windows refuses.
pub fn redirect_output(stdout: File, stderr: File) -> Result<()> {
    for (file, stream) in [(stdout, STD_OUTPUT_HANDLE), (stderr, STD_ERROR_HANDLE)] {
        // SAFETY: the handle is open, and nothing closes it.
        if unsafe { SetStdHandle(stream, file.into_raw_handle()) } == 0 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}
