//! Plain data: what the layer remembers of every Vulkan object. The functions that change it stand in `intercept`.

mod binaries;
mod device;
mod instance;
mod module;
mod names;
mod queue;
mod rewrites;
pub mod submit_counters;

pub use binaries::Binaries;
pub use device::{AbortState, Device};
pub use instance::{Instance, Messenger, PhysicalDevice};
pub use module::{Module, Modules};
pub use names::Names;
pub use queue::{FencePool, Place, Queue, Work, create_fence};
pub use rewrites::Rewrites;

pub use crate::report::fault_queue::{FaultQueue, Outcome};

use crate::loader::ffi::name;
use std::ffi::CStr;

/// The three extensions, each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// `VK_KHR_shader_abort`.
    pub abort: bool,
    /// `VK_KHR_device_fault`.
    pub fault: bool,
    /// `VK_KHR_shader_constant_data`.
    pub constant_data: bool,
}

impl Extensions {
    /// All three.
    pub const ALL: Self = Self {
        abort: true,
        fault: true,
        constant_data: true,
    };

    /// Those of the three that `names` contains.
    pub fn of<'a>(names: impl Iterator<Item = &'a CStr>) -> Self {
        let mut found = Self::default();
        for name in names {
            found.abort |= name == name::SHADER_ABORT;
            found.fault |= name == name::DEVICE_FAULT;
            found.constant_data |= name == name::SHADER_CONSTANT_DATA;
        }
        found
    }

    /// Whether `name` is one of those that are set.
    pub fn contains(self, name: &CStr) -> bool {
        self.names().any(|own| own == name)
    }

    /// Names of those that are set.
    pub fn names(self) -> impl Iterator<Item = &'static CStr> {
        [
            (self.constant_data, name::SHADER_CONSTANT_DATA),
            (self.fault, name::DEVICE_FAULT),
            (self.abort, name::SHADER_ABORT),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
    }

    /// Whether none is set.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Those that are set in both.
    pub fn and(self, other: Self) -> Self {
        Self {
            abort: self.abort && other.abort,
            fault: self.fault && other.fault,
            constant_data: self.constant_data && other.constant_data,
        }
    }

    /// Those that are set here and not there.
    pub fn without(self, other: Self) -> Self {
        Self {
            abort: self.abort && !other.abort,
            fault: self.fault && !other.fault,
            constant_data: self.constant_data && !other.constant_data,
        }
    }
}
