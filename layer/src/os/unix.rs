//! The facilities of Linux and other Unix systems.

use super::Access;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{Error, Result, stderr};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

/// Whether the process has more privileges than the user who started it. See `AT_SECURE` in getauxval(3): setuid and setgid
/// programs, and programs with file capabilities.
pub fn has_elevated_privileges() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: takes no pointer, and the auxiliary vector, which the kernel wrote, does not change.
    return unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: takes no pointer, and changes nothing.
    return unsafe { libc::issetugid() != 0 };
}

/// The processor time that each thread of the process has used so far, by the thread's number. Empty if the system does not tell.
pub fn thread_times() -> HashMap<u64, Duration> {
    let mut times = HashMap::new();
    for thread in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let number = thread.file_name().to_str().and_then(|name| name.parse().ok());
        // Nanoseconds on a processor, then two other numbers (Linux, Documentation/scheduler/sched-stats.rst).
        let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
        if let Some((number, nanoseconds)) = number.zip(nanoseconds) {
            times.insert(number, Duration::from_nanos(nanoseconds));
        }
    }
    times
}

/// Maps zeroed pages at an address. `None` if the address is in use.
pub fn map_at(address: usize, bytes: usize) -> Option<NonNull<u8>> {
    #[cfg(target_os = "linux")]
    const FIXED: c_int = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    const FIXED: c_int = 0;
    let hint = address as *mut c_void;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | FIXED;
    // SAFETY: the new anonymous mapping replaces no other mapping, by the flag or because the address is only a hint.
    let result = unsafe { libc::mmap(hint, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if result == libc::MAP_FAILED {
        return None;
    }
    let base = NonNull::new(result.cast())?;
    // A kernel that lacks the flag treats the address as a hint.
    if result != hint {
        // SAFETY: the pages were just mapped with this size, and nothing has their address yet.
        unsafe { unmap(base, bytes) };
        return None;
    }
    Some(base)
}

/// Unmaps pages.
///
/// # Safety
/// [`map_at`] mapped them with this size, and nothing uses them any more.
pub unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: `map_at` mapped these pages, and nothing uses them any more (the caller's contract).
    unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
}

/// Keeps every loaded library until the process ends.
pub fn pin_libraries() {
    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: `dl_iterate_phdr` passes a valid structure and the vector of its caller.
        unsafe {
            if let (Some(info), Some(names)) = (info.as_ref(), names.cast::<Vec<CString>>().as_mut())
                && !info.dlpi_name.is_null()
                && *info.dlpi_name != 0
            {
                names.push(CStr::from_ptr(info.dlpi_name).to_owned());
            }
        }
        0
    }

    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the callback takes the vector that is passed along, and the names are null-terminated. The libraries are opened
    // afterwards, without the linker's lock.
    unsafe {
        libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast());
        for name in &names {
            libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Standard error without the lock of the standard library.
///
/// # Errors
/// The process has too many open files.
pub fn stderr_file() -> Result<File> {
    Ok(File::from(stderr().as_fd().try_clone_to_owned()?))
}

/// Opens a file, which only this user can read if it is created here. A symbolic link is not followed, and a pipe does not
/// block with `nonblocking`.
///
/// # Errors
/// As [`OpenOptions::open`]; also if `path` is a symbolic link.
pub fn open_private(path: &Path, access: Access, nonblocking: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::ReadWrite => options.read(true).write(true).create(true).truncate(false),
        Access::Append => options.append(true).create(true),
        Access::CreateNew => options.write(true).create_new(true),
    };
    let nonblocking = if nonblocking { libc::O_NONBLOCK } else { 0 };
    options
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | nonblocking);
    options.open(path).map_err(|error| match error.raw_os_error() {
        // The system's text for it is "Too many levels of symbolic links".
        Some(libc::ELOOP) => Error::other(super::SYMBOLIC_LINK),
        _ => error,
    })
}

/// Creates a folder that only this user can read.
///
/// # Errors
/// As [`DirBuilder::create`].
pub fn create_private_folder(path: &Path) -> Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Whether a file belongs to this user.
pub fn is_own(metadata: &Metadata) -> bool {
    // SAFETY: takes no pointer, and changes nothing.
    metadata.uid() == unsafe { libc::geteuid() }
}

/// Whether other users can write to a file or folder.
pub fn is_writable_by_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o022 != 0
}

/// Locks a file, exclusively or shared with others, in place of its present lock. Returns whether it succeeded; on failure
/// the file is not locked at all. A file system without locks counts as success, as if this were the only process.
pub fn lock(file: &File, exclusive: bool) -> bool {
    unlock(file);
    let locked = match exclusive {
        true => file.try_lock(),
        false => file.try_lock_shared(),
    };
    !matches!(locked, Err(TryLockError::WouldBlock))
}

/// Removes the lock of a file.
pub fn unlock(file: &File) {
    let _ = file.unlock();
}
