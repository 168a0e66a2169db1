//! The checks detect broken rewrites.
#![allow(clippy::print_stdout, reason = "the tests print statistics")]

use std::cell::Cell;
use vkabort_instrument::{Hooks, Instrumented, Options, Outcome, Place, instrument_with};
use vkabort_oracle::check::{Rewriter, Subject, check_rewriter};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, Inst, instructions, push, read_string};

/// Breaks an instruction: returns the new one, or `None` to remove it.
type Break<'a> = &'a dyn Fn(&Inst, &Names) -> Option<Inst>;

/// Ids of the rewriter's functions and variables, by name.
struct Names(Vec<(String, u32)>);

impl Names {
    fn is(&self, id: u32, name: &str) -> bool {
        self.0.iter().any(|(other, other_id)| *other_id == id && other == name)
    }
}

fn rebuild(words: &[u32], change: Break<'_>) -> Vec<u32> {
    let all = instructions(words).expect("a well-formed rewrite");
    let name_insts = all.iter().filter(|i| i.op == op::Name);
    let names = Names(
        name_insts
            .map(|i| (read_string(i.operands_from(1)), i.word(0)))
            .collect(),
    );
    let mut out = words[..HEADER_WORDS].to_vec();
    for inst in &all {
        if let Some(inst) = change(inst, &names) {
            push(&mut out, inst.op, &inst.operands);
        }
    }
    out
}

/// The variables that are the flag of an invocation that has aborted, by the module's number of aborts.
const FLAGS: [&str; 2] = ["vkabort_aborted", "vkabort_key"];

/// Number of seeds for which a broken rewriter is detected, and of all seeds.
fn detected_by(broken: Rewriter<'_>, options: GeneratorOptions, seeds: u64) -> (u32, u32) {
    let (mut detected, mut all) = (0, 0);
    for seed in 0..seeds {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, options);
        let subject = Subject {
            loop_budget: None,
            words: &module.words,
            ticks: module.ticks,
        };
        all += 1;
        detected += u32::from(check_rewriter(subject, choices, broken).is_err());
    }
    (detected, all)
}

/// [`detected_by`] for a rewriter that breaks instructions.
fn detected(change: Break<'_>) -> (u32, u32) {
    let rewriter = |words: &[u32], options: &Options, place: &mut Place<'_>| {
        let hooks = Hooks {
            after_pass: None,
            place: Some(place),
            ..Hooks::default()
        };
        instrument_with(words, options, hooks).map(|outcome| match outcome {
            Outcome::Instrumented(out) => Outcome::Instrumented(Instrumented {
                words: rebuild(&out.words, change),
                ..out
            }),
            unchanged => unchanged,
        })
    };
    // Tables would take the place of the code that is broken here.
    let options = GeneratorOptions {
        tables: false,
        ..GeneratorOptions::default()
    };
    detected_by(&rewriter, options, 60)
}

fn assert_detected(change: Break<'_>, at_least: u32) {
    let (detected, all) = detected(change);
    println!("{detected} of {all}");
    assert!(detected >= at_least, "only {detected} of {all} are detected");
}

/// Checks that a rewrite without the instructions `opcode` whose operand `operand` has this name is detected.
fn assert_needed(opcode: u16, operand: usize, name: &str, at_least: u32) {
    let removed = |inst: &Inst, names: &Names| inst.op == opcode && names.is(inst.word(operand), name);
    assert_detected(&|inst, names| (!removed(inst, names)).then(|| inst.clone()), at_least);
}

/// Checks that a rewrite with instructions `new` instead of `old` is detected.
fn assert_distinguished(old: u16, new: u16, at_least: u32) {
    let replace = |inst: &Inst| Inst {
        op: if inst.op == old { new } else { inst.op },
        ..inst.clone()
    };
    assert_detected(&|inst, _| Some(replace(inst)), at_least);
}

#[test]
fn a_correct_rewrite_is_accepted() {
    assert_eq!(detected(&|inst, _| Some(inst.clone())).0, 0);
}

#[test]
fn a_missing_abort_flag_is_detected() {
    let removed = |inst: &Inst, names: &Names| inst.op == op::Store && FLAGS.iter().any(|f| names.is(inst.word(0), f));
    assert_detected(&|inst, names| (!removed(inst, names)).then(|| inst.clone()), 30);
}

/// Only the records that are not compact have one.
#[test]
fn a_missing_commit_is_detected() {
    assert_needed(op::FunctionCall, 2, "vkabort_commit", 35);
}

/// The last word of a compact record: its entry point and its site.
#[test]
fn a_wrong_tag_is_detected() {
    assert_distinguished(op::BitwiseOr, op::BitwiseAnd, 40);
}

#[test]
fn a_missing_record_is_detected() {
    assert_needed(op::FunctionCall, 2, "vkabort_write_record", 40);
}

#[test]
fn a_missing_value_is_detected() {
    assert_needed(op::Store, 0, "vkabort_value0", 20);
}

#[test]
fn a_missing_key_is_detected() {
    assert_needed(op::Store, 0, "vkabort_key", 20);
}

#[test]
fn values_shifted_to_the_wrong_byte_are_detected() {
    assert_distinguished(op::ShiftLeftLogical, op::ShiftRightLogical, 20);
}

#[test]
fn wrong_constant_data_in_memory_is_detected() {
    let broken = |words: &[u32], options: &Options, place: &mut Place<'_>| {
        let mut inverted = |data: &[u32]| place(&data.iter().map(|word| !word).collect::<Vec<_>>());
        let hooks = Hooks {
            after_pass: None,
            place: Some(&mut inverted),
            ..Hooks::default()
        };
        instrument_with(words, options, hooks)
    };
    let (detected, all) = detected_by(&broken, GeneratorOptions::default(), 240);
    println!("{detected} of {all}");
    assert!(detected >= 5, "only {detected} of {all} are detected");
}

#[test]
fn loops_with_an_extra_iteration_are_detected() {
    assert_distinguished(op::ULessThan, op::ULessThanEqual, 40);
}

/// An invocation that returns where it aborts, instead of behind the merge block that a polling loop follows.
#[test]
fn an_abort_that_returns_in_front_of_a_polling_loop_is_detected() {
    let sets_flag = Cell::new(false);
    let change = |inst: &Inst, names: &Names| {
        let stores_flag = inst.op == op::Store && FLAGS.iter().any(|flag| names.is(inst.word(0), flag));
        sets_flag.set(inst.op != op::Label && (stores_flag || sets_flag.get()));
        let returns = Inst {
            op: op::Return,
            operands: Vec::new(),
            ..inst.clone()
        };
        Some(if sets_flag.get() && inst.op == op::Branch {
            returns
        } else {
            inst.clone()
        })
    };
    assert_detected(&change, 10);
}
