//! Loops with counters in phis and in variables.

use super::TripCounts;
use crate::analysis::index::Index;
use crate::analysis::view::ModuleView;
use crate::spv::op::{execution_model, storage_class};
use crate::spv::{Code, Id, Literal, op};

const VOID: Id = Id::new(1);
const BOOL: Id = Id::new(2);
const UINT: Id = Id::new(3);
const FUNCTION_TYPE: Id = Id::new(4);
const MAIN: Id = Id::new(5);
const POINTER: Id = Id::new(6);
const PRIVATE_POINTER: Id = Id::new(7);
const PRIVATE: Id = Id::new(8);
const VARIABLE: Id = Id::new(9);
const ENTRY: Id = Id::new(10);
const HEADER: Id = Id::new(11);
const BODY: Id = Id::new(12);
const CONTINUE: Id = Id::new(13);
const MERGE: Id = Id::new(14);
const VALUE: Id = Id::new(15);
const NEXT: Id = Id::new(16);
const CONDITION: Id = Id::new(17);
const OLD: Id = Id::new(18);
const OTHER: Id = Id::new(19);
const TRUE: Id = Id::new(20);
const BOUND: u32 = 300;

/// A constant of a test, up to 99.
const fn number(value: u32) -> Id {
    Id::new(200 + value)
}

/// Where the counter of a loop is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    Phi,
    /// A variable that is stored to before the loop.
    Stored,
    /// A variable with an initialiser.
    Initialised,
    Private,
}

const COUNTERS: [Counter; 4] = [Counter::Phi, Counter::Stored, Counter::Initialised, Counter::Private];

/// A loop from 3 on in steps of 2. `test` defines `CONDITION` by `VALUE`, in the block with the label `tested_in`; `body` comes before
/// the step.
struct Shape {
    counter: Counter,
    tested_in: Id,
    test: fn(&mut Code),
    body: fn(&mut Code),
}

fn most(shape: &Shape) -> Option<u64> {
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10600, 0, BOUND, 0]);
    code.op(op::Capability, Literal(1));
    code.op(op::MemoryModel, (Literal(0), Literal(1)));
    code.op(op::EntryPoint, (Literal(execution_model::GLCompute), MAIN, "main"));
    code.op(op::TypeVoid, VOID);
    code.op(op::TypeBool, BOOL);
    code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
    code.op(op::ConstantTrue, (BOOL, TRUE));
    for value in 0..100 {
        code.op(op::Constant, (UINT, number(value), Literal(value)));
    }
    code.op(op::TypeFunction, (FUNCTION_TYPE, VOID));
    code.op(op::TypePointer, (POINTER, Literal(storage_class::Function), UINT));
    let private = Literal(storage_class::Private);
    code.op(op::TypePointer, (PRIVATE_POINTER, private, UINT));
    code.op(op::Variable, (PRIVATE_POINTER, PRIVATE, private, number(3)));
    code.op(op::Function, (VOID, MAIN, Literal(0), FUNCTION_TYPE));
    code.label(ENTRY);
    let function = Literal(storage_class::Function);
    let variable = match shape.counter {
        Counter::Private => PRIVATE,
        _ => VARIABLE,
    };
    match shape.counter {
        Counter::Initialised => code.op(op::Variable, (POINTER, VARIABLE, function, number(3))),
        _ => code.op(op::Variable, (POINTER, VARIABLE, function)),
    }
    if shape.counter == Counter::Stored {
        code.op(op::Store, (VARIABLE, number(3)));
    }
    code.branch(HEADER);
    code.label(HEADER);
    match shape.counter {
        Counter::Phi => code.op(op::Phi, (UINT, VALUE, number(3), ENTRY, NEXT, CONTINUE)),
        _ => code.op(op::Load, (UINT, VALUE, variable)),
    }
    let test = |code: &mut Code, label| {
        if shape.tested_in == label {
            (shape.test)(code);
        }
        shape.tested_in == label
    };
    let is_tested = test(&mut code, HEADER);
    code.op(op::LoopMerge, (MERGE, CONTINUE, Literal(0)));
    match is_tested {
        true => code.op(op::BranchConditional, (CONDITION, BODY, MERGE)),
        false => code.branch(BODY),
    }
    code.label(BODY);
    (shape.body)(&mut code);
    code.branch(CONTINUE);
    code.label(CONTINUE);
    match shape.counter {
        Counter::Phi => code.op(op::IAdd, (UINT, NEXT, VALUE, number(2))),
        _ => {
            code.op(op::Load, (UINT, OLD, variable));
            code.op(op::IAdd, (UINT, NEXT, OLD, number(2)));
            code.op(op::Store, (variable, NEXT));
        }
    }
    match test(&mut code, CONTINUE) {
        true => code.op(op::BranchConditional, (CONDITION, HEADER, MERGE)),
        false => code.branch(HEADER),
    }
    code.label(MERGE);
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    let index = Index::new(&code.words).expect("a module");
    let view = ModuleView::new(&index);
    let (first, _) = index.functions.iter().next().expect("a function");
    let function = view.function(first).expect("a view");
    let l = function.loops().loops().first().expect("a loop");
    TripCounts::new(function).most(l)
}

fn below_ten(code: &mut Code) {
    code.op(op::ULessThan, (BOOL, CONDITION, VALUE, number(10)));
}

fn below_ten_stepped(code: &mut Code) {
    code.op(op::ULessThan, (BOOL, CONDITION, NEXT, number(10)));
}

fn nothing(_: &mut Code) {}

#[test]
fn a_counter_is_found_in_phis_and_in_variables() {
    for counter in COUNTERS {
        let shape = |tested_in, test| Shape {
            counter,
            tested_in,
            test,
            body: nothing,
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
        code.op(op::ULessThan, (BOOL, OTHER, number(10), VALUE));
        code.op(op::LogicalNot, (BOOL, Id::new(30), OTHER));
        // More than the analysis followed when it had a limit.
        for id in 31..90 {
            code.op(op::LogicalAnd, (BOOL, Id::new(id), TRUE, Id::new(id - 1)));
        }
        code.op(op::LogicalAnd, (BOOL, CONDITION, Id::new(89), TRUE));
    };
    let shape = Shape {
        counter: Counter::Phi,
        tested_in: HEADER,
        test,
        body: nothing,
    };
    assert_eq!(most(&shape), Some(4));
}

#[test]
fn a_counter_that_steps_over_its_end_has_no_count() {
    for counter in COUNTERS {
        let shape = Shape {
            counter,
            tested_in: HEADER,
            test: |code| code.op(op::INotEqual, (BOOL, CONDITION, VALUE, number(4))),
            body: nothing,
        };
        assert_eq!(most(&shape), None);
    }
}

#[test]
fn a_second_store_stops_the_count() {
    for (counter, variable) in [(Counter::Stored, VARIABLE), (Counter::Private, PRIVATE)] {
        let body: fn(&mut Code) = match variable == VARIABLE {
            true => |code| code.op(op::Store, (VARIABLE, number(0))),
            false => |code| code.op(op::Store, (PRIVATE, number(0))),
        };
        let shape = Shape {
            counter,
            tested_in: HEADER,
            test: below_ten,
            body,
        };
        assert_eq!(most(&shape), None);
    }
}
