//! The command reference of the guide, `docs/src/command.md`: a page of Markdown with every subcommand and option.

use crate::args::Args;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

/// Environment variable: write the page instead of comparing it. `cargo xtask generate` sets it.
const BLESS: &str = "VKABORT_BLESS";

/// Text as Markdown outside of code.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

/// How an argument is written: `-o, --output <OUT.spv>`.
fn usage(arg: &Arg) -> String {
    let mut words: Vec<String> = arg.get_short().map(|short| format!("-{short}")).into_iter().collect();
    words.extend(arg.get_long().map(|long| format!("--{long}")));
    let mut text = words.join(", ");
    if arg.is_positional() || arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default();
        let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
        text = format!("{text} {}", values.join(" ")).trim_start().to_owned();
    }
    // GFM splits cells at a pipe in code, too.
    text.replace('|', "\\|")
}

/// The help of an argument, its values and its default.
fn effect(arg: &Arg) -> String {
    let mut text = escaped(&arg.get_help().map(ToString::to_string).unwrap_or_default());
    if arg.get_action().takes_values() && !arg.is_hide_possible_values_set() {
        for value in arg.get_possible_values() {
            let _ = match value.get_help() {
                Some(help) => write!(text, "<br>`{}`: {}", value.get_name(), escaped(&help.to_string())),
                None => write!(text, "<br>`{}`", value.get_name()),
            };
        }
    }
    if let Some(default) = arg
        .get_default_values()
        .first()
        .filter(|_| arg.get_action().takes_values())
    {
        let _ = write!(text, "<br>default: `{}`", default.to_string_lossy());
    }
    text
}

/// The section of a subcommand. Options that every command has are left out.
fn section(command: &Command, out: &mut String) {
    let name = command.get_name();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(
        out,
        "## vkabort {name}\n\n{}.\n",
        escaped(&about).trim_end_matches(['.', ',', ' '])
    );
    let rows: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    if !rows.is_empty() {
        out.push_str("| argument | effect |\n| --- | --- |\n");
        for arg in rows {
            let _ = writeln!(out, "| `{}` | {} |", usage(arg), effect(arg));
        }
        out.push('\n');
    }
    if let Some(more) = command.get_after_help() {
        let _ = writeln!(out, "```text\n{}\n```\n", more.to_string().trim_end());
    }
}

fn page() -> String {
    let command = Args::command();
    let mut out =
        String::from("<!-- Generated from the command's arguments by `cargo xtask generate`. -->\n# The command\n\n");
    let _ = writeln!(
        out,
        "{}.\n",
        escaped(&command.get_about().map(ToString::to_string).unwrap_or_default())
    );
    let _ = writeln!(
        out,
        "Every subcommand also has `--color <WHEN>` (`auto`, `always` or `never`), `--help` and `--version`.\n"
    );
    if let Some(more) = command.get_after_help() {
        let _ = writeln!(out, "```text\n{}\n```\n", more.to_string().trim_end());
    }
    for command in command.get_subcommands() {
        section(command, &mut out);
    }
    out.trim_end().to_owned() + "\n"
}

#[test]
fn the_guide_has_the_current_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/command.md");
    let page = page();
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, &page).expect("docs/src is writable");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/src/command.md is out of date: run `cargo xtask generate`"
    );
}
