//! Compares a workgroup with and without the checks of shared memory.

use super::inputs::{STEPS, plant, planting};
use super::run;
use crate::choices::Choices;
use crate::generate::{OUT, Unsound};
use crate::interpret::{AccessKind, InvocationEnd, Race, Setup, WorkgroupRun, run_workgroup};
use crate::module::Module;
use std::collections::HashMap;
use vkabort_instrument::{Check, Checks};
use vkabort_record::shared_access::SharedAccessKind;
use vkabort_record::site::SiteTable;

/// Counts of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkgroupSummary {
    /// Programs in which the interpreter finds nothing.
    pub sound: u32,
    /// Programs in which it finds a race, or invocations that miss a barrier.
    pub unsound: u32,
    /// Reports, each of which is of something that the interpreter has found.
    pub reports: u32,
}

/// Plants `races` and `barriers` into a program, and runs it beside the program itself, each in an order of its own. Where the
/// interpreter finds nothing, both are silent and the results are the same. Where it finds a race, there is a report, and each names two
/// accesses that race. Where it finds that some invocations miss a barrier, the first report has the barrier and the numbers.
///
/// # Errors
///
/// The first difference found.
pub fn check_workgroup(
    words: &[u32],
    invocations: u32,
    unsound: Unsound,
    choices: &mut Choices,
    summary: &mut WorkgroupSummary,
) -> Result<(), String> {
    let original = Module::parse(words).ok_or("the program is malformed")?;
    let expected = run_one(&original, invocations, choices)?;
    let options = planting(match unsound {
        Unsound::Never => Checks::of([Check::Races, Check::Barriers]),
        Unsound::Races => Checks::of([Check::Races]),
        Unsound::Barriers => Checks::of([Check::Barriers]),
    });
    let (checked, sites) = plant(words, &options)?;
    let found = run_one(&checked, invocations, choices)?;
    let reports = reports(&found, &sites)?;
    summary.reports += reports.len() as u32;
    let is_sound = match unsound {
        Unsound::Never => expected.races.is_empty() && expected.divergences.is_empty(),
        Unsound::Races => expected.races.is_empty(),
        Unsound::Barriers => expected.divergences.is_empty(),
    };
    if is_sound {
        summary.sound += 1;
        // A plain load beside an atomic is silent, too, and reads this or that.
        let is_equal = equal(&expected, &found) || unsound == Unsound::Races && expected.has_atomics;
        return match (reports.first(), is_equal) {
            (Some(report), _) => Err(format!("{report:?} of a sound program")),
            (None, false) => Err("other results".to_owned()),
            (None, true) => Ok(()),
        };
    }
    summary.unsound += 1;
    match (unsound, reports.first()) {
        (Unsound::Never, _) => Err(format!(
            "it is not sound: {:?} {:?}",
            expected.races, expected.divergences
        )),
        // Behind an atomic, an invocation reports nothing: others may have ordered it.
        (Unsound::Races, None) if expected.has_atomics || !expected.has_certain_race => Ok(()),
        (_, None) => Err(format!("no report of {:?} {:?}", expected.races, expected.divergences)),
        (Unsound::Races, Some(_)) => reports.iter().try_for_each(|report| is_race(report, &expected)),
        (Unsound::Barriers, Some(first)) => {
            let arrivals = expected.divergences.first().map_or(&[][..], Vec::as_slice);
            let is_one = arrivals
                .iter()
                .any(|at| at.offset == first.offset && [at.reached, at.of] == first.values);
            match is_one {
                true => Ok(()),
                false => Err(format!("{first:?} first, expected one of {arrivals:?}")),
            }
        }
    }
}

fn run_one(module: &Module, invocations: u32, choices: &mut Choices) -> Result<WorkgroupRun, String> {
    let entry = module.entries.first().ok_or("no entry point")?;
    let setup = Setup {
        buffers: run::buffers(&vec![0; invocations as usize]),
        specialization: HashMap::new(),
        physical: Vec::new(),
        // Of all invocations, for each of which the check of races has loops.
        steps: 10 * STEPS,
    };
    run_workgroup(module, entry, setup, invocations, choices).map_err(|error| error.to_string())
}

fn equal(one: &WorkgroupRun, other: &WorkgroupRun) -> bool {
    let results = |run: &WorkgroupRun| run.buffers.iter().find(|(binding, _)| *binding == OUT).cloned();
    results(one) == results(other) && one.ends.len() == other.ends.len()
}

/// A report of a check.
#[derive(Debug)]
struct Report {
    invocation: u32,
    /// Word offset of the instruction in the program.
    offset: usize,
    text: String,
    /// Of a race, the other invocation and this one; of a barrier, the invocations that reached it, and of how many.
    values: [u32; 2],
    /// Of a race, the kind of the other access, and whether it is one of several.
    other: Option<(AccessKind, bool)>,
}

/// The reports of a run, the first one first.
fn reports(run: &WorkgroupRun, table: &SiteTable) -> Result<Vec<Report>, String> {
    let mut reports = Vec::new();
    for (invocation, end) in &run.ends {
        let InvocationEnd::Aborted { site, message } = end else {
            continue;
        };
        let site = table.sites.get(*site as usize).ok_or("not a site")?;
        let text = site.text.clone().unwrap_or_default();
        let values = message
            .bytes()
            .get((text.len() + 1).next_multiple_of(4)..)
            .unwrap_or_default();
        let values = crate::words::from_bytes(values);
        let kind = |access: u32| match table.shared_accesses.get(access as usize)?.kind {
            SharedAccessKind::Load => Some(AccessKind::Load),
            SharedAccessKind::Store => Some(AccessKind::Store),
            SharedAccessKind::Atomic => Some(AccessKind::Atomic),
        };
        let (values, other) = match *values {
            [reached, of] => ([reached, of], None),
            [other, access, own] => ([other, own], kind(access).map(|kind| (kind, false))),
            [other, access, others, own] => ([other, own], kind(access).map(|kind| (kind, others > 0))),
            _ => return Err(format!("`{text}` has the values {values:?}")),
        };
        reports.push(Report {
            invocation: *invocation,
            offset: site.word_offset as usize,
            text,
            values,
            other,
        });
    }
    Ok(reports)
}

/// Whether a report is of accesses that race.
fn is_race(report: &Report, expected: &WorkgroupRun) -> Result<(), String> {
    let [other, own] = report.values;
    // Of several that read, the report names one, which may be its own invocation.
    let (kind, is_any) = report
        .other
        .ok_or_else(|| format!("`{}` says nothing of an access", report.text))?;
    let is_reported = |(before, access): &&Race| {
        (access.invocation, access.offset) == (own, report.offset)
            && before.kind == kind
            && (is_any || before.invocation == other)
    };
    match own == report.invocation && expected.races.iter().any(|race| is_reported(&race)) {
        true => Ok(()),
        false => Err(format!("{report:?} is none of {:?}", expected.races)),
    }
}
