//! The verdict on a case, and its line from a child process.

use crate::{Finding, Warning};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use vkabort_gpu::{Skip, describe};

/// Outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The tested property holds.
    Pass,
    /// The tested property does not hold.
    Fail,
    /// The process died.
    Crash,
    /// The process did not end in time.
    Hang,
    /// Allowed, but applications suffer from it.
    Warn,
    /// Not applicable.
    Skip,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 6] = [Self::Pass, Self::Fail, Self::Crash, Self::Hang, Self::Warn, Self::Skip];

    /// Name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Skip => "skip",
            Self::Crash => "crash",
            Self::Hang => "hang",
        }
    }

    /// Whether the tested property does not hold.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Hang)
    }
}

/// Outcome of a case, with its explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The observation, the reason for skipping, or an empty string.
    pub detail: String,
}

impl Verdict {
    /// A verdict.
    pub fn new(outcome: Outcome, detail: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: detail.into(),
        }
    }

    /// The line that a child process prints.
    pub fn line(&self) -> String {
        // Serialisation of strings and numbers does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The last line of this form in the output of a process.
    pub fn last_of(output: &str) -> Option<Self> {
        output.lines().rev().find_map(|line| serde_json::from_str(line).ok())
    }
}

/// The verdict on the result of a case.
impl From<Result<Finding>> for Verdict {
    fn from(result: Result<Finding>) -> Self {
        match result {
            Ok(Finding(detail)) => Self::new(Outcome::Pass, detail),
            Err(error) => match (error.downcast_ref(), error.is::<Warning>()) {
                (Some(Skip(reason)), _) => Self::new(Outcome::Skip, reason),
                (None, true) => Self::new(Outcome::Warn, error.to_string()),
                (None, false) => Self::new(Outcome::Fail, describe(&error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn lines_round_trip() {
        for (result, outcome) in [
            (Ok(String::from("a").into()), Outcome::Pass),
            (Err(anyhow!("\"a\"\n")), Outcome::Fail),
            (Err(Warning("b".into()).into()), Outcome::Warn),
            (Err(Skip("c".into()).into()), Outcome::Skip),
        ] {
            let verdict = Verdict::from(result);
            assert_eq!(verdict.outcome, outcome);
            let output = format!("some text\n{}\n{{}}\nmore\n", verdict.line());
            assert_eq!(Verdict::last_of(&output), Some(verdict));
        }
        assert_eq!(Verdict::last_of("{}\nnot JSON"), None);
    }
}
