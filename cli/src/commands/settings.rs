//! `vkabort settings`: lists the layer's settings with their values and where each value comes from.

use crate::failure::{Result, code};
use crate::{io, settings};
use clap::Args;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::process::ExitCode;
use vkabort_manifest::{DISABLE, ENABLE};
use vkabort_settings::sources::{FILE_NAME, Sources, registered_files};
use vkabort_settings::{IMPLICATIONS, SETTINGS, Setting};

/// Arguments of `vkabort settings`.
#[derive(Args)]
#[command(after_help = "\
The values are those that a program gets which is started in this environment and folder. A program can set more by
VK_EXT_layer_settings, and setuid programs read neither variables nor files. The exit code is 3 if a name or value is
not valid.

Examples:
  vkabort settings
  VK_VKABORT_SHADER_ABORT_ENABLE=always vkabort settings")]
pub struct SettingsArgs {
    /// Print the settings as JSON
    #[arg(long)]
    json: bool,
}

/// The sources of this process, without an application.
pub fn sources() -> Sources {
    Sources::of_process(std::env::vars_os(), registered_files(), Vec::new())
}

/// Origin of values without a source.
const DEFAULT: &str = "default";

/// A setting with its value.
struct Row {
    key: &'static str,
    value: String,
    origin: String,
}

/// Prints every setting, and the names in the environment and the settings file that have no effect.
///
/// # Errors
///
/// Standard output cannot be written.
pub fn run(args: &SettingsArgs) -> Result<ExitCode> {
    let sources = sources();
    let keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    let mut problems = sources.problems(&keys);
    problems.extend(switch_problem(&sources));
    let mut rows: Vec<Row> = SETTINGS
        .iter()
        .map(|setting| row(setting, &sources, &mut problems))
        .collect();
    imply(&mut rows);
    if args.json {
        io::print_json(&format!("{:#}", as_json(&rows, &sources, &problems)))?;
    } else {
        io::print(&as_text(&rows, &sources))?;
        problems.iter().for_each(|problem| io::note(problem));
    }
    Ok(match problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::INPUT),
    })
}

/// The value of a setting. Adds the reason to the problems if its source has an invalid one.
fn row(setting: &Setting, sources: &Sources, problems: &mut Vec<String>) -> Row {
    let row = |value, origin| Row {
        key: setting.key,
        value,
        origin,
    };
    let default = || row(setting.default(), DEFAULT.to_owned());
    let Some(value) = sources.value(setting.key) else {
        return default();
    };
    match settings::invalid(setting, &value.text) {
        None => row(value.text, value.origin),
        Some(problem) => {
            problems.push(format!("{}: {problem}", value.origin));
            default()
        }
    }
}

/// Changes the settings that others imply, as the layer does.
fn imply(rows: &mut [Row]) {
    for implication in IMPLICATIONS {
        let find = |key: &str| rows.iter().find(|row| row.key == key);
        let text = |key: &str| find(key).map(|row| row.value.clone()).unwrap_or_default();
        let is_set = |key: &str| find(key).is_some_and(|row| row.origin != DEFAULT);
        let applies = implication.applies(text, is_set);
        let row = rows.iter_mut().find(|row| row.key == implication.key);
        if let Some(row) = row.filter(|row| applies && row.value != implication.value) {
            row.value = implication.value.to_owned();
            row.origin = format!("implied by {}", implication.by);
        }
    }
}

/// Why the variables that switch the layer on and off do not switch it on. The loader compares [`ENABLE`] with the value in
/// the manifest, and takes any value of [`DISABLE`].
pub fn switch_problem(sources: &Sources) -> Option<String> {
    if sources.variable(DISABLE).is_some() {
        return Some(format!(
            "{DISABLE} is set: it switches the layer off, whatever its value"
        ));
    }
    let value = sources.variable(ENABLE).filter(|value| *value != "1")?;
    Some(format!(
        "{ENABLE}={value} does not switch the layer on: the Vulkan loader accepts the value 1 only, set {ENABLE}=1"
    ))
}

fn as_text(rows: &[Row], sources: &Sources) -> String {
    let width = |column: fn(&Row) -> &str| rows.iter().map(|row| column(row).len()).max().unwrap_or(0);
    let (key_width, value_width) = (width(|row| row.key), width(|row| &row.value));
    let mut out = String::new();
    for Row { key, value, origin } in rows {
        let _ = writeln!(out, "{key:key_width$}  {value:value_width$}  {origin}");
    }
    let _ = match sources.file() {
        Some(path) => writeln!(out, "\n{FILE_NAME}: {}", path.display()),
        None => writeln!(out, "\n{FILE_NAME}: none"),
    };
    out
}

fn as_json(rows: &[Row], sources: &Sources, problems: &[String]) -> Json {
    let settings = rows
        .iter()
        .map(|row| json!({"key": row.key, "value": row.value, "origin": row.origin}));
    json!({"settings": settings.collect::<Vec<_>>(), "file": sources.file(), "problems": problems})
}
