//! In generated programs with faulty divisions and shifts, an invocation ends by a report if and only if an undefined value has an effect in
//! it.
//!
//! `VKABORT_ORACLE_SEEDS=20000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{TravelSummary, check_travel};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::seeds::{is_single, seeds};

/// Seeds by default.
const FEW: u64 = 300;

#[test]
fn a_report_appears_if_and_only_if_an_undefined_value_has_an_effect() {
    let mut all = TravelSummary::default();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let options = GeneratorOptions {
            aborts: false,
            tables: false,
            faulty: choices.between(3, 40),
            ..GeneratorOptions::default()
        };
        let module = generate(choices, options);
        match check_travel(&module.words, choices) {
            Ok(found) => {
                all.faulty += found.faulty;
                all.clean += found.clean;
                all.left_out += found.left_out;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{all:?}");
    assert!(is_single() || all.faulty > 50 && all.clean > 50, "{all:?}");
}
