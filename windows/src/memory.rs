//! The memory of the process.

use std::io::{Error, Result};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Bytes that the process has in memory or in the page file, and does not share with others.
///
/// # Errors
///
/// Windows refuses.
pub fn private_bytes() -> Result<usize> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = size_of_val(&counters) as u32;
    // SAFETY: the call writes at most `size` bytes to the structure.
    match unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, size) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(counters.PagefileUsage),
    }
}
