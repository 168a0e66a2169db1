//! Reads settings by type. Reports and ignores invalid values.

use super::source::Sources;
use super::values::Choice;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use vkabort_manifest::sources::Value;
use vkabort_manifest::value;

/// Reads settings by type.
pub struct Reader<'a> {
    /// The sources of values.
    pub sources: &'a Sources,
    /// One message per invalid value.
    pub problems: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// Reads one of a fixed list of values.
    pub fn choice<T: Choice>(&mut self, key: &str, default: &T) -> T {
        let Some(Value { text: value, origin }) = self.sources.value(key) else {
            return *default;
        };
        T::parse(&value).unwrap_or_else(|| {
            let names: Vec<&str> = T::NAMES.iter().map(|(name, _)| *name).collect();
            self.problems.push(format!(
                "`{value}` is not a valid value for {key} (from {origin}); using {}.{} Valid values: {}",
                default.name(),
                did_you_mean(&value, &names),
                names.join(", ")
            ));
            *default
        })
    }

    /// Reads a whole number, decimal or hexadecimal, from `min` to `max`.
    pub fn number(&mut self, key: &str, default: &u32, min: u32, max: u32) -> u32 {
        self.number_by(value::number, "whole numbers", (key, *default), (min, max))
    }

    /// Reads `auto`, which is `None`, or a whole number from `min` to `max`.
    pub fn auto_number(&mut self, key: &str, default: &Option<u32>, min: u32, max: u32) -> Option<u32> {
        let Some(Value { text, origin }) = self.sources.value(key) else {
            return *default;
        };
        if text.eq_ignore_ascii_case("auto") {
            return None;
        }
        let number = value::number(&text).and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            self.problems.push(format!(
                "`{text}` is not a valid value for {key} (from {origin}); using auto. Valid values: auto, and whole numbers from \
                 {min} to {max}"
            ));
        }
        number
    }

    /// Reads a number of bytes, which may have a suffix `K` or `M`, from `min` to `max`.
    pub fn bytes(&mut self, key: &str, default: &u32, min: u32, max: u32) -> u32 {
        self.number_by(value::bytes, "bytes, also as 64K or 1M,", (key, *default), (min, max))
    }

    fn number_by(
        &mut self,
        parse: fn(&str) -> Option<u64>,
        kind: &str,
        (key, default): (&str, u32),
        (min, max): (u32, u32),
    ) -> u32 {
        let Some(Value { text, origin }) = self.sources.value(key) else {
            return default;
        };
        let parsed = parse(&text).and_then(|number| u32::try_from(number).ok());
        parsed.filter(|number| (min..=max).contains(number)).unwrap_or_else(|| {
            self.problems.push(format!(
                "`{text}` is not a valid value for {key} (from {origin}); using the default, {default}. Valid values: {kind} \
                 from {min} to {max}"
            ));
            default
        })
    }

    /// Reads a timeout in milliseconds, from 1 ms to 10 minutes.
    pub fn timeout(&mut self, key: &str, default: &Duration) -> Duration {
        let default = u32::try_from(default.as_millis()).unwrap_or(u32::MAX);
        Duration::from_millis(u64::from(self.number(key, &default, 1, 600_000)))
    }

    /// Reads a limit. The largest number means that there is none.
    pub fn limit(&mut self, key: &str, default: &Option<u32>) -> Option<u32> {
        let number = self.number(key, &default.unwrap_or(u32::MAX), 0, u32::MAX);
        Some(number).filter(|number| *number != u32::MAX)
    }

    /// Reads rules or a list of names. `none` says what an invalid value is replaced by.
    pub fn parsed<T: Clone + FromStr<Err = String>>(&mut self, key: &str, default: &T, none: &str) -> T {
        let Some(Value { text: value, origin }) = self.sources.value(key) else {
            return default.clone();
        };
        value.parse().unwrap_or_else(|problem| {
            self.problems.push(format!(
                "`{value}` is not a valid value for {key} (from {origin}); using {none}: {problem}"
            ));
            default.clone()
        })
    }

    /// Reads a path.
    pub fn path(&mut self, key: &str, default: &Option<PathBuf>) -> Option<PathBuf> {
        let value = self.sources.value(key).map(|value| PathBuf::from(value.text));
        value.or_else(|| default.clone())
    }
}

/// ` Did you mean ..?` with the nearest of `names`, or nothing if none is similar.
fn did_you_mean(name: &str, names: &[&str]) -> String {
    let nearest = value::nearest(name, names.iter().copied());
    nearest
        .map(|nearest| format!(" Did you mean `{nearest}`?"))
        .unwrap_or_default()
}
