//! Programs of the shapes that small tests do not have are silent under every set of checks, with equal results.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.

use vkabort_oracle::check::check_shape;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::Shape;
use vkabort_oracle::seeds::seeds;

/// Seeds by default.
const FEW: u64 = 12;

/// Sets of checks.
const SETS: [&str; 5] = [
    "default",
    "initialized",
    "addresses,initialized,races,barriers",
    "races",
    "all",
];

fn check(shape: Shape) {
    let failures: Vec<String> = seeds(FEW)
        .filter_map(|seed| {
            let result = check_shape(&mut Choices::seeded(seed), shape, &SETS);
            result.err().map(|error| format!("seed {seed}: {error}"))
        })
        .collect();
    assert!(failures.is_empty(), "{shape:?}\n{}", failures.join("\n"));
}

#[test]
fn straight_code_with_many_accesses_is_silent() {
    check(Shape::Straight);
}

#[test]
fn many_accesses_through_one_address_are_silent() {
    check(Shape::OneAddress);
}

#[test]
fn values_that_leave_divergent_loops_are_silent() {
    check(Shape::DivergentLoops);
}

#[test]
fn pointers_to_shared_arrays_in_callees_are_silent() {
    check(Shape::Callees);
}

#[test]
fn returned_pointers_to_shared_arrays_are_silent() {
    check(Shape::ReturnedPointers);
}
