//! Runs `vkabort conform` check by check, so that finished checks count when the part times out.

use super::context::PartContext;
use super::time_budget::OUT_OF_TIME;
use crate::results::Line;
use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::time::Duration;
use vkabort_test_kit::supervise::Finished;
use vkabort_tests::harness::Placement;

/// Time limit of a check, including one that runs twice.
const CHECK: Duration = Duration::from_secs(20);

/// Checks the layer's implementation with one group of checks.
pub(super) fn of_the_layer(context: &mut PartContext, group: &str) -> Result<()> {
    run(context, &format!("{group}."), true)
}

/// Checks the driver's own implementation with all checks.
pub(super) fn of_the_driver(context: &mut PartContext) -> Result<()> {
    if !context.native {
        let reason = "the driver does not support the extensions itself".to_owned();
        return context.end(&Line::Skipped("conform, the driver's own".to_owned(), reason));
    }
    run(context, "", false)
}

fn run(context: &mut PartContext, group: &str, emulated: bool) -> Result<()> {
    let list = call(context, &["--list", "--json"], CHECK)?;
    ensure!(list.status.success(), "{}", list.output_tail());
    let list: Vec<Json> = serde_json::from_str(&list.stdout).context("the list of checks")?;
    let names = list.iter().filter_map(|check| check["name"].as_str());
    for name in names.filter(|name| name.starts_with(group)) {
        let Some(limit) = context.budget.share(CHECK) else {
            context.end(&Line::Skipped(name.to_owned(), OUT_OF_TIME.to_owned()))?;
            continue;
        };
        context.start(name)?;
        let line = check(context, name, emulated, limit);
        let line = line.unwrap_or_else(|error| Line::Failed(name.to_owned(), format!("{error:#}")));
        context.end(&line)?;
    }
    Ok(())
}

/// A single check.
fn check(context: &mut PartContext, name: &str, emulated: bool, limit: Duration) -> Result<Line> {
    // `vkabort conform` must time out before this process does: only it can name the check that hangs.
    let own = limit.as_secs().saturating_sub(3).max(1) / 2;
    let seconds = own.max(1).to_string();
    let mut words = vec!["--json", "--limit", &seconds, "--filter", name];
    let library = context.unpacked.layer.library.display().to_string();
    if emulated {
        words.extend(["--emulated", "--layer", &library]);
    }
    let finished = call(context, &words, limit)?;
    let document: Json = serde_json::from_str(&finished.stdout).with_context(|| finished.output_tail())?;
    // The filter matches substrings, so other checks may be in the results.
    let results = document["results"].as_array().context("no results in the document")?;
    let result = results.iter().find(|result| result["name"] == name);
    let result = result.with_context(|| format!("no result\n{}", finished.output_tail()))?;
    let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let (name, detail) = (name.to_owned(), text("detail"));
    Ok(match text("outcome").as_str() {
        "pass" => Line::Passed(name),
        "warn" => {
            context.fact(format!("warning: {name}: {detail}"))?;
            Line::Passed(name)
        }
        "skip" => Line::Skipped(name, detail),
        outcome => Line::Failed(name, format!("{outcome}: {detail}\n{}", text("sentence"))),
    })
}

fn call(context: &PartContext, words: &[&str], limit: Duration) -> Result<Finished> {
    let unpacked = &context.unpacked;
    unpacked.run(&unpacked.command(), Placement::WithoutLayer, limit, |command| {
        command.arg("conform").args(["--device", &context.device]).args(words);
    })
}
