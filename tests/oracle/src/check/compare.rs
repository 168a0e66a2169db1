//! Compares a module and its rewrite.

use super::inputs::{CheckOptions, STEPS, Subject};
use super::results::{CheckSummary, Failure};
use super::run::{self, Run, Schedule};
use super::{records, static_checks};
use crate::choices::Choices;
use crate::generate::{SPEC_LENGTH, SPEC_LENGTH_ID};
use crate::interpret::UndefinedValues;
use crate::interpret::{InterpretError, InvocationEnd, LoopBudget, Physical, Region};
use crate::module::{Entry, Module};
use crate::words::to_bytes;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use vkabort_instrument::{
    Arena, Check, Checks, DEFAULT_VALUES_SIZE, ErrorKind, Hooks, Instrumented, LoopPoll, LoopTimeout, LoweredFeatures,
    Options, Outcome, Place, Sanitize, Trap, Unplanted, Values, instrument_with,
};
use vkabort_record::layout::{CONTROL_BYTES, TIMEOUT_TICKS, UNIT_BYTES, minimum_capacity};
use vkabort_record::site::{Site, SiteTable};

/// Address of the arena in the interpreter. High bits are set, so that swapped halves are detected.
const ADDRESS: u64 = 0x0123_4567_89A0_0000;
/// The address if the control block is elsewhere: the records cross a multiple of 4 GiB.
const CROSSING_ADDRESS: u64 = 0x0123_4567_FFFF_F800;
/// Address of a separate control block, whose counters cross one too. So far away that no offset from the arena reaches it.
const CONTROL_ADDRESS: u64 = 0x0FED_CBA9_FFFF_FE40;
/// Capacity in units of an arena that holds all records.
const ROOMY: u32 = 4096;
/// The time that loops may run, which only messages show.
const MILLISECONDS: u32 = 500;
/// Address of constant data that the rewrite reads from memory.
const CONSTANTS_ADDRESS: u64 = 0x0246_8ACE_13F0_0000;
/// Bytes from one place for constant data to the next: more than the largest data, so that reads beyond its end are found.
const CONSTANTS_STRIDE: u64 = 1 << 20;
/// A rewriter like [`instrument_with`], with the hook that places constant data.
pub type Rewriter<'a> = &'a dyn Fn(&[u32], &Options, &mut Place<'_>) -> vkabort_instrument::Result<Outcome>;

/// Checks a generated module, with or without planted aborts, also between passes.
///
/// # Errors
///
/// The first difference found.
pub fn check(subject: Subject<'_>, choices: &mut Choices) -> Result<CheckSummary, Failure> {
    let module = Module::parse(subject.words).ok_or("the module cannot be parsed")?;
    let aborts = Cell::new(static_checks::count_aborts(&module));
    let first_error = RefCell::new(None);
    let rewriter = |words: &[u32], options: &Options, place: &mut Place<'_>| {
        let mut after_pass = |pass, words: &[u32]| {
            if pass == "sanitize" {
                aborts.set(Module::parse(words).map_or(0, |module| static_checks::count_aborts(&module)));
            }
            if let Err(error) = static_checks::check_form(words, aborts.get()) {
                first_error.borrow_mut().get_or_insert(format!("after {pass}: {error}"));
            }
        };
        let mut not_sanitized = |reason: Unplanted<'_>| {
            first_error
                .borrow_mut()
                .get_or_insert(format!("not sanitized: {reason}"));
        };
        let hooks = Hooks {
            after_pass: Some(&mut after_pass),
            place: Some(place),
            not_sanitized: Some(&mut not_sanitized),
            ..Hooks::default()
        };
        let outcome = instrument_with(words, options, hooks);
        // A module that is refused with its checks is refused without them, after passes that see fewer aborts.
        if outcome.is_err() {
            first_error.take();
        }
        outcome
    };
    let summary = check_rewriter(subject, choices, &rewriter);
    match first_error.into_inner() {
        Some(error) => Err(error.into()),
        None => summary,
    }
}

