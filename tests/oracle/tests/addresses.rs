//! Wrong addresses in generated programs are reported where the interpreter stops, and nothing else is.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{AddressSummary, check_addresses, check_element};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Elements, generate_addresses};
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

/// The test of an index is exact, for ranges that are larger than any memory here.
#[test]
fn an_element_is_tested_exactly() {
    let (mut reported, mut right) = (0u32, 0u32);
    for seed in seeds(4 * FEW) {
        match element(&mut Choices::seeded(seed)) {
            Ok(true) => reported += 1,
            Ok(false) => right += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{reported} reported, {right} right");
    assert!(
        is_single() || reported > 500 && right > 200,
        "{reported} reported, {right} right"
    );
}

/// Tests an element near one of the limits of a range. Returns whether it is reported.
fn element(choices: &mut Choices) -> Result<bool, String> {
    let pick = |choices: &mut Choices, values: &[u32]| choices.pick(values).unwrap_or_default();
    let elements = Elements {
        offset: pick(choices, &[0, 4, 60, 1 << 20, (1 << 30) - 4]),
        stride: pick(choices, &[1, 3, 4, 12, 16, 20, 64, 252, 65532, 65536, 1 << 20, 1 << 30]),
        alignment: 1,
    };
    let is_word = elements.stride.is_multiple_of(4);
    let elements = Elements {
        alignment: if is_word { pick(choices, &[1, 4]) } else { 1 },
        ..elements
    };
    let start = 0x7f00_0000_0000 + 4 * u64::from(choices.below(4));
    let bytes = match choices.below(5) {
        0 => 0,
        1 => u64::from(choices.below(80)),
        2 => u64::from(choices.word()),
        3 => u64::from(choices.word()) << choices.below(14),
        _ => u64::from(elements.stride) << 32,
    };
    let range = (start, start + bytes);
    // Near enough to belong to the range, or in it.
    let address = match choices.below(5) {
        0 => start - u64::from(choices.below(1 << 20)),
        1 => start + bytes / 2,
        2 => start + bytes - u64::from(choices.below(64)).min(bytes),
        3 => start + bytes + u64::from(choices.below(1 << 19)),
        _ => start + u64::from(choices.below(64)),
    };
    let first = address + u64::from(elements.offset);
    let stride = u64::from(elements.stride);
    let around = |choices: &mut Choices, number: u64| (number as u32).wrapping_add(choices.below(5)).wrapping_sub(2);
    let number = match choices.below(5) {
        0 => around(choices, 0),
        1 => around(choices, range.1.wrapping_sub(first) / stride),
        2 => around(choices, 0u64.wrapping_sub(first.wrapping_sub(start) / stride)),
        _ => around(choices, 1 << 31),
    };
    // Of 2^32 elements, the last one counts as outside.
    if number == i32::MAX.cast_unsigned() && bytes >> 32 >= stride {
        return Ok(false);
    }
    check_element(choices, elements, (address, number), range)
}
