//! The fuzz targets over their seeds and over fixed bytes. How many inputs were valid is printed.
//!
//! `VKABORT_ORACLE_INPUTS=100000` runs more; `VKABORT_BLESS=1` writes the seeds of `fuzz/seeds/` anew.
#![allow(clippy::print_stdout, reason = "tests say what they have seen")]

use std::path::{Path, PathBuf};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};
use vkabort_oracle::op::{self, capability, execution_mode};
use vkabort_oracle::targets::{Verdict, mutated, planted, reader, words};
use vkabort_oracle::words::{MAGIC, push};
use vkabort_record::layout::{COMMIT_MAGIC, CONTROL_BYTES, UNIT_WORDS, record_units};

/// Inputs of each target.
fn inputs(few: u64) -> u64 {
    let number = std::env::var("VKABORT_ORACLE_INPUTS").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn random(choices: &mut Choices, most: u32) -> Vec<u8> {
    (0..choices.below(most)).map(|_| choices.word() as u8).collect()
}

/// The seeds as they are, written first if that is asked for.
fn seeds(target: &str, make: &dyn Fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    let folder = folder(target);
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for seed in 0..4 {
            std::fs::write(folder.join(seed.to_string()), make(seed)).expect("a seed can be written");
        }
    }
    let entries = std::fs::read_dir(&folder).expect("the seeds are there");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() >= 4, "only {} seeds in {}", paths.len(), folder.display());
    paths
        .iter()
        .map(|p| std::fs::read(p).expect("a seed can be read"))
        .collect()
}

/// Runs a target over its seeds and over what `make` makes; how many inputs were valid, unchanged, invalid.
fn run(target: &str, one: fn(&[u8]) -> Verdict, few: u64, make: &dyn Fn(u64) -> Vec<u8>) -> [u64; 3] {
    let mut counts = [0; 3];
    let more = (1000..1000 + inputs(few)).map(make);
    for input in seeds(target, make).into_iter().chain(more) {
        counts[match one(&input) {
            Verdict::Valid => 0,
            Verdict::Unchanged => 1,
            Verdict::Invalid => 2,
        }] += 1;
    }
    println!(
        "{target}: {} valid, {} unchanged, {} invalid",
        counts[0], counts[1], counts[2]
    );
    counts
}

/// A small module; every other one with some bytes changed or cut off.
fn module(seed: u64) -> Vec<u8> {
    let choices = &mut Choices::seeded(seed);
    let wish = Wish {
        size: 1,
        ..Wish::default()
    };
    let mut bytes = bytes(&generate(choices, wish).words);
    if seed % 2 == 1 {
        for _ in 0..choices.between(1, 8) {
            let at = choices.below(bytes.len() as u32) as usize;
            bytes[at] = choices.word() as u8;
        }
        if choices.chance(20) {
            bytes.truncate(choices.below(bytes.len() as u32) as usize);
        }
    }
    bytes
}

/// An arena with some records, after 16 bytes that choose a module; every other one with some words changed.
fn arena(seed: u64) -> Vec<u8> {
    let choices = &mut Choices::seeded(seed);
    let mut words = vec![0; CONTROL_BYTES as usize / 4];
    for site in 0..choices.between(1, 4) {
        let size = choices.below(100);
        let unit = words[0];
        let units = record_units(size);
        words[0] += units;
        let mut record = vec![
            COMMIT_MAGIC.wrapping_add(unit),
            units,
            size,
            site,
            1,
            2,
            5,
            0,
            9,
            0,
            0,
            0,
        ];
        let text: Vec<u8> = (0..size)
            .map(|_| b"%d: {} %s\0abc"[choices.below(13) as usize])
            .collect();
        record.extend(text.chunks(4).map(|c| {
            let byte = |i: usize| u32::from(c.get(i).copied().unwrap_or(0)) << (8 * i);
            (0..4).map(byte).fold(0, |a, b| a | b)
        }));
        record.resize((units * UNIT_WORDS) as usize, 0);
        words.append(&mut record);
    }
    words[16] = 1;
    if seed % 2 == 1 {
        for _ in 0..choices.between(1, 6) {
            let at = choices.below(words.len() as u32) as usize;
            words[at] = choices.word();
        }
    }
    let mut all: Vec<u8> = (0..16).map(|_| choices.word() as u8).collect();
    all.extend(bytes(&words));
    all
}

