//! Exits that depend on constants, through phis, arrays and pointers.

use super::ConstantExits;
use crate::loop_module::*;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Code, Id, Literal, op};

const ONE: Id = free(5000);
const ARRAY: Id = free(5001);
const ARRAY_POINTER: Id = free(5002);
/// An array of the function.
const ELEMENTS: Id = free(5003);
/// Value that is compared with 1 to leave the loop.
const VALUE: Id = free(5004);

/// Whether the loop has a constant exit if `entry` comes before it and `header` defines `VALUE`.
fn has_exit(entry: impl FnOnce(&mut Code), header: impl FnOnce(&mut Code)) -> bool {
    let mut parts = Parts::default();
    let function = Literal(storage_class::Function);
    parts.types.op(op::Constant, (UINT, ONE, Literal(1)));
    parts.types.op(op::TypeArray, (ARRAY, UINT, ONE));
    parts.types.op(op::TypePointer, (ARRAY_POINTER, function, ARRAY));
    parts.entry.op(op::Variable, (ARRAY_POINTER, ELEMENTS, function));
    entry(&mut parts.entry);
    header(&mut parts.header);
    parts.header.op(op::ULessThan, (BOOL, CONDITION, VALUE, ONE));
    parts.ask(|view, l| ConstantExits::new(view, &[]).has(l))
}

fn load_input(code: &mut Code) {
    code.op(op::Load, (UINT, free(0), INPUT));
}

#[test]
fn a_chain_of_additions_is_followed_to_its_end() {
    for (start, expected) in [(ONE, true), (free(0), false)] {
        let found = has_exit(load_input, |code| {
            // Longer than the analysis followed when it had a limit.
            for number in 1..5000 {
                let before = if number == 1 { start } else { free(number - 1) };
                code.op(op::IAdd, (UINT, free(number), before, ONE));
            }
            code.op(op::IAdd, (UINT, VALUE, free(4999), ONE));
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn a_load_has_what_is_stored() {
    for (stored, expected) in [(ONE, true), (free(0), false)] {
        let store = |code: &mut Code| {
            load_input(code);
            code.op(op::AccessChain, (LOCAL_POINTER, free(1), ELEMENTS, ZERO));
            code.op(op::Store, (free(1), stored));
        };
        assert_eq!(
            has_exit(store, |code| code.op(op::Load, (UINT, VALUE, free(1)))),
            expected
        );
    }
}

#[test]
fn a_load_by_a_dynamic_index_is_dynamic() {
    let store = |code: &mut Code| {
        load_input(code);
        code.op(op::AccessChain, (LOCAL_POINTER, free(1), ELEMENTS, ZERO));
        code.op(op::Store, (free(1), ONE));
        code.op(op::AccessChain, (LOCAL_POINTER, free(2), ELEMENTS, free(0)));
    };
    assert!(!has_exit(store, |code| code.op(op::Load, (UINT, VALUE, free(2)))));
}

#[test]
fn only_the_store_that_reaches_a_load_counts() {
    let store = |code: &mut Code| {
        load_input(code);
        code.op(op::AccessChain, (LOCAL_POINTER, free(1), ELEMENTS, ZERO));
        code.op(op::Store, (free(1), free(0)));
        code.op(op::Store, (free(1), ONE));
    };
    assert!(has_exit(store, |code| code.op(op::Load, (UINT, VALUE, free(1)))));
}
