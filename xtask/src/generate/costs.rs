//! The costs in the guide, from the results of the benchmarks.

use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use vkabort_test_kit::root;

const INTRODUCTION: &str = "\
<!-- Generated from `bench/RESULTS.md` by `cargo xtask generate`. -->
# What it costs

A module without aborts is not rewritten. A module with aborts is rewritten when the program creates it, and its code grows: with
the first check by the code that writes a message, then by a few instructions for each further one. An abort itself may be slow: it
happens once, and the device is lost.

The benchmarks compare the layer with the same shader in other variants:

| variant | a check that fails |
| --- | --- |
| no check | is not there |
| return | lets the invocation return |
| layer | aborts; the layer rewrites the shader |
| by value | the same, but large values are loaded before they are copied |
| native | aborts; the driver supports the extension itself |
| debugPrintf | prints with debugPrintf, which the validation layer implements, and returns |

*Executed* results are from drivers that run shaders on the CPU. *Only compiled* results are from drivers of GPUs, which compile without
a GPU. No result is from a shader on a GPU. Compare ratios, not times. *Code* is machine code, *waves* are the subgroups that fit on a
core at once, *spills* are registers that were moved to memory. The table also has the goals that are not met.
";

const END: &str = "
`bench/RESULTS.md` in the repository has every measurement, with the machine and the commit. `cargo xtask bench` repeats them.
";

/// The page.
///
/// # Errors
///
/// The results cannot be read, or do not have the expected form.
pub fn generate() -> Result<String> {
    page(&fs::read_to_string(root().join("bench/RESULTS.md"))?)
}

/// The table of goals, and each section with a plot.
fn page(results: &str) -> Result<String> {
    let mut sections = results.split("\n## ");
    let summary = sections.next().context("no summary")?;
    let mut out = format!("{INTRODUCTION}\n| | compared with | goal | result | |\n| --- | --- | --- | --- | --- |\n");
    for row in summary.lines().filter(|line| line.starts_with("| ")).skip(1) {
        // One line for each driver.
        writeln!(out, "{}", row.replace("; ", "<br>"))?;
    }
    for section in sections {
        let Some(picture) = section.lines().find(|line| line.starts_with("![")) else {
            continue;
        };
        let mut lines = section.lines().filter(|line| !line.is_empty());
        let title = lines.next().context("a section without a title")?;
        let explanation = lines.next().context("a section without an explanation")?;
        // The plots are in the guide's folder.
        let picture = picture.replace("../docs/src/", "");
        writeln!(out, "\n## {title}\n\n{explanation}\n\n{picture}")?;
    }
    Ok(out + END)
}

#[test]
fn the_page_has_the_table_and_the_plots() -> Result<()> {
    let results = "# Results\n\nx\n\n| | against |\n|---|---|\n| a | x: 1; y: 2 |\n\n## T\n\nWall time.\n\n| | b |\n\n## P\n\nSize.\n\n![p](../docs/src/p.svg)\n";
    let page = page(results)?;
    assert!(
        page.contains("| --- |\n| a | x: 1<br>y: 2 |\n\n## P\n\nSize.\n\n![p](p.svg)\n"),
        "{page}"
    );
    assert!(!page.contains("## T"), "{page}");
    Ok(())
}
