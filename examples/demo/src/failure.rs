//! The errors of the demo that have an exit code of their own.

use std::ffi::CStr;
use std::fmt;

/// A reason why the program cannot start.
#[derive(Debug)]
pub enum Failure {
    /// No Vulkan loader, or no device.
    NoDevice(String),
    /// The device does not support these extensions.
    NoExtension(Vec<&'static CStr>),
}

impl Failure {
    /// 2 for missing extensions, 3 for a missing device; other errors have 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoExtension(_) => 2,
            Self::NoDevice(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice(reason) => write!(
                f,
                "No Vulkan device: {reason}.\n\
                 Install a driver and try again; Debian's mesa-vulkan-drivers contains one that runs on the CPU."
            ),
            Self::NoExtension(names) => {
                let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
                write!(
                    f,
                    "This device does not support {}: neither its driver nor a layer implements shader aborts.\n\
                     Install the vkabort layer and set VKABORT_ENABLE=1, or run `cargo xtask demo` without \
                     `--without-layer`.",
                    names.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for Failure {}
