//! Generated modules and their rewrites do the same.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` one of them; with `VKABORT_ORACLE_DUMP=FOLDER`
//! modules that fail are written there, with their rewrites.

use std::path::Path;
use vkabort_oracle::check::{Failure, Seen, Subject, check};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};

/// The seeds to run.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    match number("VKABORT_ORACLE_SEED") {
        Some(one) => one..one + 1,
        None => 0..number("VKABORT_ORACLE_SEEDS").unwrap_or(few),
    }
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

#[test]
fn generated_modules_and_their_rewrites_do_the_same() {
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for seed in seeds(1000) {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, Wish::default());
        let subject = Subject {
            words: &module.words,
            ticks: module.ticks,
        };
        match check(subject, choices) {
            Ok(one) => seen.add(one),
            Err(failure) => {
                if let Some(folder) = std::env::var_os("VKABORT_ORACLE_DUMP") {
                    dump(Path::new(&folder), seed, &module.words, &failure);
                }
                failures.push(format!("seed {seed}: {failure}"));
            }
        }
    }
    println!("{seen:?}");
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures[..failures.len().min(200)].join("\n")
    );
}