/// [`check`] with another rewriter, such as one that is broken on purpose.
///
/// # Errors
///
/// The first difference found.
pub fn check_rewriter(
    subject: Subject<'_>,
    choices: &mut Choices,
    rewriter: Rewriter<'_>,
) -> Result<CheckSummary, Failure> {
    let module = Module::parse(subject.words).ok_or("the module is malformed")?;
    let mut summary = CheckSummary::default();
    let polls = [LoopPoll::Off, LoopPoll::Auto, LoopPoll::All];
    let mut arena = Arena::at(ADDRESS, CONTROL_BYTES + ROOMY * UNIT_BYTES);
    if choices.chance(50) {
        arena = Arena::at(CROSSING_ADDRESS, CONTROL_BYTES + ROOMY * UNIT_BYTES).with_control(CONTROL_ADDRESS);
    }
    // The loop of a hang is bounded, because no host clears ABORTED here.
    let trap = match choices.chance(15) {
        true => Trap::Hang,
        false => Trap::Return,
    };
    let options = Options {
        arena,
        trap,
        hang_iterations: 5,
        loop_poll: choices.pick(&polls).unwrap_or_default(),
        values: choices
            .pick(&[Values::On, Values::Auto, Values::Off])
            .unwrap_or_default(),
        values_size: choices
            .pick(&[DEFAULT_VALUES_SIZE, 8, 240])
            .unwrap_or(DEFAULT_VALUES_SIZE),
        sanitize: sanitize(subject),
        // Not a choice of its own, so that the other choices stay those of earlier inputs.
        compact_records: subject.words.len().is_multiple_of(2),
        loop_exits: if subject.words.len().is_multiple_of(3) { 1 } else { 16 },
        branches_at_exits: subject.words.len().is_multiple_of(5),
        breaks_at_starts: subject.words.len().is_multiple_of(2),
        ..Options::default()
    };
    let Some((rewritten, constants)) = rewrite(rewriter, subject.words, &options)? else {
        summary.refused += 1;
        return Ok(summary);
    };
    let failure = |rewritten: &Instrumented, difference| Failure {
        difference,
        rewrite: Some(rewritten.words.clone()),
    };
    let result = Module::parse(&rewritten.words).ok_or("the rewrite is malformed")?;
    static_checks::compare(&module, &rewritten, &result).map_err(|e| failure(&rewritten, e))?;
    let mut specialization = HashMap::new();
    if choices.chance(50) {
        specialization.insert(
            SPEC_LENGTH_ID,
            choices.between(*SPEC_LENGTH.start(), *SPEC_LENGTH.end()),
        );
    }
    let budget = budget(subject, &options.sanitize, &rewritten.sites);
    let mut options = CheckOptions {
        rewrite: options,
        constants,
        specialization,
        budget,
        keeps_frames: false,
        undefined: UndefinedValues::Refused,
    };
    run_all(
        subject,
        &module,
        &rewritten,
        &result,
        &options,
        Some(choices),
        &mut summary,
    )
    .map_err(|e| failure(&rewritten, e))?;
    // Without an arena there is no clock.
    if subject.loop_budget.is_some() && options.rewrite.sanitize.loop_timeout.is_none() {
        run_planted(subject, &module, rewriter, &options, choices)?;
    }
    if choices.chance(40) {
        if choices.chance(60) {
            // A small arena, in which some records find no room. Loop polling is off because a full arena ends watching loops.
            let longest = rewritten
                .sites
                .sites
                .iter()
                .map(|s| s.message.size() + options.rewrite.values_size)
                .max()
                .unwrap_or(0);
            options.rewrite.arena.capacity = minimum_capacity(longest.max(160 * 9)) + choices.below(12);
            options.rewrite.loop_poll = LoopPoll::Off;
            // With other array lengths, a message may be larger than the arena.
            options.specialization.clear();
        } else {
            options.rewrite.max_sites = Some(choices.below(4));
        }
        let rewritten = rewrite(rewriter, subject.words, &options.rewrite)?
            .ok_or("the rewriter refuses an array that it accepted with other options")?;
        let (rewritten, constants) = rewritten;
        options.constants = constants;
        let result = Module::parse(&rewritten.words).ok_or("the rewrite is malformed")?;
        run_all(subject, &module, &rewritten, &result, &options, None, &mut summary)
            .map_err(|e| failure(&rewritten, e))?;
    }
    Ok(summary)
}

