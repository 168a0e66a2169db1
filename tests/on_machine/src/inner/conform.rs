//! `vkabort conform`, check by check, so that what was checked counts when the time is over.

use super::Inner;
use super::clock::OVER;
use crate::results::Line;
use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::process::Command;
use std::time::Duration;
use vkabort_tests::harness::{Ended, Placement, Scratch, environment, run_within};

/// What a check may take, one that is done twice included.
const CHECK: Duration = Duration::from_secs(20);

/// The checks of a group, of the layer's implementation.
pub(super) fn of_the_layer(inner: &mut Inner, group: &str) -> Result<()> {
    run(inner, &format!("{group}."), true)
}

/// All checks, of the driver's own implementation.
pub(super) fn of_the_driver(inner: &mut Inner) -> Result<()> {
    if !inner.native {
        let reason = "the driver does not have the extensions itself".to_owned();
        return inner.end(&Line::Skipped("conform, the driver's own".to_owned(), reason));
    }
    run(inner, "", false)
}

fn run(inner: &mut Inner, group: &str, emulated: bool) -> Result<()> {
    let list = call(inner, &["--list", "--json"], CHECK)?;
    ensure!(list.status.success(), "{}", list.said());
    let list: Vec<Json> = serde_json::from_str(&list.stdout).context("the list of checks")?;
    let names = list.iter().filter_map(|check| check["name"].as_str());
    for name in names.filter(|name| name.starts_with(group)) {
        let Some(limit) = inner.clock.share(CHECK) else {
            inner.end(&Line::Skipped(name.to_owned(), OVER.to_owned()))?;
            continue;
        };
        inner.start(name)?;
        let line = check(inner, name, emulated, limit);
        let line = line.unwrap_or_else(|error| Line::Failed(name.to_owned(), format!("{error:#}")));
        inner.end(&line)?;
    }
    Ok(())
}

/// A single check.
fn check(inner: &mut Inner, name: &str, emulated: bool, limit: Duration) -> Result<Line> {
    // What hangs is to be said by the one who knows what it was.
    let own = limit.as_secs().saturating_sub(3).max(1) / 2;
    let seconds = own.max(1).to_string();
    let mut words = vec!["--json", "--limit", &seconds, "--filter", name];
    let library = inner.carried.layer.library.display().to_string();
    if emulated {
        words.extend(["--emulated", "--layer", &library]);
    }
    let ended = call(inner, &words, limit)?;
    let document: Json = serde_json::from_str(&ended.stdout).with_context(|| ended.said())?;
    // Others may have this name in theirs.
    let results = document["results"].as_array().context("no results in the document")?;
    let result = results.iter().find(|result| result["name"] == name);
    let result = result.with_context(|| format!("no result\n{}", ended.said()))?;
    let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let (name, detail) = (name.to_owned(), text("detail"));
    Ok(match text("outcome").as_str() {
        "pass" => Line::Passed(name),
        "warn" => {
            inner.fact(format!("warning: {name}: {detail}"))?;
            Line::Passed(name)
        }
        "skip" => Line::Skipped(name, detail),
        outcome => Line::Failed(name, format!("{outcome}: {detail}\n{}", text("sentence"))),
    })
}

fn call(inner: &Inner, words: &[&str], limit: Duration) -> Result<Ended> {
    let carried = &inner.carried;
    let scratch = Scratch::below(&carried.processes())?;
    let environment = environment(None, &carried.layer, Placement::WithoutLayer, &scratch.0)?;
    let mut command: Command = environment.command(&carried.command())?;
    command.arg("conform").args(["--device", &inner.device]).args(words);
    command.env("TMPDIR", &scratch.0);
    run_within(&mut command, limit, &scratch.0)
}
