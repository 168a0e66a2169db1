//! The surface of a window.

use anyhow::{Context, Result};
use ash::{khr, vk};
use libloading::Library;
use std::ffi::{c_char, c_void};
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::rc::Rc;
use winit::raw_window_handle::{
    HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle, XcbDisplayHandle, XcbWindowHandle,
};
use winit::window::Window;

/// A surface and its window.
pub struct Surface {
    /// The surface. Destroyed with the instance, which destroys it first.
    pub raw: vk::SurfaceKHR,
    /// The commands of `VK_KHR_surface`.
    pub functions: khr::surface::Instance,
    /// The surface is valid as long as its window.
    _window: Rc<Window>,
}

/// Display and window in a form that the instance has an extension for.
#[derive(Clone, Copy)]
pub struct Handles {
    display: RawDisplayHandle,
    window: RawWindowHandle,
}

impl Handles {
    /// The handles of a window.
    pub fn of(entry: &ash::Entry, window: &Window) -> Result<Self> {
        let display = window.display_handle()?.as_raw();
        let window = window.window_handle()?.as_raw();
        // SAFETY: the Vulkan loader is loaded.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }?;
        let has_xlib = extensions
            .iter()
            .any(|extension| extension.extension_name_as_c_str() == Ok(khr::xlib_surface::NAME));
        match (display, window) {
            (RawDisplayHandle::Xlib(display), RawWindowHandle::Xlib(window)) if !has_xlib => {
                let display_pointer = display.display.context("the window has no X display")?;
                let mut xcb = XcbWindowHandle::new(
                    NonZeroU32::new(u32::try_from(window.window)?).context("the window has no X id")?,
                );
                xcb.visual_id = NonZeroU32::new(u32::try_from(window.visual_id)?);
                Ok(Self {
                    display: XcbDisplayHandle::new(Some(xcb_connection(display_pointer)?), display.screen).into(),
                    window: xcb.into(),
                })
            }
            (display, window) => Ok(Self { display, window }),
        }
    }

    /// The instance extensions that [`Surface::new`] needs.
    pub fn extensions(self) -> Result<&'static [*const c_char]> {
        Ok(ash_window::enumerate_required_extensions(self.display)?)
    }
}

impl Surface {
    /// Creates the surface of a window on an instance with [`Handles::extensions`].
    pub fn new(entry: &ash::Entry, instance: &ash::Instance, handles: Handles, window: Rc<Window>) -> Result<Self> {
        // SAFETY: the handles are those of `window`, which this structure keeps alive, and `Gpu` destroys the surface before
        // the instance.
        let raw = unsafe { ash_window::create_surface(entry, instance, handles.display, handles.window, None) }
            .context("cannot create a surface for the window")?;
        Ok(Self {
            raw,
            functions: khr::surface::Instance::new(entry, instance),
            _window: window,
        })
    }
}

/// The XCB connection of an Xlib display. winit has Xlib handles, and some drivers (SwiftShader) support XCB only.
fn xcb_connection(display: NonNull<c_void>) -> Result<NonNull<c_void>> {
    // SAFETY: the library's initialisation has no preconditions; winit has loaded it already.
    let library = unsafe { Library::new("libX11-xcb.so.1") }.context("cannot load libX11-xcb")?;
    // SAFETY: Xlib-xcb.h declares the function with this signature, and `display` is the window's open display.
    let connection = unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut c_void) -> *mut c_void>(b"XGetXCBConnection\0")?;
        get(display.as_ptr())
    };
    NonNull::new(connection).context("the X display has no XCB connection")
}
