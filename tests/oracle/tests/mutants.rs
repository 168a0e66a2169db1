//! The checks detect broken rewrites.
#![allow(clippy::print_stdout, reason = "the tests print statistics")]

use vkabort_instrument::{Instrumented, Options, Outcome, instrument};
use vkabort_oracle::check::{Subject, check_rewriter};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, Inst, instructions, push, read_string};

/// Breaks an instruction: returns the new one, or `None` to remove it.
type Break = fn(&Inst, &Names) -> Option<Inst>;

/// Ids of the rewriter's functions and variables, by name.
struct Names(Vec<(String, u32)>);

impl Names {
    fn is(&self, id: u32, name: &str) -> bool {
        self.0.iter().any(|(other, other_id)| *other_id == id && other == name)
    }
}

fn rebuild(words: &[u32], change: Break) -> Vec<u32> {
    let all = instructions(words).expect("a well-formed rewrite");
    let name_insts = all.iter().filter(|i| i.op == op::Name);
    let names = Names(
        name_insts
            .map(|i| (read_string(i.operands_from(1)).0, i.word(0)))
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

/// Number of seeds for which the broken rewriter is detected, and of all seeds.
fn detected(change: Break) -> (u32, u32) {
    let (mut detected, mut all) = (0, 0);
    for seed in 0..60 {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, GeneratorOptions::default());
        let subject = Subject {
            words: &module.words,
            ticks: module.ticks,
        };
        let broken = |words: &[u32], options: &Options| {
            instrument(words, options).map(|outcome| match outcome {
                Outcome::Instrumented(out) => Outcome::Instrumented(Instrumented {
                    words: rebuild(&out.words, change),
                    ..out
                }),
                unchanged => unchanged,
            })
        };
        all += 1;
        detected += u32::from(check_rewriter(subject, choices, &broken).is_err());
    }
    (detected, all)
}

fn assert_detected(change: Break, at_least: u32) {
    let (detected, all) = detected(change);
    println!("{detected} of {all}");
    assert!(detected >= at_least, "only {detected} of {all} are detected");
}

#[test]
fn a_correct_rewrite_is_accepted() {
    assert_eq!(detected(|inst, _| Some(inst.clone())).0, 0);
}

#[test]
fn a_missing_abort_flag_is_detected() {
    assert_detected(
        |inst, names| {
            let sets_flag = inst.op == op::Store && names.is(inst.word(0), "vkabort_aborted");
            (!sets_flag).then(|| inst.clone())
        },
        15,
    );
}

#[test]
fn a_missing_commit_is_detected() {
    assert_detected(
        |inst, names| {
            let commits = inst.op == op::FunctionCall && names.is(inst.word(2), "vkabort_commit");
            (!commits).then(|| inst.clone())
        },
        40,
    );
}

#[test]
fn a_missing_identity_is_detected() {
    assert_detected(
        |inst, names| {
            let stores = inst.op == op::Store && names.is(inst.word(0), "vkabort_identity");
            (!stores).then(|| inst.clone())
        },
        40,
    );
}

#[test]
fn values_shifted_to_the_wrong_byte_are_detected() {
    assert_detected(
        |inst, _| {
            let mut inst = inst.clone();
            if inst.op == op::ShiftLeftLogical {
                inst.op = op::ShiftRightLogical;
            }
            Some(inst)
        },
        20,
    );
}

#[test]
fn loops_with_an_extra_iteration_are_detected() {
    assert_detected(
        |inst, _| {
            let mut inst = inst.clone();
            if inst.op == op::ULessThan {
                inst.op = op::ULessThanEqual;
            }
            Some(inst)
        },
        40,
    );
}
