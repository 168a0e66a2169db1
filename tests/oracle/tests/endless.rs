//! Invalid modules in which an analysis could go on for ever, or collect more than memory holds.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use vkabort_instrument::{Checks, Options, Outcome, Sanitize, instrument};
use vkabort_oracle::op;
use vkabort_oracle::words::push;

/// Ids that both modules have.
const MAIN: u32 = 1;
const VOID: u32 = 2;
const PROCEDURE: u32 = 3;
const UINT: u32 = 4;
const FLOAT: u32 = 5;
const ZERO: u32 = 6;
const NINE: u32 = 7;
const START: u32 = 8;
/// Ids of the types of a buffer, of the buffer, and of a pointer into it.
const ELEMENT: u32 = 9;
const BLOCK: u32 = 10;
const TO_BLOCK: u32 = 11;
const TO_ELEMENT: u32 = 12;
const BUFFER: u32 = 13;
const AT: u32 = 14;
const STORAGE_BUFFER: u32 = 12;

/// A compute shader with this code, which stores to the only member of a buffer. `element` declares the member's type.
fn module(element: &[(u16, &[u32])], code: &[(u16, &[u32])]) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x1_0300, 0, 32, 0];
    let name = u32::from_le_bytes(*b"main");
    let before: [(u16, &[u32]); 8] = [
        (op::Capability, &[1]),
        (op::MemoryModel, &[0, 1]),
        (op::EntryPoint, &[5, MAIN, name, 0]),
        (op::ExecutionMode, &[MAIN, 17, 1, 1, 1]),
        (op::TypeVoid, &[VOID]),
        (op::TypeFunction, &[PROCEDURE, VOID]),
        (op::TypeInt, &[UINT, 32, 0]),
        (op::TypeFloat, &[FLOAT, 32]),
    ];
    let types: [(u16, &[u32]); 6] = [
        (op::Constant, &[UINT, ZERO, 0]),
        (op::Constant, &[UINT, NINE, 9]),
        (op::TypeStruct, &[BLOCK, ELEMENT]),
        (op::TypePointer, &[TO_BLOCK, STORAGE_BUFFER, BLOCK]),
        (op::TypePointer, &[TO_ELEMENT, STORAGE_BUFFER, ELEMENT]),
        (op::Variable, &[TO_BLOCK, BUFFER, STORAGE_BUFFER]),
    ];
    let start: [(u16, &[u32]); 3] = [
        (op::Function, &[VOID, MAIN, 0, PROCEDURE]),
        (op::Label, &[START]),
        (op::AccessChain, &[TO_ELEMENT, AT, BUFFER, ZERO]),
    ];
    let end: [(u16, &[u32]); 2] = [(op::Return, &[]), (op::FunctionEnd, &[])];
    let parts = [&before[..], element, &types, &start, code, &end];
    for (opcode, operands) in parts.into_iter().flatten() {
        push(&mut words, *opcode, operands);
    }
    words
}

fn with_all_checks() -> Options {
    Options {
        sanitize: Sanitize {
            checks: Checks::all(),
            ..Sanitize::default()
        },
        ..Options::default()
    }
}

/// Rewrites a module with all checks. It may be refused, but within the time.
fn ends(words: Vec<u32>) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let _ = done.send(instrument(&words, &with_all_checks()).is_ok());
    });
    is_done
        .recv_timeout(Duration::from_secs(60))
        .expect("the rewrite ends without a panic");
}

#[test]
fn a_pointer_that_is_loaded_from_itself() {
    let [loaded, quotient] = [15, 16];
    let element = [(op::TypeInt, &[ELEMENT, 32, 1][..])];
    ends(module(
        &element,
        &[
            (op::Load, &[UINT, loaded, loaded]),
            (op::UDiv, &[UINT, quotient, NINE, loaded]),
            (op::Store, &[AT, quotient]),
        ],
    ));
}

