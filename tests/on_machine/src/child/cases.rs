//! Runs end-to-end cases one at a time: a case that loses the device would break others on the same GPU.

use super::context::PartContext;
use super::time_budget::OUT_OF_TIME;
use crate::parts::family;
use crate::results::Line;
use anyhow::Result;
use vkabort_tests::case::{Case, Schedule};
use vkabort_tests::cases;
use vkabort_tests::harness::{Job, Outcome, Placement, Target};

pub(super) fn on_the_machine(context: &mut PartContext, wanted: &str) -> Result<()> {
    let target = context.unpacked.target(Some(&context.device), &context.settings);
    run(context, &target, |case| {
        family(case) == wanted && case.driver.is_none() && case.schedule == Schedule::Always
    })
}

pub(super) fn on_the_own_driver(context: &mut PartContext, wanted: &str) -> Result<()> {
    let target = context.unpacked.target(None, &[]);
    run(context, &target, |case| family(case) == wanted && case.driver.is_some())
}

/// Runs the cases that make the driver lose the device. Prints their findings even if they pass.
pub(super) fn traps(context: &mut PartContext, wanted: &str) -> Result<()> {
    let target = context.unpacked.target(Some(&context.device), &context.settings);
    run(context, &target, |case| {
        family(case) == wanted && case.schedule == Schedule::OnRequest
    })
}

fn run(context: &mut PartContext, target: &Target, wanted: impl Fn(&Case) -> bool) -> Result<()> {
    let supported = context.unpacked.settings()?;
    for case in cases::all().into_iter().filter(wanted) {
        let name = case.name.to_owned();
        let Some(limit) = context.budget.share(case.limit) else {
            context.end(&Line::Skipped(name, OUT_OF_TIME.to_owned()))?;
            continue;
        };
        if let Some(missing) = case.settings.iter().find(|(key, _)| !supported.contains(*key)) {
            let reason = format!("the layer has no setting {}", missing.0);
            context.end(&Line::Skipped(name, reason))?;
            continue;
        }
        context.start(&name)?;
        let job = Job {
            case,
            target: target.clone(),
            placement: Placement::without_validation(case.layers),
        };
        let line = match job.run(limit) {
            Ok(Outcome::Passed(findings)) => {
                if case.schedule == Schedule::OnRequest {
                    for line in findings.lines() {
                        context.fact(line)?;
                    }
                }
                Line::Passed(name)
            }
            Ok(Outcome::Skipped(reason)) => Line::Skipped(name, reason),
            Err(error) => Line::Failed(name, format!("{error:#}")),
        };
        context.end(&line)?;
    }
    Ok(())
}
