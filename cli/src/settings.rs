//! Names and values of the layer's settings, as its manifest describes them.

use crate::failure::{Failure, Result};
use crate::parse;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use serde_json::Value as Json;
use std::ffi::OsStr;
use vkabort_manifest::{Kind, value};

/// Parser of `--set KEY=VALUE`. Its possible values are for completion scripts: every setting, with each value of those that
/// have a list of values.
#[derive(Clone)]
pub struct Assignment;

impl TypedValueParser for Assignment {
    type Value = (String, String);

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<Self::Value, clap::Error> {
        (parse::setting as fn(&str) -> _).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let settings = all().unwrap_or_default();
        let values = settings.iter().flat_map(|setting| {
            let (key, help) = (text(setting, "key"), text(setting, "label"));
            let choices = choices(setting);
            let values = if choices.is_empty() { vec![""] } else { choices };
            let value = |value| PossibleValue::new(format!("{key}={value}")).help(help.to_owned());
            values.into_iter().map(value).collect::<Vec<_>>()
        });
        Some(Box::new(values.collect::<Vec<_>>().into_iter()))
    }
}

/// Environment variable that sets `key`, without a check of a value.
///
/// # Errors
///
/// The layer has no such setting; the message suggests the nearest name and lists all.
pub fn variable(key: &str) -> Result<String> {
    find(key).map(|setting| text(&setting, "env").to_owned())
}

/// Environment variable that sets `key`, for a valid `value`.
///
/// # Errors
///
/// The layer has no such setting, or the value is not valid for it; the message lists the valid ones.
pub fn variable_for(key: &str, value: &str) -> Result<String> {
    let setting = find(key)?;
    if is_valid(&setting, value) {
        return Ok(text(&setting, "env").to_owned());
    }
    Err(Failure::input(invalid(&setting, value)))
}

/// Whether a setting can have this value.
pub fn is_valid(setting: &Json, value: &str) -> bool {
    match text(setting, "type") {
        "ENUM" => has_choice(setting, value),
        "FLAGS" => {
            let mut names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.all(|name| name.eq_ignore_ascii_case("off") || has_choice(setting, name))
        }
        "INT" => {
            let number = match text(setting, "unit") {
                "bytes" => value::bytes(value),
                _ => value::number(value),
            };
            let bound = |end: &str, open: i64| setting["range"][end].as_i64().unwrap_or(open);
            let number = number.and_then(|number| i64::try_from(number).ok());
            number.is_some_and(|n| (bound("min", i64::MIN)..=bound("max", i64::MAX)).contains(&n))
        }
        _ => true,
    }
}

/// Says that a value is not valid for a setting, with the nearest valid one, and lists the valid ones.
pub fn invalid(setting: &Json, value: &str) -> String {
    format!(
        "`{value}` is not a valid value for {}{}\n{}",
        text(setting, "key"),
        suggestion(value, choices(setting).into_iter()),
        describe(setting)
    )
}

/// All settings as the manifest describes them.
///
/// # Errors
///
/// The manifest in this program is damaged.
pub fn all() -> Result<Vec<Json>> {
    let manifest = vkabort_manifest::parse(Kind::Implicit)
        .map_err(|error| Failure::input(format!("the built-in manifest is damaged: {error}")))?;
    let settings = manifest.pointer("/layer/features/settings").and_then(Json::as_array);
    Ok(settings.cloned().unwrap_or_default())
}

/// The setting `key` as the manifest describes it.
fn find(key: &str) -> Result<Json> {
    let settings = all()?;
    if let Some(setting) = settings.iter().find(|setting| setting["key"] == key) {
        return Ok(setting.clone());
    }
    let all: Vec<String> = settings.iter().map(describe).collect();
    Err(Failure::input(format!(
        "`{key}` is not a setting of the layer{}\nThe settings are:\n{}",
        suggestion(key, settings.iter().map(|setting| text(setting, "key"))),
        all.join("\n")
    )))
}

/// `; did you mean ..?` for a misspelt name, or nothing where no candidate is similar.
fn suggestion<'a>(misspelt: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let nearest = value::nearest(misspelt, candidates);
    nearest
        .map(|nearest| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default()
}

fn text<'a>(setting: &'a Json, key: &str) -> &'a str {
    setting[key].as_str().unwrap_or_default()
}

fn has_choice(setting: &Json, value: &str) -> bool {
    choices(setting).iter().any(|choice| choice.eq_ignore_ascii_case(value))
}

fn choices(setting: &Json) -> Vec<&str> {
    let flags = setting["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    flags.iter().filter_map(|flag| flag["key"].as_str()).collect()
}

/// `  trap = return, fault, hang`, and the description on the next line.
fn describe(setting: &Json) -> String {
    let values = match text(setting, "type") {
        "ENUM" => choices(setting).join(", "),
        "FLAGS" => format!("off, or a list of {}", choices(setting).join(", ")),
        "INT" => format!(
            "{} to {} {}",
            setting["range"]["min"],
            setting["range"]["max"],
            text(setting, "unit")
        ),
        "SAVE_FILE" | "LOAD_FILE" => "a file".to_owned(),
        "SAVE_FOLDER" | "LOAD_FOLDER" => "a folder".to_owned(),
        _ => "text".to_owned(),
    };
    format!(
        "  {} = {}\n      {}",
        text(setting, "key"),
        values.trim_end(),
        text(setting, "description")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(key: &str, value: &str) -> String {
        variable_for(key, value).expect_err("an invalid setting").to_string()
    }

    #[test]
    fn variables_follow_the_khronos_settings_library() {
        let name = variable_for("arena_size", "0x100000").expect("a valid setting");
        assert_eq!(name, "VK_VKABORT_SHADER_ABORT_ARENA_SIZE");
        assert_eq!(variable("arena_size").expect("a setting"), name);
        assert!(variable_for("arena_size", "4M").is_ok() && variable_for("drain_timeout_ms", "4M").is_err());
        assert!(variable_for("trap", "Hang").is_ok());
        assert!(variable_for("sanitize", "loops,breaks").is_ok() && variable_for("sanitize", "off").is_ok());
        assert!(
            error("sanitize", "loop")
                .contains("; did you mean `loops`?\n  sanitize = off, or a list of default, all, ")
        );
        assert!(variable_for("dump_dir", "anything at all").is_ok());
    }

    #[test]
    fn invalid_settings_are_named_with_the_valid_ones() {
        assert!(error("arena", "1").contains("`arena` is not a setting of the layer"));
        assert!(error("arena", "1").contains("\n  arena_size = 65536 to 1073741824 bytes\n"));
        assert!(error("trap", "explode").contains("trap = return, fault, hang\n      How"));
        assert!(error("arena_size", "12").starts_with("`12` is not a valid value for arena_size\n"));
        assert!(error("arena_size", "big").starts_with("`big` is not a valid value for arena_size\n"));
    }

    #[test]
    fn misspelt_names_and_values_get_a_suggestion() {
        assert!(error("arena_sise", "1").contains("; did you mean `arena_size`?\n"));
        let value = error("on_abort", "contineu");
        assert!(
            value.starts_with("`contineu` is not a valid value for on_abort; did you mean `continue`?\n"),
            "{value}"
        );
        assert!(!error("trap", "explode").contains("did you mean"));
    }
}
