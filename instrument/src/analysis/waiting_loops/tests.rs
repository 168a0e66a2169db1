//! Loops that must count as waiting although they use instructions or types that the analysis cannot follow at a glance.

use super::{WaitingLoops, waiting_headers};
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::spv::op::{decoration, execution_model, storage_class};
use crate::spv::{Code, Id, op};

const VOID: Id = 1;
const BOOL: Id = 2;
const UINT: Id = 3;
const ZERO: Id = 4;
const FUNCTION_TYPE: Id = 5;
const MAIN: Id = 6;
const BLOCK: Id = 7;
const BLOCK_POINTER: Id = 8;
const BUFFER: Id = 9;
const UINT_POINTER: Id = 10;
const LOCAL_POINTER: Id = 11;
const LOCAL: Id = 12;
const CONDITION: Id = 13;
const ENTRY: Id = 14;
const HEADER: Id = 15;
const BODY: Id = 16;
const CONTINUE: Id = 17;
const MERGE: Id = 18;
/// Ids from here on belong to a test.
const FREE: Id = 20;
const BOUND: u32 = 200;

/// An opcode that no table has.
const UNKNOWN: u16 = 7999;

/// Longer than any chain that the analysis followed when it had a limit.
const LONG: u32 = 40;

/// The parts of a module with one loop that differ between tests. `annotations` and `types` join those of the module;
/// `header` is the code of the loop's header, which defines `CONDITION`.
#[derive(Default)]
struct Parts {
    annotations: Code,
    types: Code,
    header: Code,
}

/// Whether the loop of a compute shader counts as waiting. `add` adds the parts.
fn waits(add: impl FnOnce(&mut Parts)) -> bool {
    let mut parts = Parts::default();
    add(&mut parts);
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10600, 0, BOUND, 0]);
    code.op(op::Capability, &[1]);
    code.op(op::MemoryModel, &[0, 1]);
    code.text(op::EntryPoint, &[execution_model::GLCompute, MAIN], "main");
    code.words.extend(&parts.annotations.words);
    code.op(op::TypeVoid, &[VOID]);
    code.op(op::TypeBool, &[BOOL]);
    code.op(op::TypeInt, &[UINT, 32, 0]);
    code.op(op::Constant, &[UINT, ZERO, 0]);
    code.op(op::TypeFunction, &[FUNCTION_TYPE, VOID]);
    code.op(op::TypeStruct, &[BLOCK, UINT]);
    code.op(op::TypePointer, &[BLOCK_POINTER, storage_class::StorageBuffer, BLOCK]);
    code.op(op::Variable, &[BLOCK_POINTER, BUFFER, storage_class::StorageBuffer]);
    code.op(op::TypePointer, &[UINT_POINTER, storage_class::StorageBuffer, UINT]);
    code.op(op::TypePointer, &[LOCAL_POINTER, storage_class::Function, UINT]);
    code.words.extend(&parts.types.words);
    code.op(op::Function, &[VOID, MAIN, 0, FUNCTION_TYPE]);
    code.label(ENTRY);
    code.op(op::Variable, &[LOCAL_POINTER, LOCAL, storage_class::Function]);
    code.branch(HEADER);
    code.label(HEADER);
    code.words.extend(&parts.header.words);
    code.op(op::LoopMerge, &[MERGE, CONTINUE, 0]);
    code.op(op::BranchConditional, &[CONDITION, BODY, MERGE]);
    code.label(BODY);
    code.branch(CONTINUE);
    code.label(CONTINUE);
    code.branch(HEADER);
    code.label(MERGE);
    code.op(op::Return, &[]);
    code.op(op::FunctionEnd, &[]);
    let index = Index::new(&code.words).expect("a module");
    let marks = waiting_headers(&index, &CallGraph::new(&index), &WaitingLoops::default());
    marks.values().contains(&true)
}

/// Adds `LONG` copies of a pointer. Returns the last one.
fn copies(code: &mut Code, ty: Id, pointer: Id, first: Id) -> Id {
    for copy in 0..LONG {
        let source = if copy == 0 { pointer } else { first + copy - 1 };
        code.op(op::CopyObject, &[ty, first + copy, source]);
    }
    first + LONG - 1
}

/// Adds a load and the comparison that decides whether the loop is left.
fn compare_load(code: &mut Code, pointer: Id) {
    code.op(op::Load, &[UINT, FREE, pointer]);
    code.op(op::IEqual, &[BOOL, CONDITION, FREE, ZERO]);
}

