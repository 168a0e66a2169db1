//! Names and values of the layer's settings, as its manifest describes them.

use crate::failure::{Failure, Result};
use crate::parse;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use serde_json::Value as Json;
use std::ffi::OsStr;
use vkabort_manifest::Kind;

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
    let choices = choices(&setting);
    let valid = match text(&setting, "type") {
        "ENUM" => choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)),
        "INT" => {
            let number = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            };
            let bound = |end: &str, open: i64| setting["range"][end].as_i64().unwrap_or(open);
            number.is_some_and(|n| (bound("min", i64::MIN)..=bound("max", i64::MAX)).contains(&n))
        }
        _ => true,
    };
    if valid {
        return Ok(text(&setting, "env").to_owned());
    }
    Err(Failure::input(format!(
        "`{value}` is not a valid value for {key}{}\n{}",
        suggestion(value, choices.into_iter()),
        describe(&setting)
    )))
}

/// All settings as the manifest describes them.
fn all() -> Result<Vec<Json>> {
    let mut manifest = vkabort_manifest::parse(Kind::Implicit)
        .map_err(|error| Failure::input(format!("the built-in manifest is damaged: {error}")))?;
    let settings = manifest.pointer_mut("/layer/features/settings").map(Json::take);
    Ok(match settings {
        Some(Json::Array(settings)) => settings,
        _ => Vec::new(),
    })
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
pub fn suggestion<'a>(misspelt: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let misspelt = misspelt.to_lowercase();
    candidates
        .map(|candidate| (strsim::normalized_damerau_levenshtein(&misspelt, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, nearest)| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default()
}

fn text<'a>(setting: &'a Json, key: &str) -> &'a str {
    setting[key].as_str().unwrap_or_default()
}

fn choices(setting: &Json) -> Vec<&str> {
    let flags = setting["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    flags.iter().filter_map(|flag| flag["key"].as_str()).collect()
}

/// `  trap = return, fault, hang`, and the description on the next line.
fn describe(setting: &Json) -> String {
    let values = match text(setting, "type") {
        "ENUM" => choices(setting).join(", "),
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
        assert!(variable_for("trap", "Hang").is_ok());
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
