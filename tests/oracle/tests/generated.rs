//! Generated modules and their rewrites have the same behaviour.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one, `VKABORT_ORACLE_MINUTES=60` as many as
//! fit into that time, starting at that seed or 0. With `VKABORT_ORACLE_DUMP=FOLDER`, failing modules and their rewrites are
//! written to the folder.
#![allow(clippy::print_stdout, reason = "the tests print statistics")]

use std::path::Path;
use vkabort_oracle::check::{CheckSummary, Failure, Subject, check};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::{Density, Trigger, plant};
use vkabort_oracle::seeds::seeds;
use vkabort_oracle::words::to_bytes;

fn dump(folder: &Path, seed: u64, words: &[u32], failure: &Failure) {
    let write = |name: String, words: &[u32]| {
        std::fs::write(folder.join(name), to_bytes(words)).expect("the folder is writable");
    };
    write(format!("{seed}.spv"), words);
    if let Some(rewrite) = &failure.rewrite {
        write(format!("{seed}.out.spv"), rewrite);
    }
}

/// Checks the module that `create` returns for every seed.
fn check_seeds(few: u64, create: impl Fn(&mut Choices) -> (Vec<u32>, u32)) {
    let _ = check_sanitized(few, |choices| {
        let (words, ticks) = create(choices);
        (words, ticks, None)
    });
}

/// The same for modules with the budget of the check of loops that is planted.
fn check_sanitized(few: u64, create: impl Fn(&mut Choices) -> (Vec<u32>, u32, Option<u32>)) -> CheckSummary {
    let mut summary = CheckSummary::default();
    let mut failures = Vec::new();
    for seed in seeds(few) {
        let choices = &mut Choices::seeded(seed);
        let (words, ticks, loop_budget) = create(choices);
        let subject = Subject {
            words: &words,
            ticks,
            loop_budget,
        };
        match check(subject, choices) {
            Ok(result) => summary.add(result),
            Err(failure) => {
                if let Some(folder) = std::env::var_os("VKABORT_ORACLE_DUMP") {
                    dump(Path::new(&folder), seed, &words, &failure);
                }
                failures.push(format!("seed {seed}: {failure}"));
            }
        }
    }
    println!("{summary:?}");
    let first = failures
        .iter()
        .take(40)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(failures.is_empty(), "{} failures\n{first}", failures.len());
    summary
}

#[test]
fn generated_modules_and_their_rewrites_behave_the_same() {
    check_seeds(600, |choices| {
        let module = generate(choices, GeneratorOptions::default());
        (module.words, module.ticks)
    });
}

#[test]
fn modules_with_planted_aborts_and_their_rewrites_behave_the_same() {
    check_seeds(600, |choices| {
        let generator_options = GeneratorOptions {
            aborts: choices.chance(30),
            ..GeneratorOptions::default()
        };
        let module = generate(choices, generator_options);
        let density = Density {
            aborts: choices.below(40),
            calls: choices.below(60),
        };
        let planted = plant(&module.words, choices, Trigger::Due(module.due), density).expect("a valid module");
        (planted.words, module.ticks)
    });
}

#[test]
fn endless_loops_end_where_their_budget_does() {
    let summary = check_sanitized(600, |choices| {
        let generator_options = GeneratorOptions {
            aborts: choices.chance(30),
            endless: choices.between(20, 90),
            ..GeneratorOptions::default()
        };
        let module = generate(choices, generator_options);
        let budget = choices.between(1, 60);
        (module.words, module.ticks, Some(budget))
    });
    assert_eq!(summary.too_long, 0, "an endless loop has no check");
}
