//! The set of extensions that the layer provides.

use crate::loader::ffi::name;
use std::ffi::CStr;

/// A subset of the three extensions.
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
    /// All three extensions.
    pub const ALL: Self = Self {
        abort: true,
        fault: true,
        constant_data: true,
    };

    /// The extensions that `names` contains.
    pub fn of<'a>(names: impl Iterator<Item = &'a CStr>) -> Self {
        let mut set = Self::default();
        for name in names {
            set.abort |= name == name::SHADER_ABORT;
            set.fault |= name == name::DEVICE_FAULT;
            set.constant_data |= name == name::SHADER_CONSTANT_DATA;
        }
        set
    }

    /// Whether the set contains the extension `name`.
    pub fn contains(self, name: &CStr) -> bool {
        self.names().any(|own| own == name)
    }

    /// Names of the extensions in the set, dependencies first.
    pub fn names(self) -> impl Iterator<Item = &'static CStr> {
        [
            (self.constant_data, name::SHADER_CONSTANT_DATA),
            (self.fault, name::DEVICE_FAULT),
            (self.abort, name::SHADER_ABORT),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The intersection of two sets.
    pub fn and(self, other: Self) -> Self {
        Self {
            abort: self.abort && other.abort,
            fault: self.fault && other.fault,
            constant_data: self.constant_data && other.constant_data,
        }
    }

    /// The extensions of this set that are not in `other`.
    pub fn without(self, other: Self) -> Self {
        Self {
            abort: self.abort && !other.abort,
            fault: self.fault && !other.fault,
            constant_data: self.constant_data && !other.constant_data,
        }
    }
}
