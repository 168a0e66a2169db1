//! Starts the processes of cases.

use crate::Case;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Starts the processes of cases: on a driver, with layers, in an environment.
pub trait Launch: Sync {
    /// The process of a case, to which the runner adds [`RUN`](crate::in_process::RUN) and the case's name, or
    /// [`SERVE`](crate::SERVE). `scratch` is an empty folder for its home.
    ///
    /// # Errors
    ///
    /// A file that the process needs is missing.
    fn command(&self, case: &Case, scratch: &Path) -> Result<Command>;

    /// Name of the driver and the layers: cases share processes of equal keys. `None` if they share none.
    fn key(&self) -> Option<String> {
        None
    }

    /// Folder for scratch folders.
    fn folder(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// File to which the command makes the layer log. By default it logs to standard error.
    fn log_file(&self, _case: &Case, _scratch: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a process must exit with success after its verdict. Otherwise a verdict counts however its process ends: some
    /// drivers crash when a process exits.
    fn must_exit(&self) -> bool {
        true
    }

    /// Whether a process has ended by [`std::process::abort`].
    fn has_aborted(&self, status: ExitStatus) -> bool {
        #[cfg(unix)]
        return std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGABRT);
        #[cfg(not(unix))]
        return status.code().is_none();
    }

    /// Tells from its status whether a process had ended already when its system killed it: its verdict counts, and only its exit
    /// code is lost.
    fn lost_exit_code(&self) -> fn(ExitStatus) -> bool {
        |_| false
    }

    /// Compares a log with the expected report of this name.
    ///
    /// # Errors
    ///
    /// The log differs, or there is no such report.
    fn check_report(&self, name: &str, _log: &str) -> Result<()> {
        bail!("there is no expected report {name}")
    }
}
