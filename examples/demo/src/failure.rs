//! The errors of the demo.

use ash::vk;
use std::ffi::CStr;
use std::fmt;

/// A reason why the program stops.
pub enum Failure {
    /// No Vulkan loader, or no device.
    NoDevice(String),
    /// The device does not support these extensions.
    NoExtension(Vec<&'static CStr>),
    /// A Vulkan call failed.
    Call(vk::Result),
    /// The implementation broke a promise of the specification.
    Unexpected(String),
}

impl Failure {
    /// 1 for an error, 2 for missing extensions, 3 for a missing device.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Call(_) | Self::Unexpected(_) => 1,
            Self::NoExtension(_) => 2,
            Self::NoDevice(_) => 3,
        }
    }
}

impl From<vk::Result> for Failure {
    fn from(result: vk::Result) -> Self {
        Self::Call(result)
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
            Self::Call(result) => write!(f, "A Vulkan call failed: {result:?}."),
            Self::Unexpected(event) => write!(f, "{event}."),
        }
    }
}
