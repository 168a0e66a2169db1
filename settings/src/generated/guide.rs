//! The guide's page of settings.

use super::presets::PRESETS;
use crate::table::{SETTINGS, Setting};
use crate::{ENV_PREFIXES, FILE_PREFIX};
use std::fmt::Write;

const INTRODUCTION: &str = "\
<!-- Generated from the table of settings by `cargo xtask generate`. -->
# Settings

| source, the first that has the setting | form |
| --- | --- |
| `vkabort run`, which sets the environment | `--set on_abort=continue` |
| the environment | `PREFIX` and the name in upper case: `PREFIXON_ABORT=continue` |
| `vk_layer_settings.txt`, in the user's `vulkan/settings.d`, in `VK_LAYER_SETTINGS_PATH`, or in the working directory | `FILE_PREFIXon_abort = continue` |
| the program, by `VK_EXT_layer_settings` | the name: `on_abort` |

`vkabort settings` lists the values in effect, and reports names and values that are not valid.

In setuid programs, programs with file capabilities and elevated programs on Windows, the layer reads neither the environment nor
files, writes no file, and emulates nothing unless the program itself requests it (`VK_EXT_layer_settings`).
";

fn entry(setting: &Setting, out: &mut String) {
    let default = match setting.default() {
        text if text.is_empty() => "empty".to_owned(),
        text => format!("`{text}`"),
    };
    let description = setting.description();
    let _ = write!(out, "\n## {}\n\n{description} Default: {default}", setting.key);
    let names = setting.form.names();
    let _ = match names.is_empty() || setting.default().is_empty() {
        true => writeln!(out, "; {}.", setting.form.describe()),
        false => writeln!(out, "."),
    };
    if !names.is_empty() {
        out.push_str("\n| value | effect |\n| --- | --- |\n");
    }
    for row in names {
        let _ = writeln!(out, "| `{}` | {} |", row.name, row.description);
    }
}

/// The text of the page.
pub fn text() -> String {
    let mut out = INTRODUCTION
        .replace("FILE_PREFIX", FILE_PREFIX)
        .replace("PREFIX", ENV_PREFIXES[0]);
    for setting in SETTINGS {
        entry(setting, &mut out);
    }
    out += "\n## Presets\n\nCombinations that the manifest names for tools such as the Vulkan Configurator:\n\n\
            | preset | settings | effect |\n| --- | --- | --- |\n";
    for preset in PRESETS {
        let pairs = preset.settings.iter().map(|(key, value)| format!("`{key} = {value}`"));
        let pairs: Vec<String> = pairs.collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            preset.label,
            pairs.join(", "),
            preset.description
        );
    }
    out
}
