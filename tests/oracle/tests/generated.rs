//! Generated modules and their rewrites do the same.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` one of them, `VKABORT_ORACLE_MINUTES=60` as many
//! as that time allows, from that seed or 0 on. With `VKABORT_ORACLE_DUMP=FOLDER` modules that fail are written there,
//! with their rewrites.
#![allow(clippy::print_stdout, reason = "tests say what they have seen")]

use std::path::Path;
use std::time::{Duration, Instant};
use vkabort_oracle::check::{Failure, Seen, Subject, check};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};
use vkabort_oracle::plant::{Density, Trigger, plant};

/// The seeds to run.
fn seeds(few: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let (one, minutes) = (number("VKABORT_ORACLE_SEED"), number("VKABORT_ORACLE_MINUTES"));
    let seeds = match (one, minutes) {
        (first, Some(_)) => first.unwrap_or(0)..u64::MAX,
        (Some(one), None) => one..one + 1,
        (None, None) => 0..number("VKABORT_ORACLE_SEEDS").unwrap_or(few),
    };
    let (begun, limit) = (Instant::now(), minutes.map(|minutes| Duration::from_secs(60 * minutes)));
    seeds.take_while(move |_| limit.is_none_or(|limit| begun.elapsed() < limit))
}

fn dump(folder: &Path, seed: u64, words: &[u32], failure: &Failure) {
    let write = |name: String, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(folder.join(name), bytes).expect("the folder can be written");
    };
    write(format!("{seed}.spv"), words);
    if let Some(rewrite) = &failure.rewrite {
        write(format!("{seed}.out.spv"), rewrite);
    }
}

/// Runs `make` and checks what it makes, for every seed.
fn hold(few: u64, make: impl Fn(&mut Choices) -> (Vec<u32>, u32)) {
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for seed in seeds(few) {
        let choices = &mut Choices::seeded(seed);
        let (words, ticks) = make(choices);
        let subject = Subject { words: &words, ticks };
        match check(subject, choices) {
            Ok(one) => seen.add(one),
            Err(failure) => {
                if let Some(folder) = std::env::var_os("VKABORT_ORACLE_DUMP") {
                    dump(Path::new(&folder), seed, &words, &failure);
                }
                failures.push(format!("seed {seed}: {failure}"));
            }
        }
    }
    println!("{seen:?}");
    let first = failures
        .iter()
        .take(40)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(failures.is_empty(), "{} failures\n{first}", failures.len());
}

#[test]
fn generated_modules_and_their_rewrites_do_the_same() {
    hold(600, |choices| {
        let module = generate(choices, Wish::default());
        (module.words, module.ticks)
    });
}

#[test]
fn modules_with_planted_aborts_and_their_rewrites_do_the_same() {
    hold(600, |choices| {
        let wish = Wish {
            aborts: choices.chance(30),
            ..Wish::default()
        };
        let module = generate(choices, wish);
        let density = Density {
            aborts: choices.below(40),
            calls: choices.below(60),
        };
        let planted = plant(&module.words, choices, Trigger::Due(module.due), density).expect("it is a module");
        (planted.words, module.ticks)
    });
}
