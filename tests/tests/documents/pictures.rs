//! The pictures of reports equal the output of the command.

use crate::BLESS;
use crate::shell::{Shell, with_hash};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::fs;
use vkabort_test_kit::root;

/// Text in the lines that [`with_numbers`] numbers, in the order of the list in `docs/src/reports.md`.
const PARTS: [&str; 8] = [
    "shader aborted:",
    "-->",
    "^^^",
    "entry point",
    "= pipeline",
    "= command",
    "= invocation",
    "1 shader invocation aborted",
];
/// Position of the first line and distance of lines in a picture of `anstyle_svg`, in pixels.
const FIRST_LINE: usize = 28;
const LINE_HEIGHT: usize = 18;

#[test]
fn the_pictures_are_the_output_of_the_example() -> Result<()> {
    let shell = Shell::new()?;
    shell.copy("examples/c")?;
    shell.run("glslang -V -gVS sum.comp -o sum.spv", 0)?;
    shell.run("cc main.c -o sum -lvulkan", 0)?;
    let run = |color: &str| {
        let output = shell.run(
            &format!("vkabort run --color {color} ./sum sum.spv 2>&1 >/dev/null"),
            90,
        )?;
        let output = with_hash(&output, "04d25cb85928e4ce");
        Ok::<_, anyhow::Error>(format!("$ vkabort run ./sum sum.spv\n{}", output.trim_end()))
    };
    let picture = anstyle_svg::Term::new()
        .palette(anstyle_svg::WIN10_CONSOLE)
        .render_svg(&run("always")?);
    compare("report.svg", &picture)?;
    compare("report-parts.svg", &with_numbers(&picture, &run("never")?)?)
}

/// Numbers the parts of a report at the end of their lines.
fn with_numbers(picture: &str, text: &str) -> Result<String> {
    let (width, rest) = picture
        .strip_prefix("<svg width=\"")
        .and_then(|rest| rest.split_once("px\""))
        .context("the picture has no width")?;
    let mut marks =
        String::from("  <g font-family=\"sans-serif\" font-size=\"12\" font-weight=\"bold\" text-anchor=\"middle\">\n");
    let mut lines = text.lines().enumerate();
    for (part, words) in PARTS.iter().enumerate() {
        let (line, content) = lines.find(|(_, line)| line.contains(words)).context(*words)?;
        // A character of the picture's fonts is at most 8.5 pixels wide.
        let (x, y) = (30 + content.len() * 17 / 2, FIRST_LINE - 5 + line * LINE_HEIGHT);
        writeln!(marks, "    <circle cx=\"{x}\" cy=\"{y}\" r=\"8.5\" fill=\"#F9F1A5\" />")?;
        writeln!(
            marks,
            "    <text x=\"{x}\" y=\"{}\" fill=\"#0C0C0C\">{}</text>",
            y + 4,
            part + 1
        )?;
    }
    marks += "  </g>\n";
    let rest = rest.replacen("</svg>", &format!("{marks}</svg>"), 1);
    Ok(format!("<svg width=\"{}px\"{rest}", width.parse::<usize>()? + 40))
}

fn compare(name: &str, picture: &str) -> Result<()> {
    let path = root().join("docs/src").join(name);
    if std::env::var_os(BLESS).is_some() {
        fs::write(&path, picture)?;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    ensure!(
        stored == picture,
        "docs/src/{name} is out of date: run `cargo xtask picture`"
    );
    Ok(())
}
