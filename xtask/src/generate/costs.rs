//! The costs in the guide, from the results of the benchmarks.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use vkabort_test_kit::root;

const INTRODUCTION: &str = "\
<!-- Generated from `bench/RESULTS.md` by `cargo xtask generate`. -->
# Costs

A module without aborts is not rewritten. A module with aborts is rewritten when the program creates it, and its code grows: the first check
adds the code that writes a message, each further one a few instructions. An abort itself may be slow: it happens once, and the device is
lost.

The benchmarks compare the layer with the same shader in other variants:

| variant | a check that fails |
| --- | --- |
| no check | is not there |
| return | lets the invocation return |
| count | is counted by an atomic addition, and the invocation returns |
| layer | aborts; the layer rewrites the shader |
| by value | the same, but large values are loaded before they are copied |
| native | aborts; the driver supports the extension itself |
| debugPrintf | prints with debugPrintf, which the validation layer implements, and returns |
| debugPrintf, 1 MiB | the same, with a buffer as large as the layer's; by default it has 1 KiB |

*Executed* results are from drivers that run shaders on the CPU. *Only compiled* results are from drivers of GPUs, which compile without
a GPU. None is from a shader that ran on a GPU: those are in `bench/gpu` in the repository. Compare ratios, not times. A result is the
median of all drivers and shaders, with the range or the worst; 2 times means twice the value that it is compared with. *Code* is machine
code, *waves* are the subgroups that fit on a core at once, *spills* are registers that were moved to memory. The table also has the goals
that are not met.
";

const END: &str = "
## Reasons for missed goals

The times in this section were measured by hand on 2026-11-27, on the machine of the benchmark beside other work. They explain rows of the
table, and `cargo xtask bench` does not repeat them.

- *A check that is never taken*, on lavapipe 22.3 and SwiftShader: they execute the code behind a failed test each time, with no invocation
  active. A loop with 46 stores and atomic additions that are never reached took 1543 ms in place of 77 on lavapipe 22.3, and 1885 ms in
  place of 315 on SwiftShader. It made little difference whether they stood behind a branch, a loop or a `switch`, or behind a branch or
  loop on `subgroupAny`. Lavapipe 25 skips such code: 66 ms in place of 54.
- The same on lavapipe 25 and Mesa 26: they execute a block that does not branch, and jump over one that does. So an abort in a loop has a
  branch of its own there. On Mesa 26, a loop of 400 short iterations took 44 ms without a test and 84 ms with a test that returns. With a
  test that aborts it took 87 ms without this branch, and 46 ms with it. The rest of the cost, in a loop of ten instructions, is the test
  itself.
- *The default checks* therefore cost 1.01 times in the median on Mesa 26 and 1.03 times on lavapipe 25, at worst 1.20 and 1.06. On lavapipe
  22.3 and SwiftShader the median is 1.24 and 1.40, and the worst 1.94 and 2.57: a loop of 8 instructions, which also looks at its limits in
  each iteration. These are 15 shaders on each driver, from the part `checks` of the benchmark; medians of three runs differ by up to 0.07.
- *Tests in a row* share a branch, but on SwiftShader, where that takes longer (a loop with four: 1.38 times in place of 1.25).
- *A million invocations abort*, on Mesa 26: 8.2 ms, and 5.9 ms with room for a sixteenth of the 16,367 messages that are kept, where
  debugPrintf keeps 23. The additions that count exactly took 3.2 ms; the table has them as a row.
- *A print* is committed behind a barrier, and counted where there is no room, so that it survives the loss: debugPrintf has neither.
  Where its code takes waves, debugPrintf's takes the same, and it compiles as long. On SwiftShader it is executed though it is not
  taken, as above.
- *Memory*: the loader allocates two lists of 0.4 MiB for the active layers. Of the layer's own, 51 KB are in use.
- *GPU code*: a test and its abort add 52 instructions in the median (44 on RADV to 84 on turnip), however large the shader is. The loops of
  the table have 28 to 78, so that their code doubles; a shader of 160 grows to 1.3 times its size, one of 230 to 1.2. About 35 of them
  write the record in RADV's code for RDNA 3: an atomic addition that reserves it, its address, and two stores of 16 bytes with invocation,
  site and operands. An abort of the shader's own adds 47 to a `return` in the median; at worst 270, in fragment shaders on Intel
  (`material.frag` has 62 with a `return`).
- *Waves* on Adreno 660: `regtile.comp` has 21 registers and six waves without a test, 26 and four with an abort. A planted check, prints
  and debugPrintf have 32 registers, and four waves, too.
- *A rewrite* of 400 words: more than half of the time is the lowering of aborts, and a fifth of all the code that writes a record. With
  the default checks a third is planting, and more than half of that the analysis of loops, conditions and memory (four modules of Slang).
