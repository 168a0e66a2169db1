//! Combinations of settings.

/// A combination of settings that the manifest names for tools such as the Vulkan Configurator.
pub(super) struct Preset {
    pub(super) label: &'static str,
    pub(super) description: &'static str,
    pub(super) settings: &'static [(&'static str, &'static str)],
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        label: "Test suites",
        description: "Aborts are reported, and the device is not lost.",
        settings: &[("on_abort", "continue")],
    },
    Preset {
        label: "Sanitizer",
        description: "The default checks are planted into programs without aborts, and those that fail are reported.",
        settings: &[("sanitize", "default")],
    },
    Preset {
        label: "Prints",
        description: "What shaders print is shown.",
        settings: &[("printf", "on")],
    },
];
