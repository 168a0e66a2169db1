//! Compares a module and its rewrite: every invocation, every byte of every buffer, every record.

pub mod course;
mod records;
mod run;
mod statics;

use crate::choices::Choices;
use crate::generate::{SPEC_LENGTH, SPEC_LENGTH_ID};
use crate::interpret::{Ended, Trouble};
use crate::module::{Entry, Id, Module};
use run::{Plan, Run};
use std::collections::HashMap;
use vkabort_instrument::{Arena, Instrumented, LoopPoll, Options, Outcome, Trap, instrument};
use vkabort_record::layout::{CONTROL_BYTES, UNIT_BYTES, record_units};

/// Address of the arena in the interpreter's memory: high bits set, so that halves are not mixed up unseen.
const ADDRESS: u64 = 0x0123_4567_89A0_0000;
/// Address of a control block that does not stand before the records: so far off that no sum of offsets leads there.
const CONTROL_ADDRESS: u64 = 0x0FED_CBA9_0000_0040;
/// Units of an arena that is large enough for all records here.
const ROOMY: u32 = 4096;
/// Steps that an invocation of an original module may take.
const STEPS: u64 = 100_000;

/// A module to check.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its words.
    pub words: &'a [u32],
    /// Its variable that counts questions to `due`.
    pub ticks: Id,
}

/// What a check has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Invocations run, original and rewrite counted once.
    pub invocations: u32,
    /// Of those, the ones that aborted.
    pub aborts: u32,
    /// Bytes of their messages.
    pub message_bytes: u64,
    /// Aborts that found the arena full.
    pub dropped: u32,
    /// Modules left unfinished since they take too many steps.
    pub too_long: u32,
    /// Modules that the rewriter refuses for the one reason it may have here.
    pub refused: u32,
}

impl Seen {
    /// Adds what another check has seen.
    pub fn add(&mut self, other: Self) {
        self.invocations += other.invocations;
        self.aborts += other.aborts;
        self.message_bytes += other.message_bytes;
        self.dropped += other.dropped;
        self.too_long += other.too_long;
        self.refused += other.refused;
    }
}

/// A difference between a module and its rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What differs.
    pub what: String,
    /// The rewrite, as far as there is one.
    pub rewrite: Option<Vec<u32>>,
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Self { what, rewrite: None }
    }
}