#[test]
fn any_words_are_rewritten_or_refused() {
    let [valid, _, invalid] = run("words", words, 2000, &module);
    assert!(valid > 100 && invalid > 100);
}

/// A compute shader of one block by hand: with a 32-bit integer type %3 and these declarations and instructions.
fn by_hand(declarations: &[(u16, &[u32])], code: &[(u16, &[u32])]) -> Vec<u8> {
    let before: [(u16, &[u32]); 10] = [
        (17, &[1]),
        (17, &[5120]),
        (17, &[capability::ConstantDataKHR]),
        (17, &[capability::PoisonFreezeKHR]),
        (14, &[0, 1]),
        (15, &[5, 4, 0x6e69_616d, 0]),
        (16, &[4, 17, 1, 1, 1]),
        (19, &[1]),
        (33, &[2, 1]),
        (21, &[3, 32, 0]),
    ];
    let begin: [(u16, &[u32]); 2] = [(54, &[1, 4, 0, 2]), (248, &[5])];
    let mut module = vec![MAGIC, 0x10300, 0, 48, 0];
    let parts = [&before[..], declarations, &begin, code, &[(56, &[])]];
    for (opcode, operands) in parts.concat() {
        push(&mut module, opcode, operands);
    }
    bytes(&module)
}

/// Values that are copies of each other, which no valid module has: the rewriter once followed them for ever.
#[test]
fn copies_in_a_circle_are_rewritten() {
    let module = by_hand(&[], &[(83, &[3, 6, 7]), (83, &[3, 7, 6]), (5121, &[3, 6])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Pointers that are copies of each other, which a continue construct needs in its function.
#[test]
fn pointers_in_a_circle_are_moved() {
    let declarations: [(u16, &[u32]); 4] = [(32, &[6, 7, 3]), (20, &[7]), (41, &[7, 8]), (43, &[3, 9, 0])];
    let code: [(u16, &[u32]); 20] = [
        (249, &[10]),
        (248, &[10]),
        (246, &[11, 12, 0]),
        (249, &[13]),
        (248, &[13]),
        (83, &[6, 14, 15]),
        (83, &[6, 15, 14]),
        (249, &[12]),
        (248, &[12]),
        (62, &[14, 9]),
        (247, &[16, 0]),
        (250, &[8, 17, 16]),
        (248, &[17]),
        (5121, &[3, 9]),
        (248, &[16]),
        (250, &[8, 10, 11]),
        (248, &[11]),
        (253, &[]),
        (248, &[18]),
        (253, &[]),
    ];
    let mut module = by_hand(&declarations, &code);
    module[12] = 19;
    assert_eq!(words(&module), Verdict::Valid);
}

/// A matrix whose columns are vectors of large arrays, which no valid module has: its size once overflowed.
#[test]
fn matrices_of_arrays_are_refused() {
    let declarations: [(u16, &[u32]); 5] = [
        (43, &[3, 7, 0x3fff_ffff]),
        (28, &[8, 3, 7]),
        (23, &[9, 8, 4]),
        (24, &[10, 9, 4]),
        (1, &[10, 11]),
    ];
    assert_eq!(words(&by_hand(&declarations, &[(5121, &[10, 11])])), Verdict::Invalid);
}

/// A vector of four thousand million components, which no valid module has: a constant of as many parts took 16 GiB.
#[test]
fn vectors_without_end_are_refused() {
    let declarations: [(u16, &[u32]); 3] = [
        (23, &[6, 3, 0xFFFF_FFF0]),
        (1, &[6, 7]),
        (16, &[4, execution_mode::ArithmeticPoisonKHR]),
    ];
    let module = by_hand(&declarations, &[(134, &[6, 8, 7, 7]), (253, &[])]);
    assert_eq!(words(&module), Verdict::Invalid);
}

/// The bytes of a table of 2^62 words are 0 in 64 bits, as many as there are.
#[test]
fn tables_without_end_are_refused() {
    let declarations: [(u16, &[u32]); 4] = [
        (21, &[6, 64, 0]),
        (43, &[6, 7, 0, 1 << 30]),
        (28, &[8, 3, 7]),
        (op::ConstantDataKHR, &[8, 9]),
    ];
    let code: [(u16, &[u32]); 2] = [(83, &[8, 10, 9]), (253, &[])];
    assert_eq!(words(&by_hand(&declarations, &code)), Verdict::Invalid);
}

/// What an instruction makes that the rewriter does not know cannot be written: it once was written as zeros.
#[test]
fn messages_made_by_unknown_instructions_are_refused() {
    let code: [(u16, &[u32]); 2] = [(6916, &[3, 6, 7, 7]), (5121, &[3, 6])];
    assert_eq!(words(&by_hand(&[], &code)), Verdict::Invalid);
}

/// An image that is copied again and again before a call and used after it: making it again once took a stack frame a
/// copy.
#[test]
fn handles_that_are_copied_without_end_are_made_again() {
    const COPIES: u32 = 100_000;
    let before: [(u16, &[u32]); 19] = [
        (17, &[1]),
        (17, &[5120]),
        (14, &[0, 1]),
        (15, &[5, 4, 0x6e69_616d, 0]),
        (16, &[4, 17, 1, 1, 1]),
        (19, &[1]),
        (33, &[2, 1]),
        (21, &[3, 32, 0]),
        (25, &[5, 3, 1, 0, 0, 0, 1, 0]),
        (32, &[6, 0, 5]),
        (59, &[6, 7, 0]),
        (43, &[3, 8, 7]),
        (54, &[1, 9, 0, 2]),
        (248, &[10]),
        (5121, &[3, 8]),
        (56, &[]),
        (54, &[1, 4, 0, 2]),
        (248, &[11]),
        (61, &[5, 12, 7]),
    ];
    let last = 12 + COPIES;
    let after: [(u16, &[u32]); 4] = [
        (57, &[1, last + 1, 9]),
        (83, &[5, last + 2, last]),
        (253, &[]),
        (56, &[]),
    ];
    let mut module = vec![MAGIC, 0x10300, 0, last + 3, 0];
    for (opcode, operands) in before {
        push(&mut module, opcode, operands);
    }
    for id in 12..last {
        push(&mut module, 83, &[5, id + 1, id]);
    }
    for (opcode, operands) in after {
        push(&mut module, opcode, operands);
    }
    assert_eq!(words(&bytes(&module)), Verdict::Valid);
}

/// Structures of 60 members that are structures again, of which there are 60 to the power of 5: once each was looked at.
fn wide_structures() -> Vec<(u16, Vec<u32>)> {
    let of = |id: u32, member: u32| (30, [vec![id], vec![member; 60]].concat());
    (0..5).map(|n| of(6 + n, if n == 0 { 3 } else { 5 + n })).collect()
}

fn borrowed(declarations: &[(u16, Vec<u32>)]) -> Vec<(u16, &[u32])> {
    declarations
        .iter()
        .map(|(opcode, operands)| (*opcode, operands.as_slice()))
        .collect()
}

#[test]
fn wide_structures_that_are_undefined_are_rewritten() {
    let mut declarations = wide_structures();
    declarations.push((1, vec![10, 11]));
    let code: [(u16, &[u32]); 2] = [(op::PoisonKHR, &[10, 12]), (253, &[])];
    assert_eq!(words(&by_hand(&borrowed(&declarations), &code)), Verdict::Valid);
}

/// No valid module aborts with a value that is not of the message's type.
#[test]
fn wide_structures_in_place_of_a_message_take_no_time() {
    let mut declarations = wide_structures();
    declarations.extend([(32, vec![11, 6, 10]), (59, vec![11, 12, 6])]);
    let code: [(u16, &[u32]); 2] = [(61, &[10, 13, 12]), (5121, &[3, 13])];
    words(&by_hand(&borrowed(&declarations), &code));
}

/// A constant that is a part of itself, which no valid module has: the rewriter once followed it for ever.
#[test]
fn constants_that_are_parts_of_themselves_are_rewritten() {
    let declarations: [(u16, &[u32]); 4] = [
        (23, &[6, 3, 2]),
        (44, &[6, 7, 7, 7]),
        (1, &[6, 9]),
        (16, &[4, execution_mode::ArithmeticPoisonKHR]),
    ];
    let module = by_hand(&declarations, &[(134, &[6, 8, 9, 7]), (253, &[])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Each of thirty expressions takes the one before twice.
#[test]
fn lengths_that_share_their_operands_are_evaluated_once() {
    let mut declarations = vec![(50, vec![3, 6, 1])];
    declarations.extend((7..37).map(|id| (52, vec![3, id, 199, id - 1, id - 1])));
    declarations.extend([(28, vec![37, 3, 36]), (46, vec![37, 38])]);
    let module = by_hand(&borrowed(&declarations), &[(5121, &[37, 38])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Arrays of arrays of empty structures: eight million million parts without a byte.
#[test]
fn messages_of_nothing_many_times_over_are_rewritten() {
    let declarations: [(u16, &[u32]); 6] = [
        (30, &[6]),
        (43, &[3, 7, 20_000]),
        (28, &[8, 6, 7]),
        (28, &[9, 8, 7]),
        (28, &[10, 9, 7]),
        (46, &[10, 11]),
    ];
    assert_eq!(words(&by_hand(&declarations, &[(5121, &[10, 11])])), Verdict::Valid);
}

/// With a stride of 0 a message of any number of parts has the size of one.
#[test]
fn messages_of_parts_without_end_are_refused() {
    let declarations: [(u16, &[u32]); 4] = [
        (71, &[8, 6, 0]),
        (43, &[3, 7, 0x1000_0000]),
        (28, &[8, 3, 7]),
        (46, &[8, 9]),
    ];
    assert_eq!(words(&by_hand(&declarations, &[(5121, &[8, 9])])), Verdict::Invalid);
}

/// Without elements a message is empty, but what is written for an element overflowed all the same.
#[test]
fn offsets_that_overflow_in_what_may_be_empty_are_refused() {
    let declarations: [(u16, &[u32]); 8] = [
        (71, &[6, 1, 0]),
        (72, &[7, 0, 35, 0x8000_0000]),
        (72, &[8, 0, 35, 0x8000_0000]),
        (50, &[3, 6, 0]),
        (30, &[7, 3]),
        (30, &[8, 7]),
        (28, &[9, 8, 6]),
        (1, &[9, 10]),
    ];
    assert_eq!(words(&by_hand(&declarations, &[(5121, &[9, 10])])), Verdict::Invalid);
}

#[test]
fn modules_with_changed_words_are_rewritten_or_refused() {
    let [valid, _, invalid] = run("mutated", mutated, 2000, &|seed| {
        random(&mut Choices::seeded(seed), 400)
    });
    assert!(valid > 100 && invalid > 100);
}

#[test]
fn bytes_become_modules_whose_rewrites_do_the_same() {
    let [valid, ..] = run("planted", planted, 1000, &|seed| {
        random(&mut Choices::seeded(seed), 2000)
    });
    assert!(valid > 900);
}

#[test]
fn any_bytes_are_read_as_records() {
    let [valid, _, invalid] = run("reader", reader, 2000, &arena);
    assert!(valid > 100 && invalid > 10);
}
