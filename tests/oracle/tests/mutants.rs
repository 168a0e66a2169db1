//! Broken rewrites are noticed: the checks are worth something.
#![allow(clippy::print_stdout, reason = "tests say what they have seen")]

use vkabort_instrument::{Instrumented, Options, Outcome, instrument};
use vkabort_oracle::check::{Subject, check_rewriter};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, Inst, instructions, push, read_string};

/// A way to break an instruction: the new one, `None` to drop it. An instruction that it does not concern stays.
type Break = fn(&Inst, &Names) -> Option<Inst>;

/// Ids of the rewriter's own functions and variables, by name.
struct Names(Vec<(String, u32)>);

impl Names {
    fn is(&self, id: u32, name: &str) -> bool {
        self.0.iter().any(|(known, of)| *of == id && known == name)
    }
}

fn rebuild(words: &[u32], change: Break) -> Vec<u32> {
    let all = instructions(words).expect("a rewrite can be read");
    let named = all.iter().filter(|i| i.op == op::Name);
    let names = Names(named.map(|i| (read_string(i.from(1)).0, i.word(0))).collect());
    let mut out = words[..HEADER_WORDS].to_vec();
    for inst in &all {
        if let Some(inst) = change(inst, &names) {
            push(&mut out, inst.op, &inst.operands);
        }
    }
    out
}

/// The seeds for which a rewriter that breaks its output so is noticed, of all.
fn noticed(change: Break) -> (u32, u32) {
    let (mut noticed, mut all) = (0, 0);
    for seed in 0..60 {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, Wish::default());
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
        noticed += u32::from(check_rewriter(subject, choices, &broken).is_err());
    }
    (noticed, all)
}

fn assert_noticed(change: Break, at_least: u32) {
    let (noticed, all) = noticed(change);
    println!("{noticed} of {all}");
    assert!(noticed >= at_least, "only {noticed} of {all} are noticed");
}

#[test]
fn an_unbroken_rewrite_is_not_noticed() {
    assert_eq!(noticed(|inst, _| Some(inst.clone())).0, 0);
}

#[test]
fn callers_that_are_not_told_of_an_abort_are_noticed() {
    assert_noticed(
        |inst, names| {
            let tells = inst.op == op::Store && names.is(inst.word(0), "vkabort_aborted");
            (!tells).then(|| inst.clone())
        },
        15,
    );
}

#[test]
fn records_that_are_not_committed_are_noticed() {
    assert_noticed(
        |inst, names| {
            let commits = inst.op == op::FunctionCall && names.is(inst.word(2), "vkabort_commit");
            (!commits).then(|| inst.clone())
        },
        40,
    );
}

#[test]
fn an_identity_that_is_not_stored_is_noticed() {
    assert_noticed(
        |inst, names| {
            let stores = inst.op == op::Store && names.is(inst.word(0), "vkabort_identity");
            (!stores).then(|| inst.clone())
        },
        40,
    );
}

#[test]
fn values_shifted_to_the_wrong_byte_are_noticed() {
    assert_noticed(
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
fn loops_that_go_round_once_too_often_are_noticed() {
    assert_noticed(
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
