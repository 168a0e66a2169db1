//! Reads settings by type. Reports and ignores invalid values.

use super::source::Sources;
use super::values::Choice;
use std::path::PathBuf;
use std::time::Duration;
use vkabort_record::report::Filter;

/// Reads settings by type.
pub struct Reader<'a> {
    /// The sources of values.
    pub sources: &'a Sources,
    /// One message per invalid value.
    pub problems: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// Reads one of a fixed list of values.
    pub fn choice<T: Choice>(&mut self, key: &str, default: T) -> T {
        let Some((value, origin)) = self.sources.value(key) else {
            return default;
        };
        T::parse(&value).unwrap_or_else(|| {
            let names: Vec<&str> = T::NAMES.iter().map(|(name, _)| *name).collect();
            self.problems.push(format!(
                "`{value}` is not a valid value for {key} (from {origin}); using {}.{} Valid values: {}",
                default.name(),
                did_you_mean(&value, &names),
                names.join(", ")
            ));
            default
        })
    }

    /// Reads a whole number, decimal or hexadecimal, from `min` to `max`.
    pub fn number(&mut self, key: &str, default: u32, min: u32, max: u32) -> u32 {
        let Some((value, origin)) = self.sources.value(key) else {
            return default;
        };
        let parsed = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => value.parse(),
        };
        match parsed {
            Ok(number) if (min..=max).contains(&number) => number,
            _ => {
                self.problems.push(format!(
                    "`{value}` is not a valid value for {key} (from {origin}); using the default. Valid values: whole \
                     numbers from {min} to {max}"
                ));
                default
            }
        }
    }

    /// Reads a timeout in milliseconds, from 1 ms to 10 minutes.
    pub fn timeout(&mut self, key: &str, default: Duration) -> Duration {
        let default = u32::try_from(default.as_millis()).unwrap_or(u32::MAX);
        Duration::from_millis(u64::from(self.number(key, default, 1, 600_000)))
    }

    /// Reads the rules of a filter.
    pub fn filter(&mut self, key: &str) -> Filter {
        let Some((value, origin)) = self.sources.value(key) else {
            return Filter::default();
        };
        value.parse().unwrap_or_else(|problem| {
            self.problems.push(format!(
                "`{value}` is not a valid value for {key} (from {origin}); using no filter: {problem}"
            ));
            Filter::default()
        })
    }

    /// Reads a path.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.sources.value(key).map(|(value, _)| PathBuf::from(value))
    }
}

/// ` Did you mean ..?` with the nearest of `names`, or nothing if all differ from `name` in more than a third of its letters.
pub fn did_you_mean(name: &str, names: &[&str]) -> String {
    let name = name.to_ascii_lowercase();
    let distances = names.iter().map(|other| (strsim::osa_distance(&name, other), other));
    match distances.min() {
        Some((distance, nearest)) if distance * 3 <= name.len() => format!(" Did you mean `{nearest}`?"),
        _ => String::new(),
    }
}
