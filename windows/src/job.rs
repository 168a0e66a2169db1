//! Jobs: a process together with those that it starts.

use std::io::{Error, Result};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::process::Child;
use std::ptr::null;
use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};

/// A job whose processes end when it is dropped, also if this process is killed.
pub struct Job(OwnedHandle);

impl Job {
    /// A job without processes.
    ///
    /// # Errors
    ///
    /// Windows refuses to create one.
    pub fn new() -> Result<Self> {
        // SAFETY: the call reads no memory; the handle that it returns is this function's own.
        let job = unsafe {
            let job = CreateJobObjectW(null(), null());
            if job.is_null() {
                return Err(Error::last_os_error());
            }
            Self(OwnedHandle::from_raw_handle(job))
        };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the structure has the type and size that are passed.
        check(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            )
        })?;
        Ok(job)
    }

    /// Adds a process. Those that it starts afterwards belong to the job too.
    ///
    /// # Errors
    ///
    /// The process has ended, or belongs to a job that does not allow it.
    pub fn add(&self, child: &Child) -> Result<()> {
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) })
    }

    /// Ends all processes of the job with an exit code.
    ///
    /// # Errors
    ///
    /// Windows refuses.
    pub fn end(&self, code: u32) -> Result<()> {
        // SAFETY: the handle is open.
        check(unsafe { TerminateJobObject(self.0.as_raw_handle(), code) })
    }
}

/// Keeps Ctrl-C and Ctrl-Break from ending this process. Both also reach the other processes of the console, which inherit
/// no handler.
///
/// # Errors
///
/// Windows refuses the handler.
pub fn ignore_interrupts() -> Result<()> {
    unsafe extern "system" fn handle(event: u32) -> i32 {
        use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT};
        (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT).into()
    }
    // SAFETY: the handler reads no memory.
    check(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })
}

fn check(succeeded: i32) -> Result<()> {
    match succeeded {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}
