//! The files that describe the settings. `cargo xtask generate` writes them, and this test compares them.

mod guide;
mod manifest;
mod sample;

use crate::table::SETTINGS;
use std::path::Path;

/// Environment variable: write the files instead of comparing them. `cargo xtask generate` sets it.
const BLESS: &str = "VKABORT_BLESS";

/// A combination of settings that the manifest names for tools such as the Vulkan Configurator.
struct Preset {
    label: &'static str,
    description: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

const PRESETS: &[Preset] = &[
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
];

/// Markdown as plain text.
fn plain(markdown: &str) -> String {
    markdown.replace('`', "")
}

#[test]
fn the_files_that_describe_the_settings_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = [
        (
            "manifest/VkLayer_vkabort_shader_abort.implicit.json",
            manifest::text(true),
        ),
        (
            "manifest/VkLayer_vkabort_shader_abort.explicit.json",
            manifest::text(false),
        ),
        ("vk_layer_settings.txt", sample::text()),
        ("docs/src/settings.md", guide::text()),
    ];
    for (name, text) in files {
        let path = root.join(name);
        if std::env::var_os(BLESS).is_some() {
            std::fs::write(&path, &text).expect("the repository is writable");
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored.replace("\r\n", "\n") == text,
            "{name} is out of date: run `cargo xtask generate`"
        );
    }
}

#[test]
fn presets_have_valid_settings() {
    for (key, value) in PRESETS.iter().flat_map(|preset| preset.settings) {
        let setting = SETTINGS.iter().find(|setting| setting.key == *key).expect("a setting");
        assert_eq!(setting.check(value), Ok(()), "{key} = {value}");
    }
}
