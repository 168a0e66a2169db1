//! What a check finds, and how a child process tells it.

use serde_json::{Value as Json, json};

/// Why a check ends early.
#[derive(Debug)]
pub enum Stop {
    /// The implementation does not do what the specification says: what was seen.
    Fail(String),
    /// It is allowed, and applications suffer from it.
    Warn(String),
    /// The check does not apply: why not.
    Skip(String),
}

/// What a check returns: something worth knowing, or nothing.
pub type Checked<T = String> = Result<T, Stop>;

/// Ends the check as failed unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err($crate::verdict::Stop::Fail(format!($($seen)+)));
        }
    };
}
/// Ends the check with a warning unless the condition holds.
macro_rules! should {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err($crate::verdict::Stop::Warn(format!($($seen)+)));
        }
    };
}
pub(super) use {hold, should};

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the specification says.
    Pass,
    /// Not as the specification says.
    Fail,
    /// Allowed and unwise.
    Warn,
    /// Not done.
    Skip,
    /// The process died.
    Crash,
    /// The process did not end in time.
    Hang,
}

impl Outcome {
    /// All of them, the good ones first.
    pub const ALL: [Self; 6] = [Self::Pass, Self::Fail, Self::Crash, Self::Hang, Self::Warn, Self::Skip];

    /// The word for it in tables and JSON.
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

    /// Whether the implementation does not conform.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Crash | Self::Hang)
    }
}

/// The outcome with its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it went.
    pub outcome: Outcome,
    /// What was seen.
    pub detail: String,
}

impl Verdict {
    /// Of a check that has ended.
    pub fn of(result: Checked) -> Self {
        let (outcome, detail) = match result {
            Ok(detail) => (Outcome::Pass, detail),
            Err(Stop::Fail(detail)) => (Outcome::Fail, detail),
            Err(Stop::Warn(detail)) => (Outcome::Warn, detail),
            Err(Stop::Skip(detail)) => (Outcome::Skip, detail),
        };
        Self { outcome, detail }
    }

    /// The line that a child process writes, with the device that it used.
    pub fn line(&self, device: Option<&Json>) -> String {
        json!({"outcome": self.outcome.name(), "detail": self.detail, "device": device}).to_string()
    }

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<(Self, Option<Json>)> {
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
    fn a_line_is_read_as_it_was_written() {
        for result in [
            Ok(String::new()),
            Err(Stop::Fail("\"a\"\n".into())),
            Err(Stop::Warn("b".into())),
        ] {
            let verdict = Verdict::of(result);
            let device = json!({"name": "x"});
            assert_eq!(
                Verdict::parse(&verdict.line(Some(&device))),
                Some((verdict.clone(), Some(device)))
            );
            assert_eq!(Verdict::parse(&verdict.line(None)), Some((verdict, None)));
        }
        assert_eq!(Verdict::parse("{}"), None);
        assert_eq!(Verdict::parse("no JSON"), None);
    }
}
