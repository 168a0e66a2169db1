//! Callbacks of the sanitizers that are linked into the program. Only built by `cargo xtask sanitize`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering;
use vkabort_tests::case::LEAKS;
use vkabort_tests::harness::DRIVER_SETTINGS;

/// The test driver keeps objects that a device whose drain timed out never destroys, and its caches until the process
/// ends.
const SUPPRESSIONS: &CStr = c"leak:vkabort_driver\n";

/// Whether LeakSanitizer ends. By design, a device leaks that never becomes idle: because its driver hangs, or because no fence
/// can tell; and one that a case keeps to the end of the process.
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> c_int {
    let settings = std::env::var(DRIVER_SETTINGS).unwrap_or_default();
    let never_idle = ["hang=", "refuse=fence"].iter().any(|word| settings.contains(word));
    c_int::from(never_idle || LEAKS.load(Ordering::Relaxed))
}

#[unsafe(no_mangle)]
extern "C" fn __lsan_default_suppressions() -> *const c_char {
    SUPPRESSIONS.as_ptr()
}

/// Keeps the test driver loaded, since a suppression needs the names of its functions. Unloads the layer, which has to leave
/// nothing behind.
#[unsafe(no_mangle)]
extern "C" fn dlclose(library: *mut c_void) -> c_int {
    /// `vk_icdNegotiateLoaderICDInterfaceVersion` is exported by drivers only.
    const DRIVER_EXPORT: &CStr = c"vk_icdNegotiateLoaderICDInterfaceVersion";
    // SAFETY: the caller passes the handle of a library that is loaded, and both names are C strings. The next `dlclose` is
    // the C library's, with this signature.
    unsafe {
        if !libc::dlsym(library, DRIVER_EXPORT.as_ptr()).is_null() {
            return 0;
        }
        let next = libc::dlsym(libc::RTLD_NEXT, c"dlclose".as_ptr());
        if next.is_null() {
            return -1;
        }
        std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void) -> c_int>(next)(library)
    }
}
