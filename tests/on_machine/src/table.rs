//! The table: at most 100 columns wide.

use crate::results::{Comparison, Goal, Time};
use crate::supervise::Row;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};

/// Maximum number of lines per failure; the log has all of them.
const LINES: usize = 8;
/// Maximum width of these lines, in characters.
const WIDTH: usize = 96;

/// The head of the table of parts.
pub fn head() -> String {
    format!(
        "{:<30} {:>7} {:>7} {:>7} {:>9}\n",
        "part", "passed", "failed", "skipped", "time"
    )
}

/// A part's row.
pub fn row(row: &Row) -> String {
    let failed = row.failed.len();
    let mark = if failed == 0 { "" } else { "  FAILED" };
    format!(
        "{:<30} {:>7} {failed:>7} {:>7} {:>7.1} s{mark}\n",
        row.part,
        row.passed,
        row.skipped.len(),
        row.time.as_secs_f64()
    )
}

/// The row of totals.
pub fn sums(rows: &[Row]) -> String {
    let sum = |count: fn(&Row) -> usize| rows.iter().map(count).sum::<usize>();
    let time: Duration = rows.iter().map(|row| row.time).sum();
    format!(
        "{:<30} {:>7} {:>7} {:>7} {:>7.1} s\n",
        "total",
        sum(|row| row.passed),
        sum(|row| row.failed.len()),
        sum(|row| row.skipped.len()),
        time.as_secs_f64()
    )
}

/// The table of benchmarks, if anything was measured.
pub fn benchmarks(rows: &[Row]) -> String {
    let all: Vec<&Comparison> = rows.iter().flat_map(|row| &row.compared).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n{:<52} {:>9} {:>9} {:>8} {:>14}\n",
        "benchmark", "without", "with", "ratio", "goal"
    );
    for compared in all {
        let ratio = compared.ratio().map_or_else(|| "-".to_owned(), format_ratio);
        let missed = if compared.reached() == Some(false) { " no" } else { "" };
        let _ = writeln!(
            out,
            "{:<52} {:>9} {:>9} {ratio:>8} {:>14}{missed}",
            compared.name,
            time(compared.without),
            time(compared.with),
            goal(compared.goal)
        );
    }
    out
}

/// Formats a ratio; small ones get more digits.
fn format_ratio(ratio: f64) -> String {
    let digits = if ratio < 0.1 { 5 } else { 3 };
    format!("{ratio:.digits$}")
}

fn time(time: Time) -> String {
    match time {
        Time::None => "-".to_owned(),
        Time::Seconds(seconds) => self::seconds(seconds),
        Time::MoreThan(seconds) => format!("> {}", self::seconds(seconds)),
    }
}

fn seconds(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.digits$} {unit}")
}

fn goal(goal: Goal) -> String {
    // Goals are round numbers: drop the zeros.
    let short = |seconds: f64| {
        let text = self::seconds(seconds);
        text.replace(".00", "").replace(".0 ", " ")
    };
    match goal {
        Goal::None => "-".to_owned(),
        Goal::Ratio(ratio) => format!("{ratio}x"),
        Goal::Plus(more) => format!("+ {}", short(more)),
        Goal::AtMost(most) => format!("<= {}", short(most)),
    }
}

/// The reasons for skipped tests, with counts.
pub fn skips(rows: &[Row]) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, reason) in rows.iter().flat_map(|row| &row.skipped) {
        *reasons.entry(reason.as_str()).or_default() += 1;
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|(a, few), (b, many)| many.cmp(few).then(a.cmp(b)));
    let mut out = "\nskipped because\n".to_owned();
    for (reason, count) in reasons {
        let mut lines = wrapped(reason, WIDTH - 6).into_iter();
        let _ = writeln!(out, "{count:>4}  {}", lines.next().unwrap_or_default());
        lines.for_each(|line| out.push_str(&format!("      {line}\n")));
    }
    out
}

/// The first lines of each failure.
pub fn failures(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows.iter().filter(|row| !row.failed.is_empty()) {
        for (name, text) in &row.failed {
            let _ = writeln!(out, "\nFAILED {name} ({})", row.part);
            let lines: Vec<_> = text.lines().flat_map(|line| wrapped(line, WIDTH - 4)).collect();
            for line in lines.iter().take(LINES) {
                let _ = writeln!(out, "    {line}");
            }
            if lines.len() > LINES {
                let _ = writeln!(out, "    .. and {} more lines", lines.len() - LINES);
            }
        }
    }
    out
}

/// The facts that a part collected.
pub fn facts(row: &Row) -> String {
    let mut out = String::new();
    for line in row.facts.iter().flat_map(|fact| wrapped(fact, WIDTH)) {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// Wraps text at spaces; breaks words longer than `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    let options = textwrap::Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Row {
        Row {
            part: "e2e:some_family_with_a_long_name".into(),
            passed: 12,
            failed: vec![("e2e::x".into(), format!("{}\nsecond", "word ".repeat(60)))],
            skipped: vec![
                ("a".into(), "no mesh shaders".into()),
                ("b".into(), "no mesh shaders".into()),
                ("c".into(), "x".repeat(150)),
            ],
            compared: vec![Comparison {
                name: "vkCreateComputePipelines without aborts, not enabled".into(),
                without: Time::MoreThan(15.0),
                with: Time::Seconds(123.4e-6),
                goal: Goal::Plus(50e-9),
            }],
            facts: vec!["a fact".into()],
            time: Duration::from_millis(1234),
            log: "log".into(),
        }
    }

    #[test]
    fn everything_fits_into_100_columns() {
        let rows = [example()];
        let all = [
            head(),
            row(&example()),
            sums(&rows),
            benchmarks(&rows),
            skips(&rows),
            failures(&rows),
            facts(&example()),
        ]
        .concat();
        for line in all.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        assert!(
            all.contains("> 15.0 s") && all.contains("123 us") && all.contains("+ 50 ns"),
            "{all}"
        );
        assert!(all.contains("   2  no mesh shaders\n"), "{all}");
        assert!(all.contains("FAILED e2e::x (e2e:some_family"), "{all}");
    }

    #[test]
    fn times_have_three_digits() {
        let all = [2.5e-7, 12.34e-6, 0.5, 1.0, 42.0].map(seconds);
        assert_eq!(all, ["250 ns", "12.3 us", "500 ms", "1.00 s", "42.0 s"]);
        assert_eq!(goal(Goal::Plus(1e-3)), "+ 1 ms");
        assert_eq!(goal(Goal::AtMost(50e-3)), "<= 50 ms");
        assert_eq!(goal(Goal::Ratio(1.02)), "1.02x");
    }

    #[test]
    fn long_words_are_broken_and_short_ones_kept() {
        assert_eq!(wrapped("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrapped("abcdefg h", 3), ["abc", "def", "g h"]);
        assert_eq!(wrapped("", 3), [""]);
    }
}
