//! The verdict of a check, and its line from a child process.

use serde_json::{Value as Json, json};

/// Why a check ends early.
#[derive(Debug)]
pub enum Stop {
    /// The implementation violates the specification, as observed.
    Fail(String),
    /// The observed behaviour is allowed, but applications suffer from it.
    Warn(String),
    /// The check does not apply, for this reason.
    Skip(String),
    /// The user's name of the device does not select one.
    WrongDevice(String),
}

/// Output of a check or of a step of it. A check that passes may return a detail worth showing.
pub type CheckOutput<T = String> = Result<T, Stop>;

/// Ends the check as failed unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($detail:tt)+) => {
        if !$condition {
            return Err($crate::verdict::Stop::Fail(format!($($detail)+)));
        }
    };
}
/// Ends the check with a warning unless the condition holds.
macro_rules! should {
    ($condition:expr, $($detail:tt)+) => {
        if !$condition {
            return Err($crate::verdict::Stop::Warn(format!($($detail)+)));
        }
    };
}
pub(crate) use {hold, should};

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Conforms to the specification.
    Pass,
    /// Violates the specification.
    Fail,
    /// Allowed, but applications suffer from it.
    Warn,
    /// Not applicable.
    Skip,
    /// The process died.
    Crash,
    /// The process did not end in time.
    Hang,
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

    /// Whether the outcome shows that the implementation does not conform.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Hang)
    }
}

/// Outcome of a check, with its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The observation, the reason for skipping, or an empty string.
    pub detail: String,
}

impl Verdict {
    /// Verdict for the output of a check.
    pub(crate) fn new(output: CheckOutput) -> Self {
        let (outcome, detail) = match output {
            Ok(detail) => (Outcome::Pass, detail),
            Err(Stop::Fail(detail) | Stop::WrongDevice(detail)) => (Outcome::Fail, detail),
            Err(Stop::Warn(detail)) => (Outcome::Warn, detail),
            Err(Stop::Skip(detail)) => (Outcome::Skip, detail),
        };
        Self { outcome, detail }
    }

    /// The line that a child process prints, with the device that it used.
    pub(crate) fn line(&self, device: Option<&Json>) -> String {
        json!({"outcome": self.outcome.name(), "detail": self.detail, "device": device}).to_string()
    }

    /// Parses a line of [`Verdict::line`].
    pub(crate) fn parse(line: &str) -> Option<(Self, Option<Json>)> {
        let json: Json = serde_json::from_str(line).ok()?;
        let name = json["outcome"].as_str()?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)?;
        let detail = json["detail"].as_str()?.to_owned();
        let device = json.get("device").filter(|device| device.is_object()).cloned();
        Some((Self { outcome, detail }, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip() {
        for output in [
            Ok(String::new()),
            Err(Stop::Fail("\"a\"\n".into())),
            Err(Stop::Warn("b".into())),
        ] {
            let verdict = Verdict::new(output);
            let device = json!({"name": "x"});
            assert_eq!(
                Verdict::parse(&verdict.line(Some(&device))),
                Some((verdict.clone(), Some(device)))
            );
            assert_eq!(Verdict::parse(&verdict.line(None)), Some((verdict, None)));
        }
        assert_eq!(Verdict::parse("{}"), None);
        assert_eq!(Verdict::parse("not JSON"), None);
    }
}
