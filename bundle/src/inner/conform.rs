//! `vkabort conform`, group by group, so that what was checked counts when the time is over.

use super::Inner;
use super::clock::OVER;
use crate::results::Line;
use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::process::Command;
use std::time::Duration;
use vkabort_tests::harness::{Ended, Placement, Scratch, environment, run_within};

/// What a group of checks may take.
const GROUP: Duration = Duration::from_secs(25);
/// What a single check may take.
const CHECK: &str = "10";

pub(super) fn run(inner: &mut Inner, emulated: bool) -> Result<()> {
    let list = call(inner, &["--list", "--json"], GROUP)?;
    ensure!(list.status.success(), "{}", list.said());
    let list: Vec<Json> = serde_json::from_str(&list.stdout).context("the list of checks")?;
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for name in list.iter().filter_map(|check| check["name"].as_str()) {
        let group = name.split_inclusive('.').next().unwrap_or(name).to_owned();
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, names)) => names.push(name.to_owned()),
            None => groups.push((group, vec![name.to_owned()])),
        }
    }
    for (number, (group, names)) in groups.iter().enumerate() {
        let Some(limit) = inner.clock.share(GROUP) else {
            for name in names {
                inner.end(&Line::Skipped(name.clone(), OVER.to_owned()))?;
            }
            continue;
        };
        inner.start(group)?;
        let lines = match checks(inner, group, emulated, limit) {
            Ok(lines) => lines,
            Err(error) => vec![Line::Failed(group.clone(), format!("{error:#}"))],
        };
        let nothing = lines.iter().all(|line| matches!(line, Line::Skipped(..)));
        if number == 0 && !emulated && nothing {
            let reason = "the driver does not have the extensions itself".to_owned();
            return inner.end(&Line::Skipped("conform, the driver's own".to_owned(), reason));
        }
        lines.iter().try_for_each(|line| inner.end(line))?;
    }
    Ok(())
}

/// The checks of a group.
fn checks(inner: &Inner, group: &str, emulated: bool, limit: Duration) -> Result<Vec<Line>> {
    let mut words = vec!["--json", "--limit", CHECK, "--filter", group];
    let library = inner.carried.layer.library.display().to_string();
    if emulated {
        words.extend(["--emulated", "--layer", &library]);
    }
    let ended = call(inner, &words, limit)?;
    let document: Json = serde_json::from_str(&ended.stdout).with_context(|| ended.said())?;
    let text = |check: &Json, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let all = document["results"].as_array().context("no results in the document")?;
    let own = all.iter().filter(|check| text(check, "name").starts_with(group));
    Ok(own
        .flat_map(|check| {
            let (name, detail) = (text(check, "name"), text(check, "detail"));
            let warning = || Line::Fact(format!("warning: {name}: {detail}"));
            let warning = (text(check, "outcome") == "warn").then(warning);
            let line = match text(check, "outcome").as_str() {
                "pass" | "warn" => Line::Passed(name),
                "skip" => Line::Skipped(name, detail),
                outcome => Line::Failed(name, format!("{outcome}: {detail}\n{}", text(check, "sentence"))),
            };
            warning.into_iter().chain([line])
        })
        .collect())
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
