//! Loops with counters in phis and in variables.

use super::{Constants, TripCounts};
use crate::loop_module::*;
use std::collections::BTreeMap;
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Code, Id, Literal, op};

const PRIVATE_POINTER: Id = free(100);
const PRIVATE: Id = free(101);
/// A variable with an initialiser.
const INITIALISED: Id = free(102);
const NEXT: Id = free(103);
const OLD: Id = free(104);
const OTHER: Id = free(105);
const TRUE: Id = free(106);
const UNKNOWN: Id = free(107);
/// A specialisation constant, 10 by default.
const SPECIAL: Id = free(108);

/// A constant, up to 10.
const fn number(value: u32) -> Id {
    free(200 + value)
}

/// Memory or phi that holds the counter of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    Phi,
    /// A variable that is stored to before the loop.
    Stored,
    /// A variable with an initialiser.
    Initialised,
    Private,
    /// A phi that begins with a value that is not known.
    Strided,
}

const COUNTERS: [Counter; 4] = [Counter::Phi, Counter::Stored, Counter::Initialised, Counter::Private];

/// A loop from 3 on in steps of 2. `test` defines `CONDITION` by `WORD`, in the block with the label `tested_in`; `body` comes before
/// the step.
struct Shape {
    counter: Counter,
    tested_in: Id,
    test: fn(&mut Code),
    body: fn(&mut Code),
    /// Whether the values of specialisation constants are known.
    specialised: bool,
}

fn most(shape: &Shape) -> Option<u64> {
    let mut parts = Parts {
        is_left_last: shape.tested_in == CONTINUE,
        ..Parts::default()
    };
    let Parts {
        annotations,
        types,
        entry,
        header,
        body,
        next,
        ..
    } = &mut parts;
    types.op(op::ConstantTrue, (BOOL, TRUE));
    types.op(op::Undef, (UINT, UNKNOWN));
    annotations.op(op::Decorate, (SPECIAL, Literal(decoration::SpecId), Literal(7)));
    types.op(op::SpecConstant, (UINT, SPECIAL, Literal(10)));
    for value in 0..=10 {
        types.op(op::Constant, (UINT, number(value), Literal(value)));
    }
    let private = Literal(storage_class::Private);
    types.op(op::TypePointer, (PRIVATE_POINTER, private, UINT));
    types.op(op::Variable, (PRIVATE_POINTER, PRIVATE, private, number(3)));
    let function = Literal(storage_class::Function);
    entry.op(op::Variable, (LOCAL_POINTER, INITIALISED, function, number(3)));
    let variable = match shape.counter {
        Counter::Private => PRIVATE,
        Counter::Initialised => INITIALISED,
        Counter::Stored | Counter::Phi | Counter::Strided => LOCAL,
    };
    if shape.counter == Counter::Stored {
        entry.op(op::Store, (LOCAL, number(3)));
    }
    (shape.body)(body);
    if !body.words.is_empty() {
        body.branch(CONTINUE);
    }
    if let Counter::Phi | Counter::Strided = shape.counter {
        let first = if shape.counter == Counter::Phi {
            number(3)
        } else {
            UNKNOWN
        };
        header.op(op::Phi, (UINT, WORD, first, ENTRY, NEXT, CONTINUE));
        next.op(op::IAdd, (UINT, NEXT, WORD, number(2)));
    } else {
        header.op(op::Load, (UINT, WORD, variable));
        next.op(op::Load, (UINT, OLD, variable));
        next.op(op::IAdd, (UINT, NEXT, OLD, number(2)));
        next.op(op::Store, (variable, NEXT));
    }
    (shape.test)(if shape.tested_in == HEADER { header } else { next });
    parts.ask(|view, l| {
        let specialization = BTreeMap::new();
        let constants = Constants::new(shape.specialised.then_some(&specialization));
        TripCounts::new(view, &constants).most(l)
    })
}

fn below_ten(code: &mut Code) {
    code.op(op::ULessThan, (BOOL, CONDITION, WORD, number(10)));
}

fn below_ten_stepped(code: &mut Code) {
    code.op(op::ULessThan, (BOOL, CONDITION, NEXT, number(10)));
}

fn nothing(_: &mut Code) {}

#[test]
fn a_counter_may_begin_anywhere() {
    let of = |tested_in, test| Shape {
        counter: Counter::Strided,
        tested_in,
        test,
        body: nothing,
        specialised: false,
    };
    // 0, 2, 4, 6, 8
    assert_eq!(most(&of(HEADER, below_ten)), Some(5));
    assert_eq!(most(&of(CONTINUE, below_ten_stepped)), Some(6));
    let until_ten: fn(&mut Code) = |code| code.op(op::INotEqual, (BOOL, CONDITION, WORD, number(10)));
    assert_eq!(most(&of(HEADER, until_ten)), None, "an odd number is never 10");
}

#[test]
fn a_specialisation_constant_has_a_value_if_pipelines_are_known() {
    let of = |specialised| Shape {
        counter: Counter::Phi,
        tested_in: HEADER,
        test: |code| code.op(op::ULessThan, (BOOL, CONDITION, WORD, SPECIAL)),
        body: nothing,
        specialised,
    };
    assert_eq!(most(&of(false)), None);
    assert_eq!(most(&of(true)), Some(4));
}

#[test]
fn a_counter_is_found_in_phis_and_in_variables() {
    for counter in COUNTERS {
        let shape = |tested_in, test| Shape {
            counter,
            tested_in,
            test,
            body: nothing,
            specialised: false,
        };
        // 3, 5, 7, 9
        assert_eq!(most(&shape(HEADER, below_ten)), Some(4));
        // The body comes before the test: 5, 7, 9, and the last.
        assert_eq!(most(&shape(CONTINUE, below_ten_stepped)), Some(4));
        assert_eq!(
            most(&shape(CONTINUE, |code| code.op(op::LogicalNot, (BOOL, CONDITION, TRUE)))),
            None
        );
    }
}

#[test]
fn a_comparison_is_found_behind_many_conjunctions() {
    let test = |code: &mut Code| {
        code.op(op::ULessThan, (BOOL, OTHER, number(10), WORD));
        code.op(op::LogicalNot, (BOOL, free(30), OTHER));
        // More than the analysis followed when it had a limit.
        for id in 31..90 {
            code.op(op::LogicalAnd, (BOOL, free(id), TRUE, free(id - 1)));
        }
        code.op(op::LogicalAnd, (BOOL, CONDITION, free(89), TRUE));
    };
    let shape = Shape {
        counter: Counter::Phi,
        tested_in: HEADER,
        test,
        body: nothing,
        specialised: false,
    };
    assert_eq!(most(&shape), Some(4));
}

#[test]
fn a_counter_that_steps_over_its_end_has_no_count() {
    for counter in COUNTERS {
        let shape = Shape {
            counter,
            tested_in: HEADER,
            test: |code| code.op(op::INotEqual, (BOOL, CONDITION, WORD, number(4))),
            body: nothing,
            specialised: false,
        };
        assert_eq!(most(&shape), None);
    }
}

#[test]
fn a_second_store_stops_the_count() {
    for (counter, variable) in [(Counter::Stored, LOCAL), (Counter::Private, PRIVATE)] {
        let body: fn(&mut Code) = match variable == LOCAL {
            true => |code| code.op(op::Store, (LOCAL, number(0))),
            false => |code| code.op(op::Store, (PRIVATE, number(0))),
        };
        let shape = Shape {
            counter,
            tested_in: HEADER,
            test: below_ten,
            body,
            specialised: false,
        };
        assert_eq!(most(&shape), None);
    }
}
