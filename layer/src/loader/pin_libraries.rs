//! Keeping libraries in memory. Only for the case that a device could not be drained: a driver whose threads still run
//! must not be unloaded with the instance.

/// Makes every library that is loaded now stay until the process ends.
#[cfg(unix)]
pub fn everything() {
    use std::ffi::{CStr, CString, c_int, c_void};

    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: called by `dl_iterate_phdr` with a valid structure and our own vector.
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
    // SAFETY: the callback takes the vector that is passed along. Opening happens afterwards: not under the linker's lock.
    unsafe {
        libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast());
        for name in &names {
            libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Nothing of the kind is needed where libraries count their threads.
#[cfg(not(unix))]
pub fn everything() {}
