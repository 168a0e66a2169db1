//! The unit of every benchmark's results.

use anyhow::Result;
use serde_json::{Value, json};

/// One number: what was measured, on which driver, and in which variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The driver, with its GPU.
    pub driver: String,
    /// What was measured: a shader, a call or a dispatch.
    pub subject: String,
    /// How: a variant of the subject. The variants of a subject are compared with each other.
    pub variant: String,
    /// Which number, with its unit where it has one: `ms`, `code`, `waves`, ..
    pub metric: String,
    /// The number; none if the variant could not be measured.
    pub value: Option<f64>,
    /// Why there is no value, else empty.
    pub reason: String,
}

impl Measurement {
    /// A measurement with a value. The process that starts the benchmark fills in the driver.
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
    pub fn to_line(&self) -> String {
        let Self {
            driver,
            subject,
            variant,
            metric,
            value,
            reason,
        } = self;
        let mut line = json!({
            "driver": driver, "subject": subject, "variant": variant, "metric": metric, "value": value,
        });
        if value.is_none() {
            line["reason"] = reason.as_str().into();
        }
        line.to_string()
    }

    /// Reads [`Self::to_line`].
    ///
    /// # Errors
    ///
    /// The line is not JSON.
    pub fn of_line(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line)?;
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            driver: text("driver"),
            subject: text("subject"),
            variant: text("variant"),
            metric: text("metric"),
            value: value["value"].as_f64(),
            reason: text("reason"),
        })
    }
}
