//! The files that describe the settings. `cargo xtask generate` writes them, and this test compares them.

mod guide;
mod manifest;
mod presets;
mod sample;
mod text;

use crate::table::SETTINGS;
use presets::PRESETS;
use std::path::Path;
use text::wrap;
use vkabort_instrument::CHECKS;

/// Environment variable: write the files instead of comparing them. `cargo xtask generate` sets it.
const BLESS: &str = "VKABORT_BLESS";

/// The documents that have a list of the checks between [`BEGIN`] and [`END`].
const WITH_CHECKS: [&str; 2] = ["README.md", "docs/src/index.md"];
const BEGIN: &str = "<!-- The checks, by `cargo xtask generate`. -->\n";
const END: &str = "<!-- End of the checks. -->";

/// A document with the current list of checks.
fn with_checks(document: &str) -> Option<String> {
    let names = |is_default: bool| {
        let rows = CHECKS.iter().filter(|row| row.is_default == is_default);
        let names: Vec<String> = rows.map(|row| format!("`{}`", row.name)).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        }
    };
    let text = format!(
        "The checks {} have no false positives by design; {} are planted on request.",
        names(true),
        names(false)
    );
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let lines = wrap(&text, DOCUMENT_WIDTH).join("\n");
    Some(format!("{before}{BEGIN}{lines}\n{END}{after}"))
}

/// Longest line of documents in characters.
const DOCUMENT_WIDTH: usize = 130;

#[test]
fn the_files_that_describe_the_settings_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name))
            .unwrap_or_default()
            .replace("\r\n", "\n")
    };
    let documents = WITH_CHECKS.map(|name| {
        (
            name,
            with_checks(&read(name)).expect("a document with a list of checks"),
        )
    });
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
    for (name, text) in files.into_iter().chain(documents) {
        if std::env::var_os(BLESS).is_some() {
            std::fs::write(root.join(name), &text).expect("the repository is writable");
        }
        assert!(read(name) == text, "{name} is out of date: run `cargo xtask generate`");
    }
}

#[test]
fn the_page_on_checks_has_a_row_for_each() {
    let page = include_str!("../../../docs/src/programs-without-aborts.md");
    for row in CHECKS {
        assert!(page.contains(&format!("\n| `{}` | ", row.name)), "{}", row.name);
    }
}

#[test]
fn presets_have_valid_settings() {
    for (key, value) in PRESETS.iter().flat_map(|preset| preset.settings) {
        let setting = SETTINGS.iter().find(|setting| setting.key == *key).expect("a setting");
        assert_eq!(setting.check(value), Ok(()), "{key} = {value}");
    }
}
