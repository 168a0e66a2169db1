//! The result of a case.

use crate::supervise::{End, Finished};
use crate::{Case, Measurement, Outcome, Verdict};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The result of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// Its verdict.
    pub verdict: Verdict,
    /// Time that it took, including the start of its process.
    pub time: Duration,
    /// Its measurements, also those before an error.
    pub measurements: Vec<Measurement>,
    /// Last lines of its output, without the lines for the runner.
    pub output: String,
}

impl CaseResult {
    /// The result of a case with this verdict.
    pub(crate) fn new(case: &Case, verdict: Verdict, finished: &Finished) -> Self {
        let is_for_people = |line: &&str| Verdict::last_of(line).is_none() && Measurement::all_of(line).is_empty();
        let lines = finished.stdout.lines().filter(is_for_people);
        let shown = Finished {
            status: finished.status,
            stdout: lines.flat_map(|line| [line, "\n"]).collect(),
            stderr: finished.stderr.clone(),
        };
        Self {
            verdict,
            measurements: Measurement::all_of(&finished.stdout),
            output: shown.output_tail(),
            ..Self::skipped(*case, "")
        }
    }

    /// The result of a case that exceeded its limit.
    pub(crate) fn hung(case: &Case, end: End, finished: &Finished) -> Self {
        let survived = match end {
            End::TimedOut { is_dead: false } => ", nor after it was killed",
            _ => "",
        };
        let detail = format!("it did not end within {} s{survived}", case.limit.as_secs_f32());
        Self::new(case, Verdict::new(Outcome::Hang, detail), finished)
    }

    /// The result of a case that is not run.
    pub fn skipped(case: Case, reason: &str) -> Self {
        Self {
            case,
            verdict: Verdict::new(Outcome::Skip, reason),
            time: Duration::ZERO,
            measurements: Vec::new(),
            output: String::new(),
        }
    }

    /// Name, rule, outcome, detail, duration in seconds, and measurements if there are any.
    pub fn json(&self) -> Json {
        let mut json = describe(&self.case);
        json["outcome"] = json!(self.verdict.outcome);
        json["detail"] = json!(self.verdict.detail);
        json["seconds"] = json!(self.time.as_secs_f64());
        if !self.measurements.is_empty() {
            json["measurements"] = json!(self.measurements);
        }
        json
    }
}

/// Name of a case, and its rule: `section` and `sentence`.
pub fn describe(case: &Case) -> Json {
    let mut json = json!({"name": case.name});
    if let Some(rule) = case.rule {
        json["section"] = json!(rule.section);
        json["sentence"] = json!(rule.sentence);
    }
    json
}

/// One result of each outcome, for tests of the display.
#[cfg(test)]
pub(crate) fn one_of_each() -> Vec<CaseResult> {
    use crate::Rule;
    const RULE: Rule = Rule {
        section: "a section",
        sentence: "a sentence",
    };
    let cases = ["a.pass", "a.fail", "a.crash", "a.hang", "a.warn", "a.skip"];
    let result = |(name, outcome): (&'static str, Outcome)| CaseResult {
        verdict: Verdict::new(outcome, format!("a < {}", outcome.name())),
        time: Duration::from_millis(1500),
        ..CaseResult::skipped(Case::new(name, |_| Ok(().into())).rule(RULE), "")
    };
    cases.into_iter().zip(Outcome::ALL).map(result).collect()
}
