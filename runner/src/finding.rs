//! Results of a case: a finding, a warning, and measurements.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Observation of a case that passes: worth showing, or an empty string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding(pub String);

impl From<()> for Finding {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<String> for Finding {
    fn from(detail: String) -> Self {
        Self(detail)
    }
}

/// Error of a case that has observed behaviour that is allowed, but that applications suffer from.
#[derive(Debug)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Warning {}

/// One number, with its subject, driver and variant. A case prints its measurements as it goes, so that
/// those before an error count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The driver, with its GPU.
    pub driver: String,
    /// The measured thing: a shader, a call or a dispatch.
    pub subject: String,
    /// How: a variant of the subject. The variants of a subject are compared with each other.
    pub variant: String,
    /// Name of the number, or its unit if it has one: `ms`, `code`, `waves`, ..
    pub metric: String,
    /// The number; none if the variant could not be measured.
    pub value: Option<f64>,
    /// Why there is no value, else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Measurement {
    /// A measurement with a value. The parent of the process that measures fills in the driver.
    pub fn new(subject: &str, variant: &str, metric: &str, value: f64) -> Self {
        Self {
            driver: String::new(),
            subject: subject.into(),
            variant: variant.into(),
            metric: metric.into(),
            value: Some(value),
            reason: String::new(),
        }
    }

    /// A measurement that could not be made.
    pub fn failed(subject: &str, variant: &str, metric: &str, reason: &str) -> Self {
        Self {
            value: None,
            reason: reason.into(),
            ..Self::new(subject, variant, metric, 0.0)
        }
    }

    /// The measurement as a line of JSON.
    pub fn line(&self) -> String {
        // Serialisation of strings and numbers does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Prints the line for the parent of this process.
    #[allow(clippy::print_stdout, reason = "the parent reads the standard output")]
    pub fn print(&self) {
        println!("{}", self.line());
    }

    /// The lines of this form in the output of a process.
    pub fn all_of(output: &str) -> Vec<Self> {
        output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}
