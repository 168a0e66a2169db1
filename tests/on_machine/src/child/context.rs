//! State of a running part, and the results that it writes.

use super::time_budget::TimeBudget;
use crate::results::{Line, Results};
use crate::unpacked::Unpacked;
use anyhow::Result;

/// State of a running part.
pub(super) struct PartContext {
    pub(super) unpacked: Unpacked,
    pub(super) device: String,
    /// The driver implements the extension.
    pub(super) native: bool,
    /// Settings of every case on the device.
    pub(super) settings: Vec<(&'static str, &'static str)>,
    pub(super) budget: TimeBudget,
    pub(super) results: Results,
    pub(super) failed: bool,
}

impl PartContext {
    /// Records that a test starts.
    pub(super) fn start(&mut self, name: &str) -> Result<()> {
        self.results.add(&Line::Started(name.to_owned()))
    }

    /// Records the outcome of a test.
    pub(super) fn end(&mut self, line: &Line) -> Result<()> {
        self.failed |= matches!(line, Line::Failed(..));
        self.results.add(line)
    }

    /// Runs a test, which passes if it returns `Ok`.
    pub(super) fn check(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.start(name)?;
        let line = match check(self) {
            Ok(()) => Line::Passed(name.to_owned()),
            Err(error) => Line::Failed(name.to_owned(), format!("{error:#}")),
        };
        self.end(&line)
    }

    pub(super) fn fact(&mut self, text: impl Into<String>) -> Result<()> {
        self.results.add(&Line::Fact(text.into()))
    }
}
