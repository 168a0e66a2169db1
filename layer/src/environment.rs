//! The process's environment, and whether it can be trusted.
//!
//! In secure execution a process has more privileges than the user who started it, as a setuid program has. Its environment,
//! home and working folder are that user's, so the layer reads none of them and writes no file: only the application
//! configures it. The Vulkan loader enables implicit layers in such processes too.

use std::ffi::OsString;
use std::sync::LazyLock;

static IS_SECURE: LazyLock<bool> = LazyLock::new(detect);

/// Whether the process is in secure execution.
pub fn is_secure_execution() -> bool {
    *IS_SECURE
}

/// An environment variable. `None` in secure execution, and if the variable is not set or empty.
pub fn variable(name: &str) -> Option<OsString> {
    let value = (!is_secure_execution()).then(|| std::env::var_os(name)).flatten();
    value.filter(|value| !value.is_empty())
}

/// All environment variables. None in secure execution.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    let variables = (!is_secure_execution()).then(std::env::vars_os);
    variables.into_iter().flatten()
}

/// See `AT_SECURE` in getauxval(3): setuid and setgid programs, and programs with file capabilities.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn detect() -> bool {
    // SAFETY: reads the auxiliary vector of the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn detect() -> bool {
    // SAFETY: returns a number.
    unsafe { libc::issetugid() != 0 }
}

/// An elevated process, as for the Vulkan loader: an integrity level above medium.
#[cfg(windows)]
fn detect() -> bool {
    use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
    use windows_sys::Win32::Security::{
        GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL, TOKEN_QUERY,
        TokenIntegrityLevel,
    };
    use windows_sys::Win32::System::SystemServices::SECURITY_MANDATORY_MEDIUM_RID;
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

    /// Bytes for the label and its SID, of which the longest has 68 (`SECURITY_MAX_SID_SIZE`).
    const BYTES: usize = size_of::<TOKEN_MANDATORY_LABEL>() + 72;
    let mut label = [0u64; BYTES.div_ceil(8)];
    let mut token: HANDLE = std::ptr::null_mut();
    let mut written = 0;
    // SAFETY: the calls write to local variables of the sizes that are passed; the SID in the label is valid after success
    // and has at least one sub-authority, the integrity level.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) == 0 {
            // A process that may not query itself is restricted, not elevated.
            return false;
        }
        let size = size_of_val(&label) as u32;
        let found = GetTokenInformation(
            token,
            TokenIntegrityLevel,
            label.as_mut_ptr().cast(),
            size,
            &mut written,
        );
        CloseHandle(token);
        if found == 0 {
            return false;
        }
        let sid = (*label.as_ptr().cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        let last = u32::from((*GetSidSubAuthorityCount(sid)).saturating_sub(1));
        *GetSidSubAuthority(sid, last) > SECURITY_MANDATORY_MEDIUM_RID as u32
    }
}

#[cfg(not(any(unix, windows)))]
fn detect() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_tests_are_not_in_secure_execution() {
        assert!(!is_secure_execution());
        assert!(variable("PATH").is_some());
    }

    /// Product code that reads the environment by another way would do so in secure execution too.
    #[test]
    fn no_other_file_reads_the_environment() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs")
                    && !path.ends_with("environment.rs")
                {
                    let text = fs::read_to_string(&path).expect("a source file");
                    let reads = ["env::var", "env::vars", "getenv", "home_dir"];
                    assert!(!reads.iter().any(|call| text.contains(call)), "{}", path.display());
                    files += 1;
                }
            }
        }
        assert!(files > 50, "{files} files");
    }
}
