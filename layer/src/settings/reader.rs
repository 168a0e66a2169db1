//! Settings by their types. A wrong value is reported with the allowed ones and ignored.

use super::Sources;
use std::path::PathBuf;
use vkabort_record::report::Filter;

/// Reads settings one by one.
pub struct Reader<'a> {
    /// Where from.
    pub sources: &'a Sources,
    /// What was wrong and therefore ignored.
    pub problems: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// One of several words.
    pub fn choice<T: Copy>(&mut self, key: &str, default: T, allowed: &[(&str, T)]) -> T {
        let Some((value, origin)) = self.sources.value(key) else {
            return default;
        };
        if let Some((_, found)) = allowed.iter().find(|(name, _)| value.eq_ignore_ascii_case(name)) {
            return *found;
        }
        let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
        self.problems.push(format!(
            "{key} = {value:?} (from {origin}) is ignored: allowed are {}",
            names.join(", ")
        ));
        default
    }

    /// A whole number, also in hexadecimal.
    pub fn number(&mut self, key: &str, default: u32, least: u32, most: u32) -> u32 {
        let Some((value, origin)) = self.sources.value(key) else {
            return default;
        };
        let parsed = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => value.parse(),
        };
        match parsed {
            Ok(number) if (least..=most).contains(&number) => number,
            _ => {
                self.problems.push(format!(
                    "{key} = {value:?} (from {origin}) is ignored: allowed are whole numbers from {least} to {most}"
                ));
                default
            }
        }
    }

    /// The rules of a filter.
    pub fn filter(&mut self, key: &str) -> Filter {
        let Some((value, origin)) = self.sources.value(key) else {
            return Filter::default();
        };
        value.parse().unwrap_or_else(|problem| {
            self.problems
                .push(format!("{key} = {value:?} (from {origin}) is ignored: {problem}"));
            Filter::default()
        })
    }

    /// A path.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.sources.value(key).map(|(value, _)| PathBuf::from(value))
    }
}
