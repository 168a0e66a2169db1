//! The results: as a table for people, as JSON, as JUnit XML.

use super::checks::Check;
use super::runner::Done;
use super::verdict::Outcome;
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// Columns of the table before the detail.
const NAME: usize = 46;

/// A line of the table.
pub fn row(done: &Done, color: bool) -> String {
    let name = done.check.name;
    let outcome = done.verdict.outcome;
    let word = format!("{:<5}", outcome.name());
    let word = match (color, outcome) {
        (false, _) => word,
        (true, Outcome::Pass) => format!("\x1b[32m{word}\x1b[0m"),
        (true, Outcome::Warn) => format!("\x1b[33m{word}\x1b[0m"),
        (true, Outcome::Skip) => format!("\x1b[2m{word}\x1b[0m"),
        (true, _) => format!("\x1b[1;31m{word}\x1b[0m"),
    };
    let time = done.time.as_secs_f64();
    let mut out = format!("{name:<NAME$} {word} {time:>7.2} s  {}", done.verdict.detail);
    out.truncate(out.trim_end().len());
    out.push('\n');
    if outcome.is_failure() || outcome == Outcome::Warn {
        let rule = done.check.rule;
        let _ = writeln!(out, "    {}:\n    \"{}\"", rule.section, rule.sentence);
    }
    out
}

/// `N passed, N failed, ..`
pub fn summary(all: &[Done]) -> String {
    let count = |outcome| all.iter().filter(|done| done.verdict.outcome == outcome).count();
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

/// The device that was used, for people.
pub fn device(json: &Json) -> String {
    let text = |key: &str| json[key].as_str().unwrap_or("unknown").to_owned();
    format!("{}, Vulkan {}, {}", text("name"), text("api_version"), text("driver"))
}

/// What a check is about.
pub fn check(check: &Check) -> Json {
    json!({
        "name": check.name,
        "section": check.rule.section,
        "sentence": check.rule.sentence,
    })
}

/// All of it.
pub fn document(mode: &str, all: &[Done]) -> Json {
    let results: Vec<Json> = all
        .iter()
        .map(|done| {
            let mut json = check(done.check);
            json["outcome"] = json!(done.verdict.outcome.name());
            json["detail"] = json!(done.verdict.detail);
            json["seconds"] = json!(done.time.as_secs_f64());
            json
        })
        .collect();
    let count = |outcome: Outcome| all.iter().filter(|done| done.verdict.outcome == outcome).count();
    let counts: serde_json::Map<String, Json> = Outcome::ALL
        .into_iter()
        .map(|outcome| (outcome.name().to_owned(), json!(count(outcome))))
        .collect();
    json!({
        "mode": mode,
        "device": all.iter().find_map(|done| done.device.clone()),
        "results": results,
        "counts": counts,
    })
}

/// The same as JUnit XML: a test case for every check.
pub fn junit(all: &[Done]) -> String {
    let failures = all.iter().filter(|done| done.verdict.outcome == Outcome::Fail).count();
    let broken = |done: &&Done| matches!(done.verdict.outcome, Outcome::Crash | Outcome::Hang);
    let errors = all.iter().filter(broken).count();
    let skipped = all.iter().filter(|done| done.verdict.outcome == Outcome::Skip).count();
    let seconds: f64 = all.iter().map(|done| done.time.as_secs_f64()).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "  <testsuite name=\"vkabort conform\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        all.len()
    );
    for done in all {
        let (group, name) = done.check.name.split_once('.').unwrap_or_default();
        let _ = write!(
            out,
            "    <testcase classname=\"vkabort.conform.{}\" name=\"{}\" time=\"{:.3}\"",
            escape(group),
            escape(name),
            done.time.as_secs_f64()
        );
        let detail = escape(&done.verdict.detail);
        let rule = done.check.rule;
        let sentence = escape(&format!("{}: \"{}\"", rule.section, rule.sentence));
        let _ = match done.verdict.outcome {
            Outcome::Pass if detail.is_empty() => writeln!(out, "/>"),
            Outcome::Pass => writeln!(out, ">\n      <system-out>{detail}</system-out>\n    </testcase>"),
            Outcome::Warn => writeln!(
                out,
                ">\n      <system-out>warning: {detail} ({sentence})</system-out>\n    </testcase>"
            ),
            Outcome::Skip => writeln!(out, ">\n      <skipped message=\"{detail}\"/>\n    </testcase>"),
            Outcome::Fail => writeln!(
                out,
                ">\n      <failure type=\"conformance\" message=\"{detail}\">{sentence}</failure>\n    </testcase>"
            ),
            Outcome::Crash | Outcome::Hang => writeln!(
                out,
                ">\n      <error type=\"{}\" message=\"{detail}\">{sentence}</error>\n    </testcase>",
                done.verdict.outcome.name()
            ),
        };
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Text as XML content or attribute. Characters that XML cannot hold become question marks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{checks, verdict::Verdict};
    use super::*;
    use std::time::Duration;

    fn done() -> Vec<Done> {
        Outcome::ALL
            .into_iter()
            .zip(checks::all())
            .map(|(outcome, check)| Done {
                check,
                verdict: Verdict {
                    outcome,
                    detail: format!("a < {}", outcome.name()),
                },
                time: Duration::from_millis(1500),
                device: None,
            })
            .collect()
    }

    #[test]
    fn the_summary_counts_every_outcome() {
        assert_eq!(
            summary(&done()),
            "1 passed, 1 failed, 1 crashed, 1 hung, 1 with warnings, 1 skipped"
        );
        assert_eq!(summary(&[]), "0 passed, 0 failed, 0 skipped");
        assert_eq!(document("emulated", &done())["counts"]["hang"], 1);
    }

    #[test]
    fn a_failure_cites_the_specification() {
        for done in done() {
            let row = row(&done, false);
            let cites = row.contains(done.check.rule.sentence);
            let bad = done.verdict.outcome.is_failure() || done.verdict.outcome == Outcome::Warn;
            assert_eq!(cites, bad, "{row}");
            assert!(row.starts_with(done.check.name), "{row}");
            assert!(!row.contains('\x1b') && super::row(&done, true).contains('\x1b'));
        }
    }

    #[test]
    fn junit_has_a_test_case_for_every_check() {
        let xml = junit(&done());
        assert!(
            xml.contains("tests=\"6\" failures=\"1\" errors=\"2\" skipped=\"1\" time=\"9.000\""),
            "{xml}"
        );
        assert_eq!(xml.matches("<testcase ").count(), 6);
        assert!(xml.contains("<skipped message=\"a &lt; skip\"/>"), "{xml}");
        assert!(xml.contains("<error type=\"hang\" message=\"a &lt; hang\">"), "{xml}");
    }
}
