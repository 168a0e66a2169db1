//! Fuzz targets, as functions of bytes. They panic on a failure.
//!
//! `tests/fuzz` wraps these functions for cargo-fuzz; `tests/targets.rs` runs them over fixed bytes.

use crate::check::{Subject, check};
use crate::choices::Choices;
use crate::generate::{Generated, GeneratorOptions, Unsound, generate, generate_addresses, generate_workgroup};
use crate::module::Module;
use crate::mutate::{Mutation, mutate};
use crate::plant::{Density, Trigger, plant};
use crate::words::{HEADER_WORDS, MAGIC, from_bytes, instructions};
use std::sync::Arc;
use vkabort_instrument::{
    Checks, Instrumented, LoopPoll, LoweredFeatures, Options, Outcome, Sanitize, Values, check as check_module,
    instrument, sites,
};
use vkabort_record::framing::split;
use vkabort_record::site::SiteTable;
use vkabort_record::snapshot::Snapshot;
use vkabort_report::Message;
use vkabort_report::{ModuleInfo, Report, ReportOptions};

/// Address of the table of buffers, which the check of addresses needs.
const BUFFER_TABLE: u64 = 0x10_0000;

/// Classification of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Rewritten, or read.
    Valid,
    /// Left unchanged.
    Unchanged,
    /// Rejected.
    Invalid,
}

/// Runs the rewriter over arbitrary words. It must not panic, and rewriting its output must change nothing.
pub fn words(bytes: &[u8]) -> Verdict {
    let mut words = from_bytes(bytes);
    if words.len() >= HEADER_WORDS && words.first() != Some(&MAGIC) {
        // Almost all inputs would be rejected at the header, so half of those with a wrong magic number get the right one.
        if words.first().is_some_and(|w| w & 1 == 0) {
            words[0] = MAGIC;
        }
    }
    try_words(&words, &Options::default())
}

/// Runs the rewriter, and the functions of other commands, over a generated module with some words changed.
pub fn mutated(bytes: &[u8]) -> Verdict {
    let choices = &mut Choices::from_bytes(bytes);
    let changes: Vec<Mutation> = (0..choices.below(6)).map(|_| Mutation::choose(choices)).collect();
    let options = options(choices);
    let mut words = match choices.below(4) {
        0 => generate_addresses(choices).0,
        1 => generate_workgroup(choices, Unsound::Barriers).0,
        _ => planted_module(choices, 0).0.words,
    };
    mutate(&mut words, &changes);
    try_commands(&words);
    try_words(&words, &options)
}

/// Runs the functions of `vkabort sanitize --checks all`, `sites`, `check` and `decode --sites` on a module.
fn try_commands(words: &[u32]) {
    let sanitized = Options {
        lowers: LoweredFeatures::default(),
        sanitize: Sanitize {
            checks: Checks::all(),
            buffer_table: Some(BUFFER_TABLE),
            ..Sanitize::default()
        },
        max_message_bytes: u32::MAX,
        ..Options::default()
    };
    if let Ok(Outcome::Instrumented(out)) = instrument(words, &sanitized) {
        assert!(instructions(&out.words).is_some(), "the planted module is malformed");
    }
    let with_values = Options {
        values: Values::On,
        ..Options::default()
    };
    let _ = (sites(words, &with_values), check_module(words, &Options::default()));
}

fn try_words(words: &[u32], options: &Options) -> Verdict {
    match instrument(words, options) {
        Ok(Outcome::Instrumented(out)) => {
            assert!(instructions(&out.words).is_some(), "the rewrite is malformed");
            assert!(
                Module::parse(&out.words).is_some(),
                "a function of the rewrite has no end"
            );
            let again = Options {
                sanitize: Sanitize::default(),
                ..options.clone()
            };
            let again = instrument(&out.words, &again);
            assert_eq!(again, Ok(Outcome::Unchanged), "the rewrite is rewritten again");
            Verdict::Valid
        }
        Ok(Outcome::Unchanged) => Verdict::Unchanged,
        Err(error) => {
            let inside = error.offset.is_none_or(|o| o as usize <= words.len());
            assert!(inside, "the error is outside the module: {error}");
            Verdict::Invalid
        }
    }
}

