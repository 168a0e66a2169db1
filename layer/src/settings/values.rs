//! Settings with a fixed list of values.

use vkabort_instrument::{LoopPoll, Trap, Values};

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

/// Defines a setting by its values and their names.
macro_rules! choice {
    ($(#[$doc:meta])* $setting:ident { $($(#[$value_doc:meta])* $value:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $setting { $($(#[$value_doc])* $value,)* }
        choice!($setting: $($value = $name,)*);
    };
    ($setting:ident: $($value:ident = $name:literal,)*) => {
        impl Choice for $setting {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];
        }
    };
}

choice! {
    /// Whether the layer enables the extensions on devices whose application does not.
    Enable {
        /// It does not, and reports modules with aborts on such devices.
        Auto = "auto",
        /// On every device that supports them.
        Always = "always",
    }
}
choice! {
    /// Which extensions the layer emulates.
    Emulation {
        /// Those that the driver lacks.
        Auto = "auto",
        /// The same, also on devices whose driver lacks stores in some shader stages, which then must not abort.
        Partial = "partial",
        /// All three, even if the driver supports them.
        Force = "force",
        /// None.
        Off = "off",
    }
}
choice! {
    /// How an abort affects the device.
    OnAbort {
        /// The device is lost, as specified.
        Lose = "lose",
        /// The abort is reported, and the device stays usable.
        Continue = "continue",
    }
}
choice! {
    /// The memory of messages.
    Memory {
        /// The best available memory.
        Auto = "auto",
        /// Host memory that the host caches.
        Cached = "cached",
        /// Host memory that the host does not cache.
        Uncached = "uncached",
        /// Memory that the device does not cache (`VK_AMD_device_coherent_memory`).
        DeviceCoherent = "device_coherent",
        /// Device memory.
        Device = "device",
    }
}
choice! {
    /// Where the control block (abort flag and counters) is placed.
    ControlBlock {
        /// In device memory on a discrete GPU, if that is host-visible; otherwise before the messages.
        Auto = "auto",
        /// In device memory.
        Device = "device",
        /// Before the messages.
        Host = "host",
    }
}
choice! {
    /// Severity of a log line. As a setting, the minimum severity that is logged.
    Level {
        /// Logs nothing, not even aborts.
        Off = "off",
        /// Aborts and failures.
        Error = "error",
        /// Degraded operation.
        Warning = "warning",
        /// The layer's decisions and their reasons.
        Info = "info",
        /// Every rewritten module.
        Debug = "debug",
    }
}
choice! {
    /// Severity of reports that messengers receive.
    MessengerSeverity {
        /// Messengers receive no reports.
        Off = "off",
        /// Error.
        Error = "error",
        /// Warning.
        Warning = "warning",
        /// Information.
        Info = "info",
        /// Diagnostics.
        Verbose = "verbose",
    }
}
choice! {
    /// Format of a log line.
    Format {
        /// For people.
        Text = "text",
        /// One JSON object per line.
        Json = "json",
    }
}
choice! { Trap: Return = "return", Fault = "fault", Hang = "hang", }
choice! { LoopPoll: Auto = "auto", All = "all", Off = "off", }
choice! { Values: Auto = "auto", On = "on", Off = "off", }
