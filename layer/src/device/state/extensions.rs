//! The set of extensions that the layer provides.

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
            set.abort |= name == vk_ext::SHADER_ABORT_NAME;
            set.fault |= name == vk_ext::DEVICE_FAULT_NAME;
            set.constant_data |= name == vk_ext::SHADER_CONSTANT_DATA_NAME;
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
            (self.constant_data, vk_ext::SHADER_CONSTANT_DATA_NAME),
            (self.fault, vk_ext::DEVICE_FAULT_NAME),
            (self.abort, vk_ext::SHADER_ABORT_NAME),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn combine(self, other: Self, combine: impl Fn(bool, bool) -> bool) -> Self {
        Self {
            abort: combine(self.abort, other.abort),
            fault: combine(self.fault, other.fault),
            constant_data: combine(self.constant_data, other.constant_data),
        }
    }

    /// The union of two sets.
    pub fn or(self, other: Self) -> Self {
        self.combine(other, |a, b| a || b)
    }

    /// The intersection of two sets.
    pub fn and(self, other: Self) -> Self {
        self.combine(other, |a, b| a && b)
    }

    /// The extensions of this set that are not in `other`.
    pub fn without(self, other: Self) -> Self {
        self.combine(other, |a, b| a && !b)
    }
}
