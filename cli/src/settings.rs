//! Options that take settings of the layer, by the table of settings.

use crate::failure::{Failure, Result};
use crate::parse;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use vkabort_instrument::Checks;
use vkabort_settings::{Choice, SETTINGS, Setting, find, list};

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
        let values = SETTINGS.iter().flat_map(|setting| {
            let mut names: Vec<&str> = setting.form.names().iter().map(|row| row.name).collect();
            if names.is_empty() {
                names.push("");
            }
            let value = |name| PossibleValue::new(format!("{}={name}", setting.key)).help(setting.label());
            names.into_iter().map(value).collect::<Vec<_>>()
        });
        Some(Box::new(values))
    }
}

/// Parser of checks, separated by commas. Its possible values are the names of all checks, for `--help` and completion scripts.
#[derive(Clone)]
pub struct CheckList;

impl TypedValueParser for CheckList {
    type Value = Checks;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<Checks, clap::Error> {
        (parse::checks as fn(&str) -> _).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = find("sanitize").map(|setting| setting.form.names()).unwrap_or_default();
        let values = names
            .into_iter()
            .map(|row| PossibleValue::new(row.name).help(row.description.trim_end_matches('.').to_owned()));
        Some(Box::new(values))
    }
}

/// Parser of a setting with a fixed list of values.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = list::<T>()
        .into_iter()
        .map(|row| PossibleValue::new(row.name).help(row.description.trim_end_matches('.').to_owned()));
    PossibleValuesParser::new(values).try_map(|name| T::of(&name).ok_or("not a value"))
}

/// The checks that a name was meant as, if it is a list of them or similar to one.
pub fn find_misplaced_checks(name: &str) -> Option<String> {
    let setting = find("sanitize").ok()?;
    match setting.check(name) {
        Ok(()) => Some(name.to_owned()),
        Err(invalid) => invalid.nearest.map(str::to_owned),
    }
}

/// The default of a setting, as text.
pub fn default(key: &str) -> String {
    find(key).map(Setting::default).unwrap_or_default()
}

/// The description of a setting as the help of an option.
pub fn help(key: &str) -> String {
    let text = find(key).map(Setting::description).unwrap_or_default();
    text.trim_end_matches('.').to_owned()
}

/// Environment variable that sets `key`, without a check of a value.
///
/// # Errors
///
/// The layer has no such setting; the message suggests the nearest name.
pub fn variable(key: &str) -> Result<String> {
    find_setting(key).map(Setting::variable)
}

/// Environment variable that sets `key`, for a valid `value`.
///
/// # Errors
///
/// The layer has no such setting, or the value is empty or not valid for it; the message names the valid ones.
pub fn variable_for(key: &str, value: &str) -> Result<String> {
    let setting = find_setting(key)?;
    if value.is_empty() {
        return Err(Failure::input(format!(
            "{key} has no value: leave it out to keep the default"
        )));
    }
    match invalid(setting, value) {
        None => Ok(setting.variable()),
        Some(problem) => Err(Failure::input(problem)),
    }
}

/// Says why a value is not valid for a setting, with the nearest valid one. `None`: it is valid.
pub fn invalid(setting: &Setting, value: &str) -> Option<String> {
    let invalid = setting.check(value).err()?;
    let hint = match invalid.nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => ".".to_owned(),
    };
    Some(format!(
        "`{value}` is not a valid value for {}{hint} {}",
        setting.key, invalid.valid
    ))
}

fn find_setting(key: &str) -> Result<&'static Setting> {
    find(key).map_err(|nearest| {
        let hint = match nearest {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None => ": `vkabort settings` lists the settings".to_owned(),
        };
        Failure::input(format!("`{key}` is not a setting of the layer{hint}"))
    })
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
        assert!(variable_for("dump_dir", "anything at all").is_ok());
    }

    #[test]
    fn invalid_settings_have_one_line_with_the_nearest_valid_one() {
        for (key, value, expected) in [
            (
                "arena",
                "1",
                "`arena` is not a setting of the layer; did you mean `arena_size`?",
            ),
            (
                "arena_sise",
                "1",
                "`arena_sise` is not a setting of the layer; did you mean `arena_size`?",
            ),
            (
                "unlike",
                "1",
                "`unlike` is not a setting of the layer: `vkabort settings` lists the settings",
            ),
            (
                "trap",
                "explode",
                "`explode` is not a valid value for trap. Valid values: return, fault, hang",
            ),
            (
                "arena_size",
                "12",
                "`12` is not a valid value for arena_size. Valid values: 65536 to 1073741824 bytes, also as 64K or 1M",
            ),
            (
                "on_abort",
                "contineu",
                "`contineu` is not a valid value for on_abort; did you mean `continue`? Valid values: lose, continue, continue_checks",
            ),
            (
                "dump_dir",
                "",
                "dump_dir has no value: leave it out to keep the default",
            ),
        ] {
            assert_eq!(error(key, value), expected);
        }
        assert!(
            error("sanitize", "loop").contains("; did you mean `loops`? Valid values: default, all, loops, "),
            "{}",
            error("sanitize", "loop")
        );
    }
}
