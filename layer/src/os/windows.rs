//! The facilities of Windows.

use super::Access;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{Error, Result, stderr};
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, FromRawHandle as _};
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;
pub use vkabort_windows::is_elevated as has_elevated_privileges;
use vkabort_windows::wide;
use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, GENERIC_READ, GENERIC_WRITE, GetLastError, HMODULE, INVALID_HANDLE_VALUE,
    LocalFree,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_APPEND_DATA, FILE_ATTRIBUTE_NORMAL, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY,
    LockFileEx, OPEN_ALWAYS, OPEN_EXISTING, SYNCHRONIZE, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::ProcessStatus::K32EnumProcessModules;
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Grants full access to the owner, the system and administrators only. The parent folder's entries do not apply (`P`); the
/// contents of a folder inherit these (`OICI`).
const PRIVATE: &str = "D:P(A;OICI;FA;;;OW)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

/// The processor time that each thread of the process has used so far. Empty: not known here.
pub fn thread_times() -> HashMap<u64, Duration> {
    HashMap::new()
}

/// Maps zeroed pages at an address. `None` if the address is in use.
pub fn map_at(address: usize, bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: the call reserves pages that are free, and fails otherwise.
    let base = unsafe { VirtualAlloc(address as *const _, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    NonNull::new(base.cast())
}

/// Unmaps pages.
///
/// # Safety
/// [`map_at`] mapped them with this size, and nothing uses them any more.
pub unsafe fn unmap(base: NonNull<u8>, _bytes: usize) {
    // SAFETY: `map_at` mapped these pages, and nothing uses them any more (the caller's contract). The size has to be 0 for all
    // pages of the mapping.
    unsafe { VirtualFree(base.as_ptr().cast(), 0, MEM_RELEASE) };
}

/// Keeps every loaded library until the process ends.
pub fn pin_libraries() {
    let mut modules: Vec<HMODULE> = vec![null_mut(); 64];
    loop {
        let bytes = size_of_val(modules.as_slice()) as u32;
        let mut needed = 0;
        // SAFETY: the call writes at most `bytes` bytes to the array.
        let listed = unsafe { K32EnumProcessModules(GetCurrentProcess(), modules.as_mut_ptr(), bytes, &mut needed) };
        let count = needed as usize / size_of::<HMODULE>();
        if listed == 0 {
            return;
        }
        if count <= modules.len() {
            modules.truncate(count);
            break;
        }
        modules.resize(count + 16, null_mut());
    }
    for module in modules {
        let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
        let mut pinned: HMODULE = null_mut();
        // SAFETY: with these flags the name is an address in the module, and its handle is its first address. The call
        // fails if the module has been unloaded.
        unsafe { GetModuleHandleExW(flags, module.cast(), &mut pinned) };
    }
}

/// Standard error without the lock of the standard library.
///
/// # Errors
/// The process has no standard error, or too many handles.
pub fn stderr_file() -> Result<File> {
    Ok(File::from(stderr().as_handle().try_clone_to_owned()?))
}

/// A security descriptor that Windows allocated.
struct Descriptor(PSECURITY_DESCRIPTOR);

impl Descriptor {
    fn private() -> Result<Self> {
        let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
        // SAFETY: the text ends with a zero, and the result is written to a local variable.
        let converted = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                wide(Path::new(PRIVATE)).as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                null_mut(),
            )
        };
        match converted {
            0 => Err(Error::last_os_error()),
            _ => Ok(Self(descriptor)),
        }
    }

    fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: self.0,
            bInheritHandle: 0,
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: Windows allocated the descriptor, and nothing uses it afterwards.
        unsafe { LocalFree(self.0) };
    }
}

/// Opens a file, which only this user can read if it is created here. A symbolic link is not followed.
///
/// # Errors
/// As [`File::open`]; also if `path` is a symbolic link.
pub fn open_private(path: &Path, access: Access, _nonblocking: bool) -> Result<File> {
    let descriptor = Descriptor::private()?;
    let (rights, disposition) = match access {
        Access::Read => (GENERIC_READ, OPEN_EXISTING),
        Access::ReadWrite => (GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS),
        Access::Append => (FILE_APPEND_DATA | SYNCHRONIZE, OPEN_ALWAYS),
        Access::CreateNew => (GENERIC_WRITE, CREATE_NEW),
    };
    // SAFETY: the path ends with a zero, the attributes live until the call returns, and the handle that it returns is this
    // function's own.
    let file = unsafe {
        let handle = CreateFileW(
            wide(path).as_ptr(),
            rights,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            &descriptor.attributes(),
            disposition,
            FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT,
            null_mut(),
        );
        if handle == INVALID_HANDLE_VALUE {
            return Err(Error::last_os_error());
        }
        File::from_raw_handle(handle)
    };
    match file.metadata()?.is_symlink() {
        true => Err(Error::other(super::SYMBOLIC_LINK)),
        false => Ok(file),
    }
}

/// Creates a folder that only this user can read.
///
/// # Errors
/// As [`std::fs::create_dir`].
pub fn create_private_folder(path: &Path) -> Result<()> {
    let descriptor = Descriptor::private()?;
    // SAFETY: the path ends with a zero, and the attributes live until the call returns.
    match unsafe { CreateDirectoryW(wide(path).as_ptr(), &descriptor.attributes()) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Whether a file belongs to this user. Not checked: the folders of a user's own data are private, and links need privileges.
pub fn is_own(_: &Metadata) -> bool {
    true
}

/// Whether other users can write to a file or folder. Not checked, as in [`is_own`].
pub fn is_writable_by_others(_: &Metadata) -> bool {
    false
}

/// The byte range that represents a file's lock. Windows denies reads and writes of a locked range through every other handle,
/// so it is one byte far beyond the end of any file.
fn lock_byte() -> OVERLAPPED {
    let mut range = OVERLAPPED::default();
    range.Anonymous.Anonymous.OffsetHigh = i32::MAX as u32;
    range
}

/// Locks a file, exclusively or shared with others, in place of its present lock. Returns whether it succeeded; on failure
/// the file is not locked at all. A file system without locks counts as success, as if this were the only process.
pub fn lock(file: &File, exclusive: bool) -> bool {
    unlock(file);
    let exclusive = if exclusive { LOCKFILE_EXCLUSIVE_LOCK } else { 0 };
    // SAFETY: the handle is open, and not for asynchronous operations, so the structure is not used after the call.
    unsafe {
        LockFileEx(
            file.as_raw_handle(),
            LOCKFILE_FAIL_IMMEDIATELY | exclusive,
            0,
            1,
            0,
            &mut lock_byte(),
        ) != 0
            || !matches!(GetLastError(), ERROR_LOCK_VIOLATION | ERROR_IO_PENDING)
    }
}

/// Removes the lock of a file.
pub fn unlock(file: &File) {
    // SAFETY: the handle is open, and not for asynchronous operations, so the structure is not used after the call.
    unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &mut lock_byte()) };
}