impl From<&str> for Failure {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

/// How the module is rewritten and run.
pub(crate) struct Setting {
    pub(crate) options: Options,
    pub(crate) specialization: HashMap<u32, u32>,
}

/// A rewriter, as [`instrument`] is one.
pub type Rewriter<'a> = &'a dyn Fn(&[u32], &Options) -> vkabort_instrument::Result<Outcome>;

/// Checks a module that was generated here, with or without planted aborts.
///
/// # Errors
///
/// The first difference found.
pub fn check(subject: Subject<'_>, choices: &mut Choices) -> Result<Seen, Failure> {
    check_rewriter(subject, choices, &instrument)
}

/// The same for another rewriter: one that is broken on purpose, to see that it is noticed.
///
/// # Errors
///
/// The first difference found.
pub fn check_rewriter(subject: Subject<'_>, choices: &mut Choices, rewriter: Rewriter<'_>) -> Result<Seen, Failure> {
    let module = Module::parse(subject.words).ok_or("the module cannot be read")?;
    let mut seen = Seen::default();
    let polls = [LoopPoll::Off, LoopPoll::Auto, LoopPoll::All];
    let mut arena = Arena::at(ADDRESS, CONTROL_BYTES + ROOMY * UNIT_BYTES);
    if choices.chance(50) {
        arena = arena.with_control(CONTROL_ADDRESS);
    }
    // A loop that ends by itself, since no host clears ABORTED here.
    let trap = match choices.chance(15) {
        true => Trap::Hang,
        false => Trap::Return,
    };
    let options = Options {
        arena,
        trap,
        hang_iterations: 5,
        loop_poll: choices.pick(&polls).unwrap_or_default(),
        ..Options::default()
    };
    let rewritten = match rewrite(rewriter, subject.words, &options) {
        // An array of specialised length that was loaded in another block: its elements cannot be got at.
        Err(error) if error.contains("load it in the block of the abort") => {
            seen.refused += 1;
            return Ok(seen);
        }
        other => other?,
    };
    let failure = |rewritten: &Instrumented, what| Failure {
        what,
        rewrite: Some(rewritten.words.clone()),
    };
    let result = Module::parse(&rewritten.words).ok_or("the rewrite cannot be read")?;
    statics::compare(&module, &rewritten, &result).map_err(|e| failure(&rewritten, e))?;
    let mut specialization = HashMap::new();
    if choices.chance(50) {
        specialization.insert(
            SPEC_LENGTH_ID,
            choices.between(*SPEC_LENGTH.start(), *SPEC_LENGTH.end()),
        );
    }
    let mut setting = Setting {
        options,
        specialization,
    };
    run_all(
        subject,
        &module,
        &rewritten,
        &result,
        &setting,
        Some(choices),
        &mut seen,
    )
    .map_err(|e| failure(&rewritten, e))?;
    if choices.chance(40) {
        if choices.chance(60) {
            // An arena in which not all records find room. In one that is full loops that watch for aborts of others end.
            let longest = rewritten
                .sites
                .sites
                .iter()
                .map(|s| s.message.size())
                .max()
                .unwrap_or(0);
            setting.options.arena.capacity = record_units(longest.max(160 * 9)) + choices.below(12);
            setting.options.loop_poll = LoopPoll::Off;
            // With other lengths than these sizes are made of, a message may be larger than the whole arena.
            setting.specialization.clear();
        } else {
            setting.options.max_sites = Some(choices.below(4));
        }
        let rewritten = rewrite(rewriter, subject.words, &setting.options)?;
        let result = Module::parse(&rewritten.words).ok_or("the rewrite cannot be read")?;
        run_all(subject, &module, &rewritten, &result, &setting, None, &mut seen)
            .map_err(|e| failure(&rewritten, e))?;
    }
    Ok(seen)
}

/// Runs every entry point: without an abort, then with every invocation aborting at some moment, several times; without
/// `choices`, at the first.
fn run_all(
    subject: Subject<'_>,
    module: &Module,
    rewritten: &Instrumented,
    result: &Module,
    setting: &Setting,
    mut choices: Option<&mut Choices>,
    seen: &mut Seen,
) -> Result<(), String> {
    for entry in &module.entries {
        let Some(ticks) = never(subject, module, result, entry, setting, seen)? else {
            seen.too_long += 1;
            continue;
        };
        let rounds = if choices.is_some() { 3 } else { 1 };
        for _ in 0..rounds {
            let moment = |last: &u32| match &mut choices {
                Some(choices) => pick_tick(*last, choices),
                None => (*last).min(1),
            };
            let due = ticks.iter().map(moment).collect();
            compare(module, rewritten, result, entry, setting, due, seen)?;
        }
    }
    Ok(())
}

fn rewrite(rewriter: Rewriter<'_>, words: &[u32], options: &Options) -> Result<Instrumented, String> {
    match rewriter(words, options) {
        Ok(Outcome::Instrumented(rewritten)) => Ok(rewritten),
        Ok(Outcome::Unchanged) => Err("the module was not rewritten".into()),
        Err(error) => Err(format!("the rewriter refuses it: {error}")),
    }
}

/// When an invocation is to abort: never, or at one of its moments.
fn pick_tick(last: u32, choices: &mut Choices) -> u32 {
    if last == 0 || choices.chance(25) {
        0
    } else {
        choices.between(1, last)
    }
}

/// Runs with no abort taken. How often each invocation asks whether it is due; `None` if it takes too long.
fn never(
    subject: Subject<'_>,
    module: &Module,
    result: &Module,
    entry: &Entry,
    setting: &Setting,
    seen: &mut Seen,
) -> Result<Option<Vec<u32>>, String> {
    let plan = Plan::new(entry, vec![0; run::INVOCATIONS]);
    let original = match Run::original(module, &plan, setting, Some(subject.ticks), STEPS) {
        Err(Trouble::Steps(_)) => return Ok(None),
        other => other.map_err(|e| format!("the original, entry point {}: {e}", entry.name))?,
    };
    let rewritten = Run::rewritten(result, &plan, setting, STEPS * 20)
        .map_err(|e| format!("the rewrite, entry point {}, no abort taken: {e}", entry.name))?;
    // A module in which every way aborts does so without being asked.
    run::same(&original, &rewritten, &plan)?;
    seen.invocations += run::INVOCATIONS as u32;
    Ok(Some(original.ticks))
}

/// Runs with invocations aborting when `due` says.
fn compare(
    module: &Module,
    rewritten: &Instrumented,
    result: &Module,
    entry: &Entry,
    setting: &Setting,
    due: Vec<u32>,
    seen: &mut Seen,
) -> Result<(), String> {
    let plan = Plan::new(entry, due);
    let context = |what: String| format!("entry point {}, aborting at {:?}: {what}", entry.name, plan.due);
    let original = match Run::original(module, &plan, setting, None, STEPS) {
        Err(Trouble::Steps(_)) => {
            seen.too_long += 1;
            return Ok(());
        }
        other => other.map_err(|e| context(format!("the original: {e}")))?,
    };
    let second =
        Run::rewritten(result, &plan, setting, STEPS * 20).map_err(|e| context(format!("the rewrite: {e}")))?;
    run::same(&original, &second, &plan).map_err(context)?;
    let dropped = records::same(&original, &second, &plan, setting, rewritten).map_err(context)?;
    seen.dropped += dropped;
    for end in &original.ends {
        seen.invocations += 1;
        if let Ended::Aborted { message, .. } = end {
            seen.aborts += 1;
            seen.message_bytes += message.bytes.len() as u64;
        }
    }
    Ok(())
}
