//! The settings reference of the guide, from the layer's manifest.

use anyhow::{Context, Result};
use serde_json::Value as Json;
use std::fmt::Write;
use vkabort_manifest::value::text_of;
use vkabort_manifest::{ENV_PREFIXES, FILE_PREFIX, Kind};

const INTRODUCTION: &str = "\
<!-- Generated from the layer's manifest by `cargo xtask generate`. -->
# Settings

| source, the first that has the setting | form |
| --- | --- |
| the environment | `PREFIX` and the name in upper case: `PREFIXON_ABORT=continue` |
| `vkabort run`, which sets the environment | `--set on_abort=continue` |
| `vk_layer_settings.txt`, in the user's `vulkan/settings.d`, in `VK_LAYER_SETTINGS_PATH`, or in the working directory | `FILE_PREFIXon_abort = continue` |
| the program, by `VK_EXT_layer_settings` | the name: `on_abort` |

`vkabort settings` lists the values in effect, and reports names and values that are not valid.

In setuid programs, programs with file capabilities and elevated programs on Windows, the layer reads neither the environment nor
files, writes no file, and emulates nothing unless the program itself requests it (`VK_EXT_layer_settings`).
";

fn text<'a>(json: &'a Json, key: &str) -> Result<&'a str> {
    json[key]
        .as_str()
        .with_context(|| format!("the manifest has no {key} in {json}"))
}

/// The page.
///
/// # Errors
///
/// The manifest lacks a member.
pub fn generate() -> Result<String> {
    let manifest = vkabort_manifest::parse(Kind::Explicit)?;
    let settings = manifest["layer"]["features"]["settings"].as_array();
    let mut out = INTRODUCTION
        .replace("FILE_PREFIX", FILE_PREFIX)
        .replace("PREFIX", ENV_PREFIXES[0]);
    for setting in settings.context("the manifest has no settings")? {
        let default = match text_of(&setting["default"]) {
            text if text.is_empty() => "empty".to_owned(),
            text => format!("`{text}`"),
        };
        write!(
            out,
            "\n## {}\n\n{} Default: {default}",
            text(setting, "key")?,
            text(setting, "description")?
        )?;
        let unit = setting["unit"]
            .as_str()
            .map(|unit| format!(" {unit}"))
            .unwrap_or_default();
        match &setting["range"] {
            Json::Null => writeln!(out, "{unit}.")?,
            range => writeln!(out, "{unit}; {} to {}.", range["min"], range["max"])?,
        }
        if let Some(values) = setting["flags"].as_array() {
            out += "\n| value | effect |\n| --- | --- |\n";
            for value in values {
                writeln!(out, "| `{}` | {} |", text(value, "key")?, text(value, "description")?)?;
            }
        }
    }
    out += "\n## Presets\n\nCombinations that the manifest names for tools such as the Vulkan Configurator:\n\n| preset | settings | effect |\n| --- | --- | --- |\n";
    for preset in manifest["layer"]["features"]["presets"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let mut pairs = Vec::new();
        for pair in preset["settings"].as_array().into_iter().flatten() {
            pairs.push(format!("`{} = {}`", text(pair, "key")?, text_of(&pair["value"])));
        }
        writeln!(
            out,
            "| {} | {} | {} |",
            text(preset, "label")?,
            pairs.join(", "),
            text(preset, "description")?
        )?;
    }
    Ok(out)
}