- *Races* on Mesa 26: each access calls a function with an atomic operation on the record of its scalar. This takes 1.15 times as long as
  under GPU-AV there, and about half as long on the other drivers.
- *The start of a program*: runs differ by more than the goal (-1.6 ms to 1.5 ms).
- *vkQueueSubmit*: the layer finds the device of the queue and locks the queue, to which it submits by itself after a loss. It counts the
  submission, and notes its fence and semaphores.

`bench/RESULTS.md` in the repository names the machine and the commit of each part. `cargo xtask bench` repeats the measurements and
writes all of them to `bench/results/tables.md`.
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
    let mut out = format!("{INTRODUCTION}\n| | compared with | result | goal | |\n| --- | --- | --- | --- | --- |\n");
    for row in summary.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, measured, against, goal, result, kind, _] = cells[..] else {
            bail!("not a row of the results: {row}");
        };
        let (result, goal) = (
            in_words(result).with_context(|| row.to_owned())?,
            goal.replace('x', " times"),
        );
        writeln!(out, "| {measured} | {against} | {result} | {goal} | {kind} |")?;
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

/// A result in words: `median 2x of 3 pairs, worst 4x (driver, shader)`, `1 of 3 pairs: names`, or a list of values.
fn in_words(result: &str) -> Result<String> {
    if let Some(ratios) = result.strip_prefix("median ") {
        let (median, rest) = ratios.split_once("x of ").context("no median")?;
        let (count, worst) = rest.split_once(" pairs, worst ").context("no worst pair")?;
        let worst = worst.replacen('x', " times", 1);
        return Ok(format!("{median} times, at worst {worst}, in {count} comparisons"));
    }
    if let Some((counts, names)) = result.split_once(" pairs") {
        let (worse, all) = counts.split_once(" of ").context("no number of pairs")?;
        return Ok(format!("worse in {worse} of {all} comparisons{names}"));
    }
    // Values of a subject: one for each driver.
    let mut subjects = BTreeMap::<&str, Vec<(f64, &str)>>::new();
    for item in result.split("; ") {
        let (name, value) = item.rsplit_once(": ").unwrap_or((item, ""));
        let Ok(number) = value.trim_end_matches(|c: char| !c.is_ascii_digit()).parse() else {
            // Not measured, or the reason.
            return Ok(result.to_owned());
        };
        let values = subjects.entry(name.split_once(", ").map_or("", |(_, subject)| subject));
        values.or_default().push((number, value));
    }
    let mut texts = Vec::new();
    for (subject, values) in &mut subjects {
        values.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let text = |value: &str| match value.strip_suffix('x') {
            Some(number) => format!("{number} times"),
            None => value.to_owned(),
        };
        let [least, median, greatest] = [0, values.len() / 2, values.len() - 1].map(|index| text(values[index].1));
        texts.push(format!("{median} ({least} to {greatest}), {subject}"));
    }
    // A subject that all values have says nothing new.
    Ok(match &texts[..] {
        [text] => text
            .rsplit_once(", ")
            .map_or(text.as_str(), |(text, _)| text)
            .to_owned(),
        _ => texts.join("<br>"),
    })
}

#[test]
fn the_page_has_the_table_and_the_plots() -> Result<()> {
    let results = "# Results\n\nx\n\n| | against |\n|---|---|\n| a | b | 2x | d, s: 3x; e, s: 2x; f, s: 9x | executed |\n\n## T\n\nWall time.\n\n| | b |\n\n## P\n\nSize.\n\n![p](../docs/src/p.svg)\n";
    let page = page(results)?;
    let row = "| a | b | 3 times (2 times to 9 times) | 2 times | executed |";
    let expected = format!("| --- |\n{row}\n\n## P\n\nSize.\n\n![p](p.svg)\n");
    assert!(page.contains(&expected), "{page}");
    assert!(!page.contains("## T"), "{page}");
    Ok(())
}

#[test]
fn results_are_words() -> Result<()> {
    for (result, words) in [
        (
            "median 2x of 3 pairs, worst 4.5x (anv adl, a.frag)",
            "2 times, at worst 4.5 times (anv adl, a.frag), in 3 comparisons",
        ),
        ("0 of 3 pairs", "worse in 0 of 3 comparisons"),
        (
            "1 of 3 pairs: a, b (6 to 4)",
            "worse in 1 of 3 comparisons: a, b (6 to 4)",
        ),
        ("a: 24 ns; b: 25 ns", "25 ns (24 ns to 25 ns)"),
        (
            "d, x: 1 ms; d, y: 9 ms; e, x: 2 ms; e, y: 8 ms",
            "2 ms (1 ms to 2 ms), x<br>9 ms (8 ms to 9 ms), y",
        ),
        ("a: 3x", "3 times (3 times to 3 times)"),
        ("a: no memory", "a: no memory"),
        ("not measured", "not measured"),
    ] {
        assert_eq!(in_words(result)?, words);
    }
    Ok(())
}