/// Compares a generated module with planted aborts and its rewrite.
pub fn planted(bytes: &[u8]) -> Verdict {
    let choices = &mut Choices::from_bytes(bytes);
    let loop_budget = choices.chance(30).then(|| choices.between(1, 40));
    let (module, ticks) = planted_module(choices, loop_budget.map_or(0, |_| 60));
    let subject = Subject {
        words: &module.words,
        ticks,
        loop_budget,
    };
    match check(subject, choices) {
        Ok(summary) if summary.refused > 0 => Verdict::Invalid,
        Ok(_) => Verdict::Valid,
        Err(failure) => panic!("{failure}"),
    }
}

/// A module, and the variable that counts the calls of `due`. `endless`: as in [`GeneratorOptions`].
fn planted_module(choices: &mut Choices, endless: u32) -> (Generated, u32) {
    let density = Density {
        aborts: choices.below(40),
        calls: choices.below(60),
    };
    let generator_options = GeneratorOptions {
        aborts: choices.below(2) == 0,
        size: choices.between(1, 5),
        endless,
        ..GeneratorOptions::default()
    };
    let mut module = generate(choices, generator_options);
    if let Some(planted) = plant(&module.words, choices, Trigger::Due(module.due), density) {
        module.words = planted.words;
    }
    let ticks = module.ticks;
    (module, ticks)
}

fn options(choices: &mut Choices) -> Options {
    let polls = [LoopPoll::Auto, LoopPoll::All, LoopPoll::Off];
    let mut sanitize = Sanitize::default();
    if choices.chance(30) {
        sanitize.checks = Checks::all();
        sanitize.buffer_table = Some(BUFFER_TABLE);
    }
    Options {
        // Not a choice of its own, so that the other choices stay those of earlier inputs.
        branches_at_exits: !sanitize.checks.is_empty(),
        breaks_at_starts: !sanitize.checks.is_empty(),
        opaque_conditions: !sanitize.checks.is_empty(),
        remembers_loop_values: !sanitize.checks.is_empty(),
        sanitize,
        loop_poll: choices.pick(&polls).unwrap_or_default(),
        max_sites: choices.chance(10).then(|| choices.below(4)),
        values: choices
            .pick(&[Values::On, Values::Auto, Values::Off])
            .unwrap_or_default(),
        ..Options::default()
    }
}

/// Reads arbitrary bytes as records. The reader must not panic or read out of bounds. The first bytes select a generated
/// module whose sites the records can refer to.
pub fn reader(bytes: &[u8]) -> Verdict {
    let (head, arena) = bytes.split_at(bytes.len().min(16));
    let module = generate(&mut Choices::from_bytes(head), GeneratorOptions::default());
    let options = Options {
        values: Values::On,
        ..Options::default()
    };
    let sites: Option<Arc<SiteTable>> = match instrument(&module.words, &options) {
        Ok(Outcome::Instrumented(Instrumented { sites, .. })) => Some(Arc::new(sites)),
        _ => None,
    };
    let mut payloads: Vec<Vec<u8>> = Vec::new();
    for capacity in [u32::MAX, arena.len() as u32 / 16] {
        let found = Snapshot::from_bytes(arena).records(capacity);
        let messages = found.records.iter().map(|record| found.message(record).into_owned());
        let messages: Vec<Vec<u8>> = messages.collect();
        let total: usize = messages.iter().map(Vec::len).sum();
        assert!(total <= arena.len(), "the records are larger than the arena");
        let info = |_| ModuleInfo {
            sites: sites.clone(),
            ..ModuleInfo::default()
        };
        show(&Report::build(&found, &info, &ReportOptions::default()));
        payloads.extend(messages);
    }
    let found = !payloads.is_empty();
    payloads.extend(split(arena).payloads.iter().map(|p| p.to_vec()));
    payloads.push(arena.to_vec());
    let modules = [ModuleInfo {
        sites: sites.clone(),
        ..ModuleInfo::default()
    }];
    let all = payloads.iter().map(Vec::as_slice);
    show(&Report::from_payloads(all, &modules, &ReportOptions::default()));
    for payload in &payloads {
        let _ = Message::untyped(payload);
        for site in sites.iter().flat_map(|table| &table.sites) {
            let _ = Message::of_site(site, payload);
        }
    }
    if found { Verdict::Valid } else { Verdict::Invalid }
}

fn show(report: &Report) {
    let _ = (report.text(false), report.text(true), report.json_lines());
}
