//! Wrong addresses in generated programs are reported where the interpreter stops, and nothing else is.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{AddressSummary, check_addresses};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::generate_addresses;
use vkabort_oracle::seeds::{is_single, seeds};

/// Seeds by default.
const FEW: u64 = 500;

#[test]
fn wrong_addresses_are_reported_and_no_others() {
    let mut summary = AddressSummary::default();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let (words, invocations) = generate_addresses(choices);
        if let Err(error) = check_addresses(&words, invocations, choices, &mut summary) {
            panic!("seed {seed}: {error}");
        }
    }
    println!("{summary:?}");
    let AddressSummary {
        sound,
        outside,
        misaligned,
    } = summary;
    assert!(
        is_single() || sound > 200 && outside > 200 && misaligned > 20,
        "{summary:?}"
    );
}