fn sanitize(subject: Subject<'_>) -> Sanitize {
    let mut sanitize = Sanitize::default();
    if let Some(budget) = subject.loop_budget {
        // The loops of generated modules are all that the interpreter checks too.
        sanitize.checks = Checks::of([Check::Loops]);
        sanitize.loop_budget = budget;
        // Not a choice of its own, so that the other choices stay those of earlier inputs.
        sanitize.loop_timeout = subject.words.len().is_multiple_of(3).then_some(LoopTimeout {
            milliseconds: MILLISECONDS,
            interval: 1,
        });
    }
    sanitize
}

/// The planted sites as the original would have them: at its loops, with the text and its number as message. The clock of the
/// interpreter ticks at every look, and an invocation looks at every iteration: so the time is up in one iteration more than it has
/// ticks, unless the budget is used up first.
fn budget(subject: Subject<'_>, sanitize: &Sanitize, table: &SiteTable) -> Option<LoopBudget> {
    let budget = subject.loop_budget?;
    let is_timed = sanitize.loop_timeout.is_some() && budget > TIMEOUT_TICKS;
    let (iterations, number, start) = match is_timed {
        true => (TIMEOUT_TICKS, MILLISECONDS, "loop timeout"),
        false => (budget, budget, "loop budget"),
    };
    let message = |site: &Site| {
        let mut bytes = site.text.clone().unwrap_or_default().into_bytes();
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
        bytes.extend(number.to_le_bytes());
        Region::new(bytes)
    };
    let is_other = |site: &&Site| {
        let text = site.text.as_deref().unwrap_or_default();
        site.check.is_some() && !text.starts_with(start)
    };
    let sites = || table.sites.iter().filter(|site| !is_other(site));
    Some(LoopBudget {
        iterations,
        sites: sites().map(|site| (site.word_offset as usize, site.id.0)).collect(),
        messages: sites().map(|site| (site.id.0, message(site))).collect(),
    })
}

/// Runs the module with planted checks whose aborts are not lowered.
fn run_planted(
    subject: Subject<'_>,
    module: &Module,
    rewriter: Rewriter<'_>,
    options: &CheckOptions,
    choices: &mut Choices,
) -> Result<(), Failure> {
    let rewrite = Options {
        lowers: LoweredFeatures::default(),
        ..options.rewrite.clone()
    };
    let Ok(Outcome::Instrumented(planted)) = rewriter(subject.words, &rewrite, &mut |_| None) else {
        return Ok(());
    };
    let result = Module::parse(&planted.words).ok_or("the planted module is malformed")?;
    let unplanned = CheckOptions {
        rewrite,
        constants: Vec::new(),
        specialization: options.specialization.clone(),
        budget: None,
        keeps_frames: false,
        undefined: UndefinedValues::Refused,
    };
    for entry in &module.entries {
        let due = (0..run::INVOCATIONS).map(|_| choices.below(3)).collect();
        let schedule = Schedule::new(entry, due);
        let expected = match Run::original(module, &schedule, options, None, STEPS) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|e| format!("the original, entry point {}: {e}", entry.name))?,
        };
        let found = Run::original(&result, &schedule, &unplanned, None, STEPS * 20);
        let compared = found
            .map_err(|e| e.to_string())
            .and_then(|found| run::equal(&expected, &found));
        compared.map_err(|difference| Failure {
            difference: format!("planted, entry point {}: {difference}", entry.name),
            rewrite: Some(planted.words.clone()),
        })?;
    }
    Ok(())
}

/// Runs every entry point without aborts, then several times with each invocation aborting at some call of `due`; without
/// `choices`, at the first one.
fn run_all(
    subject: Subject<'_>,
    module: &Module,
    rewritten: &Instrumented,
    result: &Module,
    options: &CheckOptions,
    mut choices: Option<&mut Choices>,
    summary: &mut CheckSummary,
) -> Result<(), String> {
    for entry in &module.entries {
        let Some(ticks) = run_without_aborts(subject, module, result, entry, options, summary)? else {
            summary.too_long += 1;
            continue;
        };
        let rounds = if choices.is_some() { 3 } else { 1 };
        for _ in 0..rounds {
            let moment = |last: &u32| match &mut choices {
                Some(choices) => pick_tick(*last, choices),
                None => (*last).min(1),
            };
            let due = ticks.iter().map(moment).collect();
            run_with_aborts(module, rewritten, result, entry, options, due, summary)?;
        }
    }
    Ok(())
}

