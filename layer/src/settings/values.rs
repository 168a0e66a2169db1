//! Settings with a fixed list of values.

use crate::report::log::{Format, Level};
use vkabort_instrument::{LoopPoll, Trap};

/// A setting with a fixed list of values.
pub trait Choice: Copy + PartialEq + 'static {
    /// The values by their names.
    const NAMES: &'static [(&'static str, Self)];

    /// The value of a name, in any case.
    fn parse(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(other, _)| name.eq_ignore_ascii_case(other));
        found.map(|(_, value)| *value)
    }

    /// The name of a value.
    fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, value)| *value == self);
        found.map_or("", |(name, _)| name)
    }
}

/// Which extensions the layer emulates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emulation {
    /// Those that the driver lacks.
    #[default]
    Auto,
    /// All three, even if the driver supports them.
    Force,
    /// None.
    Off,
}

impl Choice for Emulation {
    const NAMES: &'static [(&'static str, Self)] = &[("auto", Self::Auto), ("force", Self::Force), ("off", Self::Off)];
}

/// How an abort affects the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAbort {
    /// The device is lost, as specified.
    #[default]
    Lose,
    /// The abort is reported, and the device stays usable.
    Continue,
}

impl Choice for OnAbort {
    const NAMES: &'static [(&'static str, Self)] = &[("lose", Self::Lose), ("continue", Self::Continue)];
}

/// The memory of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The best available memory.
    #[default]
    Auto,
    /// Host memory that the host caches.
    Cached,
    /// Host memory that the host does not cache.
    Uncached,
    /// Memory that the device does not cache (`VK_AMD_device_coherent_memory`).
    DeviceCoherent,
    /// Device memory.
    Device,
}

impl Choice for Memory {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("cached", Self::Cached),
        ("uncached", Self::Uncached),
        ("device_coherent", Self::DeviceCoherent),
        ("device", Self::Device),
    ];
}

/// Where the control block (abort flag and counters) is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlBlock {
    /// In device memory on a discrete GPU, if that is host-visible; otherwise before the messages.
    #[default]
    Auto,
    /// In device memory.
    Device,
    /// Before the messages.
    Host,
}

impl Choice for ControlBlock {
    const NAMES: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("device", Self::Device), ("host", Self::Host)];
}

impl Choice for Trap {
    const NAMES: &'static [(&'static str, Self)] =
        &[("return", Self::Return), ("fault", Self::Fault), ("hang", Self::Hang)];
}

impl Choice for LoopPoll {
    const NAMES: &'static [(&'static str, Self)] = &[("auto", Self::Auto), ("all", Self::All), ("off", Self::Off)];
}

impl Choice for Level {
    const NAMES: &'static [(&'static str, Self)] = &Self::NAMES;
}

impl Choice for Format {
    const NAMES: &'static [(&'static str, Self)] = &[("text", Self::Text), ("json", Self::Json)];
}
