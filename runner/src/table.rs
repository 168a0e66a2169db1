//! Results as a table and as JSON.

pub use crate::result::describe as case;
use crate::{CaseResult, Outcome};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use vkabort_report::Styled;

/// Width of the column of names.
const NAME: usize = 46;

/// A row of the table. A failure or warning cites its rule.
pub fn row(result: &CaseResult, color: bool) -> Styled {
    let name = result.case.name;
    let outcome = result.verdict.outcome;
    let word = format!("{:<5}", outcome.name());
    let style = match outcome {
        Outcome::Pass => "32",
        Outcome::Warn => "33",
        Outcome::Skip => "2",
        _ => "1;31",
    };
    let mut row = Styled::plain(&format!("{name:<NAME$} "));
    row.push(&Styled::new(style, &word, color));
    let time = result.time.as_secs_f64();
    let rest = format!(" {time:>7.2} s  {}", result.verdict.detail);
    row.push(&Styled::plain(&format!("{}\n", rest.trim_end())));
    let is_bad = outcome.is_failure() || outcome == Outcome::Warn;
    if let Some(rule) = result.case.rule.filter(|_| is_bad) {
        row.push(&Styled::plain(&format!(
            "    {}:\n    \"{}\"\n",
            rule.section, rule.sentence
        )));
    }
    row
}

/// The skipped checks, a line for each reason.
pub fn skipped(all: &[CaseResult]) -> String {
    /// Names that are listed before `and N more`.
    const NAMES: usize = 3;
    let skipped = all.iter().filter(|result| result.verdict.outcome == Outcome::Skip);
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for result in skipped {
        let (reason, name) = (result.verdict.detail.as_str(), result.case.name);
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let mut out = String::new();
    for (reason, names) in reasons {
        let (listed, rest) = names.split_at(names.len().min(NAMES));
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(out, "skip  {}{more}: {reason}", listed.join(", "));
    }
    out
}

/// Counts of the outcomes: `N passed, N failed, ..`.
pub fn summary(all: &[CaseResult]) -> String {
    let count = |outcome| all.iter().filter(|result| result.verdict.outcome == outcome).count();
    let mut out = format!("{} passed, {} failed", count(Outcome::Pass), count(Outcome::Fail));
    for (outcome, word) in [
        (Outcome::Crash, "crashed"),
        (Outcome::Hang, "hung"),
        (Outcome::Warn, "with warnings"),
    ] {
        let count = count(outcome);
        if count > 0 {
            let _ = write!(out, ", {count} {word}");
        }
    }
    let _ = write!(out, ", {} skipped", count(Outcome::Skip));
    out
}

/// All results, with their subject, and the counts of the outcomes.
pub fn document(about: &Json, all: &[CaseResult]) -> Json {
    let count = |outcome: Outcome| all.iter().filter(|result| result.verdict.outcome == outcome).count();
    let counts: serde_json::Map<String, Json> = Outcome::ALL
        .into_iter()
        .map(|outcome| (outcome.name().to_owned(), json!(count(outcome))))
        .collect();
    let mut document = about.clone();
    document["results"] = all.iter().map(CaseResult::json).collect();
    document["counts"] = json!(counts);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::one_of_each as results;

    #[test]
    fn summaries_count_every_outcome() {
        assert_eq!(
            summary(&results()),
            "1 passed, 1 failed, 1 crashed, 1 hung, 1 with warnings, 1 skipped"
        );
        assert_eq!(summary(&[]), "0 passed, 0 failed, 0 skipped");
        assert_eq!(document(&json!({"mode": "emulated"}), &results())["counts"]["hang"], 1);
    }

    #[test]
    fn a_reason_for_skipping_is_stated_once() {
        let reasons = ["no driver"; 5].into_iter().chain(["no feature"]);
        let cases = results().into_iter().map(|result| result.case);
        let all: Vec<_> = cases
            .zip(reasons)
            .map(|(case, reason)| CaseResult::skipped(case, reason))
            .collect();
        let expected = "skip  a.pass, a.fail, a.crash and 2 more: no driver\nskip  a.skip: no feature\n";
        assert_eq!(skipped(&all), expected);
        assert_eq!(skipped(&[]), "");
    }

    #[test]
    fn a_failure_cites_the_specification() {
        for result in results() {
            let row = row(&result, false);
            let bad = result.verdict.outcome.is_failure() || result.verdict.outcome == Outcome::Warn;
            assert_eq!(row.contains("\"a sentence\""), bad, "{row}");
            assert!(row.starts_with(result.case.name), "{row}");
            assert!(!row.contains('\x1b') && super::row(&result, true).contains('\x1b'));
        }
    }
}