/// Returns the rewrite and its constant data in memory. `None` if a message has an array of specialised length that was loaded in
/// another block: its elements are not accessible.
fn rewrite(
    rewriter: Rewriter<'_>,
    words: &[u32],
    options: &Options,
) -> Result<Option<(Instrumented, Vec<Physical>)>, String> {
    let mut constants = Vec::new();
    let mut place = |data: &[u32]| {
        let address = CONSTANTS_ADDRESS + constants.len() as u64 * CONSTANTS_STRIDE;
        let region = Region::new(to_bytes(data));
        constants.push(Physical { address, region });
        Some(address)
    };
    match rewriter(words, options, &mut place) {
        Ok(Outcome::Instrumented(rewritten)) => Ok(Some((rewritten, constants))),
        Err(error) if error.kind == ErrorKind::UnsupportedArray => Ok(None),
        Ok(Outcome::Unchanged) => Err("the module was not rewritten".into()),
        Err(error) => Err(format!("the rewriter refuses it: {error}")),
    }
}

/// Call of `due` at which an invocation aborts, or 0 for never.
fn pick_tick(last: u32, choices: &mut Choices) -> u32 {
    if last == 0 || choices.chance(25) {
        0
    } else {
        choices.between(1, last)
    }
}

/// Runs without aborts. Returns the calls of `due` by each invocation; `None` if a run takes too many steps.
fn run_without_aborts(
    subject: Subject<'_>,
    module: &Module,
    result: &Module,
    entry: &Entry,
    options: &CheckOptions,
    summary: &mut CheckSummary,
) -> Result<Option<Vec<u32>>, String> {
    let schedule = Schedule::new(entry, vec![0; run::INVOCATIONS]);
    let original = match Run::original(module, &schedule, options, Some(subject.ticks), STEPS) {
        Err(InterpretError::StepLimit(_)) => return Ok(None),
        other => other.map_err(|e| format!("the original, entry point {}: {e}", entry.name))?,
    };
    let rewritten = Run::rewritten(result, &schedule, options, STEPS * 20)
        .map_err(|e| format!("the rewrite, entry point {}, no abort taken: {e}", entry.name))?;
    // An invocation aborts without calling `due` if every path aborts.
    run::same(&original, &rewritten, &schedule)?;
    summary.invocations += run::INVOCATIONS as u32;
    Ok(Some(original.ticks))
}

/// Runs with aborts at the calls of `due` in `due`.
fn run_with_aborts(
    module: &Module,
    rewritten: &Instrumented,
    result: &Module,
    entry: &Entry,
    options: &CheckOptions,
    due: Vec<u32>,
    summary: &mut CheckSummary,
) -> Result<(), String> {
    let schedule = Schedule::new(entry, due);
    let context = |difference: String| {
        format!(
            "entry point {}, aborting at {:?}: {difference}",
            entry.name, schedule.due
        )
    };
    let original = match Run::original(module, &schedule, options, None, STEPS) {
        Err(InterpretError::StepLimit(_)) => {
            summary.too_long += 1;
            return Ok(());
        }
        other => other.map_err(|e| context(format!("the original: {e}")))?,
    };
    let second =
        Run::rewritten(result, &schedule, options, STEPS * 20).map_err(|e| context(format!("the rewrite: {e}")))?;
    run::same(&original, &second, &schedule).map_err(context)?;
    let dropped = records::same(&original, &second, &schedule, options, rewritten).map_err(context)?;
    summary.dropped += dropped;
    for end in &original.ends {
        summary.invocations += 1;
        if let InvocationEnd::Aborted { message, .. } = end {
            summary.aborts += 1;
            summary.message_bytes += message.bytes().len() as u64;
        }
    }
    Ok(())
}
