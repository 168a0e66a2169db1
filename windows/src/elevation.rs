//! The privileges of the process.

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::Security::{
    GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL, TOKEN_QUERY,
    TokenIntegrityLevel,
};
use windows_sys::Win32::System::SystemServices::SECURITY_MANDATORY_MEDIUM_RID;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Bytes for a label and its SID, of which the longest has 68 (`SECURITY_MAX_SID_SIZE`).
const LABEL_BYTES: usize = size_of::<TOKEN_MANDATORY_LABEL>() + 72;

/// Whether the process is elevated, by the rule of the Vulkan loader: its integrity level is above medium. In Wine every process
/// is, so tests in Wine are built with the variable `VKABORT_BUILD_FOR_WINE`.
pub fn is_elevated() -> bool {
    // A process that may not query itself is restricted, not elevated.
    option_env!("VKABORT_BUILD_FOR_WINE").is_none()
        && integrity_level().is_some_and(|level| level > SECURITY_MANDATORY_MEDIUM_RID as u32)
}

fn integrity_level() -> Option<u32> {
    let mut label = [0u64; LABEL_BYTES.div_ceil(8)];
    let size = size_of_val(&label) as u32;
    let mut token: HANDLE = std::ptr::null_mut();
    let mut written = 0;
    // SAFETY: the calls write to local variables of the sizes that are passed; the SID in the label is valid after success
    // and has at least one sub-authority, the integrity level.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) == 0 {
            return None;
        }
        let label: *mut TOKEN_MANDATORY_LABEL = label.as_mut_ptr().cast();
        let found = GetTokenInformation(token, TokenIntegrityLevel, label.cast(), size, &mut written);
        CloseHandle(token);
        if found == 0 {
            return None;
        }
        let sid = (*label).Label.Sid;
        let last = u32::from((*GetSidSubAuthorityCount(sid)).saturating_sub(1));
        Some(*GetSidSubAuthority(sid, last))
    }
}
