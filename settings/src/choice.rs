//! Settings with a fixed list of values.

use vkabort_instrument::{CHECKS, LoopPoll, Trap, Values};

/// A name that a setting can have as its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// Its effect, as Markdown.
    pub description: String,
}

/// A setting with a fixed list of values.
pub trait Choice: Copy + PartialEq + 'static {
    /// The values with their names and effects.
    const ROWS: &'static [(&'static str, Self, &'static str)];

    /// The value of a name, in any case.
    fn of(name: &str) -> Option<Self> {
        let found = Self::ROWS.iter().find(|(other, ..)| name.eq_ignore_ascii_case(other));
        found.map(|(_, value, _)| *value)
    }

    /// The name of a value.
    fn name(self) -> &'static str {
        let found = Self::ROWS.iter().find(|(_, value, _)| *value == self);
        found.map_or("", |(name, ..)| name)
    }
}

/// The names of a type's values.
pub fn list<T: Choice>() -> Vec<Named> {
    let rows = T::ROWS.iter().map(|(name, _, description)| Named {
        name,
        description: description.trim().to_owned(),
    });
    rows.collect()
}

/// The names of checks, and of sets of them.
pub(crate) fn checks() -> Vec<Named> {
    let defaults: Vec<&str> = CHECKS.iter().filter(|row| row.is_default).map(|row| row.name).collect();
    let sets = [
        (
            "default",
            format!("The checks that find faults only: {}.", defaults.join(", ")),
        ),
        ("all", "Every check.".to_owned()),
    ];
    let rows = CHECKS
        .iter()
        .map(|row| (row.name, format!("Fails when {}.", row.description)));
    let named = |(name, description)| Named { name, description };
    sets.into_iter().chain(rows).map(named).collect()
}

/// Defines a setting by its values and their names. The documentation of a value becomes its description.
macro_rules! choice {
    ($(#[$doc:meta])* $setting:ident { $($(#[doc = $effect:literal])+ $value:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $setting { $($(#[doc = $effect])+ $value,)* }
        choice!($setting: $($(#[doc = $effect])+ $value = $name,)*);
    };
    ($setting:ident: $($(#[doc = $effect:literal])+ $value:ident = $name:literal,)*) => {
        impl Choice for $setting {
            const ROWS: &'static [(&'static str, Self, &'static str)] =
                &[$(($name, Self::$value, concat!($($effect),+))),*];
        }
    };
}

choice! {
    /// Whether the layer enables the extensions on devices whose application does not.
    Enable {
        /// No. The layer reports shader modules with aborts on such a device, since their aborts have no effect.
        Auto = "auto",
        /// Yes, on every device that supports them: an application changes nothing but its shaders.
        Always = "always",
    }
}
choice! {
    /// Which extensions the layer emulates.
    Emulation {
        /// The extensions that the driver lacks.
        Auto = "auto",
        /// The same, also on devices whose driver lacks stores in vertex or fragment shaders. Pipelines with aborts in these stages
        /// are refused.
        Partial = "partial",
        /// All three extensions, even if the driver supports them.
        Force = "force",
        /// No extension. The layer reports the aborts of a driver that supports the extensions.
        Off = "off",
    }
}
choice! {
    /// How an abort affects the device.
    OnAbort {
        /// The device is lost, as the specification requires.
        Lose = "lose",
        /// The abort is reported, and the device is not lost: for test suites and long debugging sessions.
        Continue = "continue",
        /// The same of failed checks. An abort of the program's own loses the device if the program has enabled the extension.
        ContinueChecks = "continue_checks",
    }
}
choice! {
    /// What becomes of the prints of shaders (`debugPrintfEXT`, `printf` of HLSL and Slang).
    Printf {
        /// Nothing: the driver and other layers get them as they are.
        Off = "off",
        /// The layer writes them to its log and passes them to the application's messengers.
        On = "on",
        /// The same, with the invocation in front of each text.
        Invocations = "invocations",
    }
}
choice! {
    /// Whether the commands of command buffers are kept.
    Commands {
        /// No.
        Off = "off",
        /// Yes: a report names the draw, dispatch or trace that it is of.
        On = "on",
        /// Yes, and each is recorded between two markers, if the driver has `VK_AMD_buffer_marker` or
        /// `VK_NV_device_diagnostic_checkpoints`: if it loses the device by itself, the log says how far each queue came.
        Markers = "markers",
    }
}
choice! {
    /// The memory of messages.
    Memory {
        /// Prefers host memory, then device-coherent memory if the driver supports `VK_AMD_device_coherent_memory`, then host-cached
        /// memory.
        Auto = "auto",
        /// Host memory, cached by the host.
        Cached = "cached",
        /// Host memory, not cached by the host.
        Uncached = "uncached",
        /// Memory that the device does not cache (`VK_AMD_device_coherent_memory`).
        DeviceCoherent = "device_coherent",
        /// Device memory, whose content a device reset may destroy.
        Device = "device",
    }
}
choice! {
    /// Where the control block (abort flag and counters) is placed.
    ControlBlock {
        /// In host-visible device memory on a discrete GPU; otherwise before the messages.
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
        /// Nothing is logged, not even aborts.
        Off = "off",
        /// Aborts and errors.
        Error = "error",
        /// Also problems that limit the layer.
        Warning = "warning",
        /// Also the decisions of the layer.
        Info = "info",
        /// Also every rewritten module.
        Debug = "debug",
    }
}
choice! {
    /// Severity of reports that messengers receive.
    MessengerSeverity {
        /// Messengers receive no reports.
        Off = "off",
        /// Messengers that receive errors.
        Error = "error",
        /// Messengers that receive warnings.
        Warning = "warning",
        /// Messengers that receive information.
        Info = "info",
        /// Messengers that receive diagnostics.
        Verbose = "verbose",
    }
}
choice! {
    /// Format of a log line.
    Format {
        /// Readable text.
        Text = "text",
        /// One JSON object per line.
        Json = "json",
    }
}
choice! {
    Trap:
    /// The invocation returns, and the layer reports the loss of the device.
    Return = "return",
    /// A store to an unmapped address makes the driver lose the device.
    Fault = "fault",
    /// A long, bounded loop makes the driver's watchdog lose the device.
    Hang = "hang",
}
choice! {
    LoopPoll:
    /// Loops that wait for other invocations through memory, and loops without an exit.
    Auto = "auto",
    /// Every loop.
    All = "all",
    /// No loop.
    Off = "off",
}
choice! {
    Values:
    /// The condition; in modules with debug information also variables.
    Auto = "auto",
    /// The condition and variables, as far as the module names them.
    On = "on",
    /// None.
    Off = "off",
}
