//! Exits that depend on constants, through phis, arrays and pointers.

use super::ConstantExits;
use crate::analysis::index::Index;
use crate::analysis::view::ModuleView;
use crate::spv::op::{execution_model, storage_class};
use crate::spv::{Code, Id, Literal, op};

const VOID: Id = Id::new(1);
const BOOL: Id = Id::new(2);
const UINT: Id = Id::new(3);
const ZERO: Id = Id::new(4);
const ONE: Id = Id::new(5);
const FUNCTION_TYPE: Id = Id::new(6);
const MAIN: Id = Id::new(7);
const ARRAY: Id = Id::new(8);
const ARRAY_POINTER: Id = Id::new(9);
const POINTER: Id = Id::new(10);
const INPUT_POINTER: Id = Id::new(11);
const INPUT: Id = Id::new(12);
const LOCAL: Id = Id::new(13);
const LABELS: [Id; 5] = [Id::new(20), Id::new(21), Id::new(22), Id::new(23), Id::new(24)];
/// What is compared with 1 to leave the loop.
const VALUE: Id = Id::new(30);
const CONDITION: Id = Id::new(31);
const FREE: u32 = 40;
const BOUND: u32 = 6000;

const fn free(number: u32) -> Id {
    Id::new(FREE + number)
}

/// Whether the loop has a constant exit if `entry` comes before it and `header` defines `VALUE`.
fn has_exit(entry: impl FnOnce(&mut Code), header: impl FnOnce(&mut Code)) -> bool {
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10600, 0, BOUND, 0]);
    code.op(op::Capability, Literal(1));
    code.op(op::MemoryModel, (Literal(0), Literal(1)));
    code.op(
        op::EntryPoint,
        (Literal(execution_model::GLCompute), MAIN, "main", INPUT),
    );
    code.op(op::TypeVoid, VOID);
    code.op(op::TypeBool, BOOL);
    code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
    code.op(op::Constant, (UINT, ZERO, Literal(0)));
    code.op(op::Constant, (UINT, ONE, Literal(1)));
    code.op(op::TypeFunction, (FUNCTION_TYPE, VOID));
    code.op(op::TypeArray, (ARRAY, UINT, ONE));
    code.op(
        op::TypePointer,
        (ARRAY_POINTER, Literal(storage_class::Function), ARRAY),
    );
    code.op(op::TypePointer, (POINTER, Literal(storage_class::Function), UINT));
    code.op(op::TypePointer, (INPUT_POINTER, Literal(storage_class::Input), UINT));
    code.op(op::Variable, (INPUT_POINTER, INPUT, Literal(storage_class::Input)));
    let [first, head, body, next, merge] = LABELS;
    code.op(op::Function, (VOID, MAIN, Literal(0), FUNCTION_TYPE));
    code.label(first);
    code.op(op::Variable, (ARRAY_POINTER, LOCAL, Literal(storage_class::Function)));
    entry(&mut code);
    code.branch(head);
    code.label(head);
    header(&mut code);
    code.op(op::ULessThan, (BOOL, CONDITION, VALUE, ONE));
    code.op(op::LoopMerge, (merge, next, Literal(0)));
    code.op(op::BranchConditional, (CONDITION, body, merge));
    code.label(body);
    code.branch(next);
    code.label(next);
    code.branch(head);
    code.label(merge);
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    let index = Index::new(&code.words).expect("a module");
    let view = ModuleView::new(&index);
    let (number, _) = index.functions.iter().next().expect("a function");
    let function = view.function(number).expect("a view");
    let l = function.loops().loops().first().expect("a loop");
    ConstantExits::new(function, &view.glsl).has(l)
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
            code.op(op::AccessChain, (POINTER, free(1), LOCAL, ZERO));
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
        code.op(op::AccessChain, (POINTER, free(1), LOCAL, ZERO));
        code.op(op::Store, (free(1), ONE));
        code.op(op::AccessChain, (POINTER, free(2), LOCAL, free(0)));
    };
    assert!(!has_exit(store, |code| code.op(op::Load, (UINT, VALUE, free(2)))));
}

#[test]
fn only_the_store_that_reaches_a_load_counts() {
    let store = |code: &mut Code| {
        load_input(code);
        code.op(op::AccessChain, (POINTER, free(1), LOCAL, ZERO));
        code.op(op::Store, (free(1), free(0)));
        code.op(op::Store, (free(1), ONE));
    };
    assert!(has_exit(store, |code| code.op(op::Load, (UINT, VALUE, free(1)))));
}
