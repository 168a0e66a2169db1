//! The end of a process that does not destroy its devices. A thread that will never run again may hold a lock, so nothing here
//! waits for one.

use super::closing_text;
use super::prints::last_prints_text;
use crate::device::registry;

/// Concludes the reports of the devices that still live.
fn conclude_devices() {
    // Runs outside of any call that could report a failure.
    let _ = std::panic::catch_unwind(|| {
        for device in registry::DEVICES.try_values().iter().flatten() {
            device.instance.log.try_write(&last_prints_text(device));
            device.instance.log.try_write(&closing_text(device));
            device.log_missed_workgroups();
            device.instance.module_files.log_unused(&device.instance.log);
        }
    });
}

#[cfg(target_os = "linux")]
mod linux {
    extern "C" fn conclude() {
        super::conclude_devices();
    }

    /// The dynamic linker calls it when the process exits, and when the library is unloaded.
    #[used]
    // SAFETY: `.fini_array` holds pointers to functions of this type (System V ABI, "Initialization and Termination Functions").
    #[unsafe(link_section = ".fini_array")]
    static AT_EXIT: extern "C" fn() = conclude;
}

#[cfg(windows)]
mod windows {
    use std::ffi::c_void;
    use windows_sys::Win32::System::SystemServices::DLL_PROCESS_DETACH;

    /// At the exit of a process, its other threads have been terminated. `ExitProcess` acquires the lock of the heap before
    /// that, so memory can still be allocated.
    extern "system" fn conclude(_library: *mut c_void, reason: u32, _reserved: *mut c_void) {
        if reason == DLL_PROCESS_DETACH {
            super::conclude_devices();
        }
    }

    /// Windows calls it when a thread or the process exits, and when the library is unloaded.
    #[used]
    // SAFETY: sections of this name, in alphabetical order between `.CRT$XLA` and `.CRT$XLZ`, hold pointers to functions of this
    // type ("PE Format", "The .tls Section", TLS callback functions).
    #[unsafe(link_section = ".CRT$XLY")]
    static AT_EXIT: extern "system" fn(*mut c_void, u32, *mut c_void) = conclude;
}
