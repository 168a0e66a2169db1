//! `RESULTS.md`, the tables of all measurements, and the plots.

use crate::parts::Part;
use crate::plot::{Plot, variants};
use crate::results::{self, Results};
use crate::summary::{self, ByPart};
use anyhow::Result;
use clap::ValueEnum;
use vkabort_runner::measurements::by_metric;
use vkabort_test_kit::root;

/// Writes `bench/RESULTS.md`, `bench/results/tables.md` and the plots from the results of all parts that have run here.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn write() -> Result<()> {
    let mut by_part = ByPart::new();
    let (mut sections, mut tables) = (String::new(), String::from("# Measurements\n"));
    for part in Part::value_variants() {
        let Some(found) = Results::read(&part.name())? else {
            continue;
        };
        sections += &format!("\n## {}\n\n{}\n\n", part.title(), part.explanation());
        let facts: Vec<String> = found
            .facts
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        sections += &format!("{}\n", facts.join("; "));
        tables += &format!("\n## {}\n{}", part.title(), by_metric(&found.measurements, &variants()));
        let failed = found.measurements.iter().filter(|one| one.value.is_none());
        for one in failed {
            let reason = one.reason.lines().next().unwrap_or_default();
            sections += &format!(
                "\nNot measured: {}, {}, {}: {reason}.\n",
                one.driver, one.subject, one.variant
            );
        }
        if let Some((file, plot)) = plot(*part) {
            // The guide shows it: its pages can only show files of its own folder.
            plot.draw(&found.measurements, &root().join("docs/src").join(file))?;
            sections += &format!("\n![{}](../docs/src/{file})\n", plot.title);
        }
        by_part.insert(*part, found.measurements);
    }
    let mut text = String::from(
        "# Results\n\nWritten by `cargo xtask bench`. Both sides of each comparison are from one run; compare ratios, not times, across \
         machines. A time is the shortest of several, since other work on the machine only adds to it. Compile times are processor \
         time. The measurements themselves are in `bench/results/tables.md` after a run.\n\n| | against | goal | result | |\n|---|---|---|---|---|\n",
    );
    for (row, how) in summary::rows(&by_part) {
        text += &format!("| {} | {how} |\n", row.join(" | "));
    }
    results::write_report("RESULTS.md", &(text + &sections))?;
    results::write_report("results/tables.md", &tables)
}

/// The plot of a part, and its file in `docs/src`.
fn plot(part: Part) -> Option<(&'static str, Plot<'static>)> {
    let (file, title, x, y, metric) = match part {
        Part::Rewrite => (
            "module_size.svg",
            "Rewrite by size of the module",
            "words",
            "microseconds",
            "rewrite us",
        ),
        Part::Messages => {
            let title = "Pipeline creation by size of the message";
            ("message_size.svg", title, "KiB", "milliseconds", "ms")
        }
        Part::Storm => {
            let title = "Dispatch of a million invocations by number that fail";
            (
                "aborting_invocations.svg",
                title,
                "failing invocations",
                "milliseconds",
                "ms",
            )
        }
        Part::Sites => (
            "sites.svg",
            "Code by number of checks",
            "checks",
            "bytes (Turnip: words)",
            "code",
        ),
        _ => return None,
    };
    Some((file, Plot { title, x, y, metric }))
}
