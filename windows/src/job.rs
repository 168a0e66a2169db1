//! Jobs: a process together with those that it starts.

use crate::check;
use std::io::{Error, Result};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::process::Child;
use std::ptr::null;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
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
        job.set_limits(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        Ok(job)
    }

    /// Lets the processes that still run outlive the job.
    ///
    /// # Errors
    ///
    /// Windows refuses.
    pub fn release(self) -> Result<()> {
        self.set_limits(0)
    }

    fn set_limits(&self, flags: u32) -> Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        // SAFETY: the structure has the type and size that are passed.
        check(unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            )
        })
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
}
