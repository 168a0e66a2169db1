//! Every print of a rewritten module has the values and the invocation of the interpreter, and those without room are counted by site.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{PrintSummary, check_prints};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::{Density, Trigger, plant, plant_prints};
use vkabort_oracle::seeds::{is_single, seeds};

/// Seeds by default.
const FEW: u64 = 300;

#[test]
fn prints_have_their_values_and_the_others_are_counted() {
    let mut all = PrintSummary::default();
    let mut failures = Vec::new();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, GeneratorOptions::default());
        let density = Density {
            aborts: choices.below(20),
            calls: choices.below(30),
        };
        let planted = plant(&module.words, choices, Trigger::Due(module.due), density).expect("a valid module");
        let percent = choices.between(10, 70);
        let words = plant_prints(&planted.words, choices, percent).expect("a valid module");
        match check_prints(&words, choices) {
            Ok(summary) => all.add(summary),
            Err(error) => failures.push(format!("seed {seed}: {error}")),
        }
    }
    println!("{all:?}");
    let shown = failures
        .iter()
        .take(20)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(failures.is_empty(), "{} failures\n{shown}", failures.len());
    assert!(
        is_single() || all.prints > 5000 && all.words > all.prints && all.dropped > 100,
        "{all:?}"
    );
}
