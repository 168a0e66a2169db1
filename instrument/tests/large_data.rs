//! Constant data that no constant holds, where no memory is left for it: golden files would be too large.

use vkabort_instrument::{ErrorKind, Options, Outcome, Result, instrument};
use vkabort_spirv::op::{capability, execution_model, storage_class};
use vkabort_spirv::words::Insts;
use vkabort_spirv::{Code, Id, Literal, Words, op};

const VOID: Id = Id::new(1);
const UINT: Id = Id::new(2);
const CHAR: Id = Id::new(3);
const LENGTH: Id = Id::new(4);
const ARRAY: Id = Id::new(5);
const DATA: Id = Id::new(6);
const POINTER: Id = Id::new(7);
const ELEMENT: Id = Id::new(8);
const PROCEDURE: Id = Id::new(9);
const MAIN: Id = Id::new(10);
const ENTRY: Id = Id::new(11);
const TABLE: Id = Id::new(12);
const ZERO: Id = Id::new(13);
const AT: Id = Id::new(14);
const FOUND: Id = Id::new(15);
const OTHER: Id = Id::new(16);
const COUNT: u32 = 65_536;
const COMPOSITE_INSERT: Literal = Literal(82);

/// Rewrites a compute shader that looks up an element of 65,536 bytes. `more` adds declarations.
fn rewrite(more: impl FnOnce(&mut Code)) -> Result<Vec<u32>> {
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10300, 0, 20, 0]);
    for needed in [1, capability::Int8, capability::ConstantDataKHR] {
        code.op(op::Capability, Literal(needed));
    }
    code.op(op::MemoryModel, Words(&[0, 1]));
    code.op(op::EntryPoint, (Literal(execution_model::GLCompute), MAIN, "main"));
    code.op(op::TypeVoid, VOID);
    code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
    code.op(op::TypeInt, (CHAR, Literal(8), Literal(0)));
    code.op(op::Constant, (UINT, LENGTH, Literal(COUNT)));
    code.op(op::Constant, (UINT, ZERO, Literal(0)));
    code.op(op::TypeArray, (ARRAY, CHAR, LENGTH));
    code.op(
        op::ConstantDataKHR,
        (ARRAY, DATA, Words(&[0x0403_0201; COUNT as usize / 4])),
    );
    more(&mut code);
    code.op(op::TypePointer, (POINTER, Literal(storage_class::Function), ARRAY));
    code.op(op::TypePointer, (ELEMENT, Literal(storage_class::Function), CHAR));
    code.op(op::TypeFunction, (PROCEDURE, VOID));
    code.op(op::Function, (VOID, MAIN, Literal(0), PROCEDURE));
    code.label(ENTRY);
    code.op(op::Variable, (POINTER, TABLE, Literal(storage_class::Function), DATA));
    code.op(op::AccessChain, (ELEMENT, AT, TABLE, ZERO));
    code.op(op::Load, (CHAR, FOUND, AT));
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    match instrument(&code.words, &Options::default())? {
        Outcome::Instrumented(new) => Ok(new.words),
        Outcome::Unchanged => panic!("the module declares ConstantDataKHR"),
    }
}

#[test]
fn without_memory_the_words_are_in_a_variable() {
    let words = rewrite(|_| ()).expect("a valid module");
    let constants = Insts::new(&words, 5).filter(|inst| inst.opcode() == op::ConstantComposite);
    let lengths: Vec<usize> = constants.map(|inst| inst.words.len() - 3).collect();
    assert_eq!(lengths, [COUNT as usize / 4]);
    let mut left = Insts::new(&words, 5).filter(|inst| inst.opcode() == op::ConstantDataKHR);
    assert!(left.next().is_none());
}

#[test]
fn an_operation_that_needs_one_constant_is_refused() {
    let error = rewrite(|code| {
        code.op(
            op::SpecConstantOp,
            (ARRAY, OTHER, COMPOSITE_INSERT, DATA, DATA, Literal(0)),
        )
    });
    let error = error.expect_err("no constant has 65,536 elements");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("specialisation constant operation"), "{error}");
}
