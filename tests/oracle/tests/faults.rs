//! Faults in generated programs are reported where they happen, with their values, and nothing else is.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{FaultSummary, check_faults};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::plant_faults;
use vkabort_oracle::seeds::{is_single, seeds};

/// The checks whose faults are planted.
const CHECKS: [&str; 9] = [
    "divide",
    "shift",
    "bounds",
    "convert",
    "buffers",
    "nan",
    "unreachable",
    "initialized",
    "invalid",
];

/// Seeds by default.
const FEW: u64 = 200;

#[test]
fn faults_are_found_where_they_happen() {
    let mut all = FaultSummary::default();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let options = GeneratorOptions {
            aborts: false,
            ..GeneratorOptions::default()
        };
        let module = generate(choices, options);
        let density = choices.between(5, 60);
        let planted = plant_faults(&module.words, choices, module.due, density).expect("a valid module");
        match check_faults(&planted, choices) {
            Ok(summary) => {
                for (check, found) in summary.found {
                    *all.found.entry(check).or_default() += found;
                }
                all.clean += summary.clean;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{all:?}");
    let has_many = |check: &&str| all.found.get(*check).is_some_and(|found| *found > 20);
    assert!(is_single() || all.clean > 100 && CHECKS.iter().all(has_many), "{all:?}");
}
