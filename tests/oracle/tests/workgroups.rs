//! Races and barriers in generated programs are reported as the interpreter finds them, and nothing else is.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{WorkgroupSummary, check_workgroup};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Unsound, generate_workgroup};
use vkabort_oracle::seeds::{is_single, seeds};

/// Seeds by default.
const FEW: u64 = 200;

fn check(unsound: Unsound) -> WorkgroupSummary {
    let mut summary = WorkgroupSummary::default();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let (words, invocations) = generate_workgroup(choices, unsound);
        if let Err(error) = check_workgroup(&words, invocations, unsound, choices, &mut summary) {
            panic!("seed {seed}: {error}");
        }
    }
    println!("{summary:?}");
    summary
}

#[test]
fn sound_programs_are_silent() {
    let summary = check(Unsound::Never);
    assert!(is_single() || summary.sound > 100, "{summary:?}");
}

/// Some programs are sound by chance.
fn check_unsound(unsound: Unsound) {
    let summary = check(unsound);
    let has_enough = summary.sound > 20 && summary.unsound > 50 && summary.reports > 50;
    assert!(is_single() || has_enough, "{summary:?}");
}

#[test]
fn races_are_reported_and_nothing_else_is() {
    check_unsound(Unsound::Races);
}

#[test]
fn barriers_that_invocations_miss_are_reported_with_their_number() {
    check_unsound(Unsound::Barriers);
}