#[test]
fn a_vector_of_very_many_components() {
    let [loaded, sum] = [15, 16];
    let with_components = |count| {
        let element = [(op::TypeVector, &[ELEMENT, FLOAT, count][..])];
        module(
            &element,
            &[
                (op::Load, &[ELEMENT, loaded, AT]),
                (op::FAdd, &[ELEMENT, sum, loaded, loaded]),
                (op::Store, &[AT, sum]),
            ],
        )
    };
    ends(with_components(4_096));
    // No checks are planted.
    let left_alone = instrument(&with_components(u32::MAX), &with_all_checks()).expect("a module without aborts");
    assert_eq!(left_alone, Outcome::Unchanged);
}

#[test]
fn a_composite_whose_type_is_itself() {
    let [loaded, shifted, composite] = [15, 16, 17];
    let element = [(op::TypeInt, &[ELEMENT, 32, 1][..])];
    ends(module(
        &element,
        &[
            (op::Load, &[UINT, loaded, AT]),
            (op::ShiftLeftLogical, &[UINT, shifted, NINE, loaded]),
            (op::CompositeConstruct, &[composite, composite, shifted, shifted]),
            (op::Store, &[AT, composite]),
        ],
    ));
}

#[test]
fn a_constant_vector_of_itself() {
    let [pair, constant, loaded, quotient] = [15, 16, 17, 18];
    let element = [
        (op::TypeVector, &[pair, UINT, 2][..]),
        (op::TypeVector, &[ELEMENT, UINT, 2]),
        (op::ConstantComposite, &[pair, constant, constant, constant]),
    ];
    ends(module(
        &element,
        &[
            (op::Load, &[pair, loaded, AT]),
            (op::UDiv, &[pair, quotient, constant, loaded]),
            (op::Store, &[AT, quotient]),
        ],
    ));
}

#[test]
fn a_vector_that_is_a_component_of_itself() {
    let [loaded, converted, pair] = [15, 16, 17];
    let element = [(op::TypeVector, &[ELEMENT, UINT, 2][..])];
    ends(module(
        &element,
        &[
            (op::Load, &[ELEMENT, loaded, AT]),
            (op::UDiv, &[UINT, converted, NINE, loaded]),
            (op::CompositeConstruct, &[ELEMENT, pair, converted, pair]),
            (op::Store, &[AT, pair]),
        ],
    ));
}

#[test]
fn a_load_that_is_stored_before_it() {
    let [pointer, local, loaded, quotient] = [15, 16, 17, 18];
    let element = [
        (op::TypeInt, &[ELEMENT, 32, 1][..]),
        (op::TypePointer, &[pointer, 7, UINT]),
    ];
    ends(module(
        &element,
        &[
            (op::Variable, &[pointer, local, 7]),
            (op::Store, &[local, loaded]),
            (op::Load, &[UINT, loaded, local]),
            (op::UDiv, &[UINT, quotient, NINE, loaded]),
            (op::Store, &[AT, quotient]),
        ],
    ));
}

#[test]
fn a_counter_that_is_a_part_of_itself() {
    let [pointer, local, before, next, quotient] = [15, 16, 17, 18, 19];
    let [header, body, again, end, truth, no] = [20, 21, 22, 23, 24, 25];
    let element = [
        (op::TypeInt, &[ELEMENT, 32, 1][..]),
        (op::TypePointer, &[pointer, 7, UINT]),
        (op::TypeBool, &[truth]),
        (op::ConstantFalse, &[truth, no]),
    ];
    ends(module(
        &element,
        &[
            (op::Variable, &[pointer, local, 7]),
            (op::Store, &[local, NINE]),
            (op::Branch, &[header]),
            (op::Label, &[header]),
            (op::LoopMerge, &[end, again, 0]),
            (op::BranchConditional, &[no, body, end]),
            (op::Label, &[body]),
            (op::Load, &[UINT, before, local]),
            (op::UDiv, &[UINT, quotient, NINE, before]),
            (op::Store, &[AT, quotient]),
            (op::CompositeExtract, &[UINT, next, before, 0]),
            (op::Store, &[local, next]),
            (op::Branch, &[again]),
            (op::Label, &[again]),
            (op::Branch, &[header]),
            (op::Label, &[end]),
        ],
    ));
}
