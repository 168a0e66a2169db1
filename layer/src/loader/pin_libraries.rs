//! Keeps libraries loaded, for a device that could not be drained: a driver whose threads still run must not be unloaded with
//! its instance.

/// Keeps every loaded library until the process ends.
#[cfg(unix)]
pub fn everything() {
    use std::ffi::{CStr, CString, c_int, c_void};

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
    // SAFETY: the callback takes the vector that is passed along. Opening happens afterwards: not under the linker's lock.
    unsafe {
        libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast());
        for name in &names {
            libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Not needed on other systems: the loader keeps a library while a thread runs its code.
#[cfg(not(unix))]
pub fn everything() {}
