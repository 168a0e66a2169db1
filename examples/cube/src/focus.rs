//! The input focus where no window manager gives it: without one, keys reach the window under the pointer, and winit takes them
//! from the focused window only.

use libloading::Library;
use std::ffi::{c_int, c_ulong, c_void};
use winit::raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle};
use winit::window::Window;

/// Focus that no client has set: `None` and `PointerRoot` of X.h.
const UNSET: [c_ulong; 2] = [0, 1];
/// `RevertToPointerRoot` of X.h: the focus once the window closes.
const REVERT: c_int = 1;

/// Gives a window the focus if it is one of X11 and no client has set the focus. The window is visible.
pub fn take(window: &Window) {
    let handles = (window.display_handle(), window.window_handle());
    let (Ok(display), Ok(handle)) = handles else { return };
    let (RawDisplayHandle::Xlib(display), RawWindowHandle::Xlib(handle)) = (display.as_raw(), handle.as_raw()) else {
        return;
    };
    let Some(display) = display.display else { return };
    // SAFETY: the library's initialisation has no preconditions; winit has loaded it already.
    let Ok(library) = (unsafe { Library::new("libX11.so.6") }) else {
        return;
    };
    type GetFocus = unsafe extern "C" fn(*mut c_void, *mut c_ulong, *mut c_int) -> c_int;
    type SetFocus = unsafe extern "C" fn(*mut c_void, c_ulong, c_int, c_ulong) -> c_int;
    // SAFETY: Xlib.h declares the functions with these signatures, `display` is the window's open display, and the program has one
    // thread.
    unsafe {
        let get = library.get::<GetFocus>(b"XGetInputFocus\0");
        let set = library.get::<SetFocus>(b"XSetInputFocus\0");
        if let (Ok(get), Ok(set)) = (get, set) {
            let (mut focus, mut revert) = (0, 0);
            get(display.as_ptr(), &mut focus, &mut revert);
            if UNSET.contains(&focus) {
                // At `CurrentTime`.
                set(display.as_ptr(), handle.window, REVERT, 0);
            }
        }
    }
}
