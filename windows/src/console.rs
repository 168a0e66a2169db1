//! The keys that interrupt the programs of a console.

use crate::check;
use std::io::Result;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};

/// Presses Ctrl-C for all programs of the console of this process, itself included.
///
/// # Errors
///
/// The process has no console.
pub fn interrupt() -> Result<()> {
    // SAFETY: the call reads no memory. Group 0 is every process of the console.
    check(unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) })
}

/// Keeps Ctrl-C and Ctrl-Break from ending this process. Both also reach the other processes of the console, which inherit
/// no handler.
///
/// # Errors
///
/// Windows refuses the handler.
pub fn ignore_interrupts() -> Result<()> {
    unsafe extern "system" fn handle(event: u32) -> i32 {
        (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT).into()
    }
    // SAFETY: the handler reads no memory.
    check(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })
}