fn decorate_coherent(parts: &mut Parts, target: Id) {
    parts.annotations.op(op::Decorate, &[target, decoration::Coherent]);
}

fn decorate_member_coherent(parts: &mut Parts) {
    parts
        .annotations
        .op(op::MemberDecorate, &[BLOCK, 0, decoration::Coherent]);
}

#[test]
fn a_plain_load_does_not_wait() {
    assert!(!waits(|Parts { header, .. }| {
        header.op(op::AccessChain, &[UINT_POINTER, FREE + 1, BUFFER, ZERO]);
        compare_load(header, FREE + 1);
    }));
}

#[test]
fn the_result_of_an_unknown_instruction_may_wait() {
    assert!(waits(|parts| parts.header.op(UNKNOWN, &[BOOL, CONDITION, BUFFER])));
}

#[test]
fn an_unknown_instruction_may_store_what_others_write() {
    assert!(waits(|Parts { header, .. }| {
        header.op(UNKNOWN, &[LOCAL, BUFFER]);
        compare_load(header, LOCAL);
    }));
}

#[test]
fn a_coherent_variable_is_found_behind_many_copies() {
    assert!(waits(|parts| {
        decorate_coherent(parts, BUFFER);
        let header = &mut parts.header;
        let last = copies(header, BLOCK_POINTER, BUFFER, FREE + 2);
        header.op(op::AccessChain, &[UINT_POINTER, FREE + 1, last, ZERO]);
        compare_load(header, FREE + 1);
    }));
}

#[test]
fn a_store_is_found_behind_many_copies() {
    assert!(waits(|Parts { header, .. }| {
        header.op(op::AccessChain, &[UINT_POINTER, FREE + 100, BUFFER, ZERO]);
        header.op(op::AtomicIAdd, &[UINT, FREE + 101, FREE + 100, ZERO, ZERO, ZERO]);
        let last = copies(header, LOCAL_POINTER, LOCAL, FREE + 2);
        header.op(op::Store, &[last, FREE + 101]);
        compare_load(header, LOCAL);
    }));
}

#[test]
fn a_coherent_block_is_found_in_deep_arrays() {
    assert!(waits(|parts| {
        decorate_member_coherent(parts);
        let Parts { types, header, .. } = parts;
        let (pointer, variable, one) = (FREE + 100, FREE + 101, FREE + 102);
        types.op(op::Constant, &[UINT, one, 1]);
        for level in 0..LONG {
            let element = if level == 0 { BLOCK } else { FREE + 1 + level };
            types.op(op::TypeArray, &[FREE + 2 + level, element, one]);
        }
        let array = FREE + 1 + LONG;
        types.op(op::TypePointer, &[pointer, storage_class::StorageBuffer, array]);
        types.op(op::Variable, &[pointer, variable, storage_class::StorageBuffer]);
        let chain = [UINT_POINTER, FREE + 103, variable];
        header.op2(op::AccessChain, &chain, &[ZERO; LONG as usize + 1]);
        compare_load(header, FREE + 103);
    }));
}

/// An untyped variable with `BLOCK` in it.
const UNTYPED: Id = FREE + 101;

/// Whether a load through an untyped access chain into `UNTYPED` waits.
fn waits_untyped(chain: u16, decorate: impl FnOnce(&mut Parts)) -> bool {
    waits(|parts| {
        decorate(parts);
        let Parts { types, header, .. } = parts;
        let pointer = FREE + 100;
        types.op(op::TypeUntypedPointerKHR, &[pointer, storage_class::StorageBuffer]);
        let variable = [pointer, UNTYPED, storage_class::StorageBuffer, BLOCK];
        types.op(op::UntypedVariableKHR, &variable);
        header.op(chain, &[pointer, FREE + 102, BLOCK, UNTYPED, ZERO]);
        compare_load(header, FREE + 102);
    })
}

#[test]
fn a_coherent_variable_is_found_through_untyped_pointers() {
    assert!(!waits_untyped(op::UntypedAccessChainKHR, |_| ()));
    assert!(waits_untyped(op::UntypedAccessChainKHR, |parts| decorate_coherent(
        parts, UNTYPED
    )));
}

#[test]
fn a_coherent_member_is_found_through_untyped_pointers() {
    assert!(waits_untyped(
        op::UntypedInBoundsAccessChainKHR,
        decorate_member_coherent
    ));
}
