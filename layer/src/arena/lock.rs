//! Advisory locks, which go with the file and with the process. Nobody waits for one here.

pub use of_files::{alone, free, shared};

#[cfg(unix)]
mod of_files {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    fn flock(file: &File, operation: i32) -> bool {
        // SAFETY: the descriptor is open for as long as the file lives.
        let done = unsafe { libc::flock(file.as_raw_fd(), operation) == 0 };
        // Where files cannot be locked, every process takes itself for the only one.
        done || std::io::Error::last_os_error().kind() != std::io::ErrorKind::WouldBlock
    }

    /// Locks the file if nobody else has.
    pub fn alone(file: &File) -> bool {
        flock(file, libc::LOCK_EX | libc::LOCK_NB)
    }

    /// Locks the file with others, if nobody has it alone.
    pub fn shared(file: &File) -> bool {
        flock(file, libc::LOCK_SH | libc::LOCK_NB)
    }

    /// Lets go.
    pub fn free(file: &File) {
        flock(file, libc::LOCK_UN);
    }
}

/// Without such locks every process takes itself for the only one.
#[cfg(not(unix))]
mod of_files {
    use std::fs::File;

    pub fn alone(_: &File) -> bool {
        true
    }

    pub fn shared(_: &File) -> bool {
        true
    }

    pub fn free(_: &File) {}
}
