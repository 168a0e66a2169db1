//! Cases of the end-to-end suite, one after the other: two at a time would share a GPU that one of them loses.

use super::Inner;
use super::clock::OVER;
use crate::parts::family;
use crate::results::Line;
use anyhow::Result;
use vkabort_tests::case::{Case, Only};
use vkabort_tests::cases;
use vkabort_tests::harness::{Job, Outcome, Placement, Stand};

pub(super) fn on_the_machine(inner: &mut Inner, wanted: &str) -> Result<()> {
    let stand = inner.carried.stand(Some(&inner.device), &inner.settings);
    run(inner, &stand, |case| {
        family(case) == wanted && case.driver.is_none() && case.only == Only::Always
    })
}

pub(super) fn on_the_own_driver(inner: &mut Inner, wanted: &str) -> Result<()> {
    let stand = inner.carried.stand(None, &[]);
    run(inner, &stand, |case| family(case) == wanted && case.driver.is_some())
}

/// What the traps find out is said even where they hold: it is what they are run for.
pub(super) fn traps(inner: &mut Inner, wanted: &str) -> Result<()> {
    let stand = inner.carried.stand(Some(&inner.device), &inner.settings);
    run(inner, &stand, |case| {
        family(case) == wanted && case.only == Only::WhenAsked
    })
}

fn run(inner: &mut Inner, stand: &Stand, wanted: impl Fn(&Case) -> bool) -> Result<()> {
    let known = inner.carried.settings()?;
    for case in cases::all().into_iter().filter(wanted) {
        let name = case.name.to_owned();
        let Some(limit) = inner.clock.share(case.limit) else {
            inner.end(&Line::Skipped(name, OVER.to_owned()))?;
            continue;
        };
        if let Some(missing) = case.settings.iter().find(|(key, _)| !known.contains(*key)) {
            let reason = format!("the layer has no setting {}", missing.0);
            inner.end(&Line::Skipped(name, reason))?;
            continue;
        }
        inner.start(&name)?;
        let job = Job {
            case,
            stand: stand.clone(),
            placement: Placement::without_validation(case.layers),
        };
        let line = match job.run(limit) {
            Ok(Outcome::Passed(said)) => {
                if case.only == Only::WhenAsked {
                    for line in said.lines() {
                        inner.fact(line)?;
                    }
                }
                Line::Passed(name)
            }
            Ok(Outcome::Skipped(reason)) => Line::Skipped(name, reason),
            Err(error) => Line::Failed(name, format!("{error:#}")),
        };
        inner.end(&line)?;
    }
    Ok(())
}
