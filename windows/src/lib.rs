//! Safe wrappers of the parts of Windows that the layer, the command and the tests need. Empty on other systems.
#![cfg(windows)]

pub mod console;
mod elevation;
pub mod job;
mod memory;
pub mod registry;
mod streams;

pub use elevation::is_elevated;
pub use memory::private_bytes;
pub use streams::redirect_output;

use std::io::{Error, Result};
use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;

/// The text of a path for Windows' functions: UTF-16 with a final zero.
pub fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// The result of a function of Windows that returns 0 on failure.
fn check(succeeded: i32) -> Result<()> {
    match succeeded {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}
