//! Loops that must count as waiting although they use instructions or types that the analysis cannot follow at a glance, and loops that
//! must not.

use super::{WaitingLoops, waiting_headers};
use crate::loop_module::*;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, memory_operands, storage_class};
use vkabort_spirv::{Code, Id, Literal, op};

/// Whether the loop counts as waiting. `add` adds the parts.
fn waits(add: impl FnOnce(&mut Parts)) -> bool {
    let mut parts = Parts::default();
    add(&mut parts);
    let words = parts.words();
    let index = Index::new(&words).expect("a module");
    let marks = waiting_headers(&index, &WaitingLoops::default());
    marks.values().contains(&true)
}

/// An opcode that no table has.
const UNKNOWN: u16 = 7999;

/// Longer than any chain that the analysis followed when it had a limit.
const LONG: u32 = 40;

/// Adds `LONG` copies of a pointer, with the free ids from 2 on. Returns the last one.
fn copies(code: &mut Code, ty: Id, pointer: Id) -> Id {
    (0..LONG).fold(pointer, |source, number| {
        let copy = free(2 + number);
        code.op(op::CopyObject, (ty, copy, source));
        copy
    })
}

/// Adds a load and the comparison that decides whether the loop is left.
fn compare_load(code: &mut Code, pointer: Id) {
    code.op(op::Load, (UINT, WORD, pointer));
    code.op(op::IEqual, (BOOL, CONDITION, WORD, ZERO));
}

fn decorate_coherent(parts: &mut Parts, target: Id) {
    parts
        .annotations
        .op(op::Decorate, (target, Literal(decoration::Coherent)));
}

fn decorate_member_coherent(parts: &mut Parts) {
    parts
        .annotations
        .op(op::MemberDecorate, (BLOCK, Literal(0), Literal(decoration::Coherent)));
}

#[test]
fn a_plain_load_does_not_wait() {
    assert!(!waits(|Parts { header, .. }| {
        header.op(op::AccessChain, (UINT_POINTER, free(1), BUFFER, ZERO));
        compare_load(header, free(1));
    }));
}

#[test]
fn the_result_of_an_unknown_instruction_may_wait() {
    assert!(waits(|parts| parts.header.op(UNKNOWN, (BOOL, CONDITION, BUFFER))));
}

#[test]
fn an_unknown_instruction_may_store_what_others_write() {
    assert!(waits(|Parts { header, .. }| {
        header.op(UNKNOWN, (LOCAL, BUFFER));
        compare_load(header, LOCAL);
    }));
}

#[test]
fn a_coherent_variable_is_found_behind_many_copies() {
    assert!(waits(|parts| {
        decorate_coherent(parts, BUFFER);
        let header = &mut parts.header;
        let last = copies(header, BLOCK_POINTER, BUFFER);
        header.op(op::AccessChain, (UINT_POINTER, free(1), last, ZERO));
        compare_load(header, free(1));
    }));
}

#[test]
fn a_store_is_found_behind_many_copies() {
    assert!(waits(|Parts { header, .. }| {
        header.op(op::AccessChain, (UINT_POINTER, free(100), BUFFER, ZERO));
        header.op(op::AtomicIAdd, (UINT, free(101), free(100), ZERO, ZERO, ZERO));
        let last = copies(header, LOCAL_POINTER, LOCAL);
        header.op(op::Store, (last, free(101)));
        compare_load(header, LOCAL);
    }));
}

#[test]
fn a_coherent_block_is_found_in_deep_arrays() {
    assert!(waits(|parts| {
        decorate_member_coherent(parts);
        let Parts { types, header, .. } = parts;
        let (pointer, variable, one) = (free(100), free(101), free(102));
        types.op(op::Constant, (UINT, one, Literal(1)));
        for level in 0..LONG {
            let element = if level == 0 { BLOCK } else { free(1 + level) };
            types.op(op::TypeArray, (free(2 + level), element, one));
        }
        let array = free(1 + LONG);
        types.op(op::TypePointer, (pointer, Literal(storage_class::StorageBuffer), array));
        types.op(op::Variable, (pointer, variable, Literal(storage_class::StorageBuffer)));
        let indices = [ZERO; LONG as usize + 1];
        header.op(op::AccessChain, (UINT_POINTER, free(103), variable, indices));
        compare_load(header, free(103));
        parts.after.op(op::Store, (free(103), ZERO));
    }));
}

/// An untyped variable with `BLOCK` in it.
const UNTYPED: Id = free(101);

/// Whether a load through an untyped access chain into `UNTYPED` waits.
fn waits_untyped(chain: u16, decorate: impl FnOnce(&mut Parts)) -> bool {
    waits(|parts| {
        decorate(parts);
        let Parts { types, header, .. } = parts;
        let pointer = free(100);
        types.op(
            op::TypeUntypedPointerKHR,
            (pointer, Literal(storage_class::StorageBuffer)),
        );
        let variable = (pointer, UNTYPED, Literal(storage_class::StorageBuffer), BLOCK);
        types.op(op::UntypedVariableKHR, variable);
        header.op(chain, (pointer, free(102), BLOCK, UNTYPED, ZERO));
        compare_load(header, free(102));
        parts.after.op(op::Store, (free(102), ZERO));
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

/// Adds a load of `BUFFER` with memory operands, and the comparison that decides whether the loop is left.
fn compare_load_with(code: &mut Code, access: u32) {
    code.op(op::AccessChain, (UINT_POINTER, free(1), BUFFER, ZERO));
    code.op(op::Load, (UINT, WORD, free(1), Literal(access)));
    code.op(op::IEqual, (BOOL, CONDITION, WORD, ZERO));
}

#[test]
fn a_coherent_read_of_what_nothing_writes_does_not_wait() {
    let is_waiting = |is_read_only, kind| {
        waits(|parts| {
            parts.is_read_only = is_read_only;
            parts.annotations.op(op::Decorate, (BUFFER, Literal(kind)));
            compare_load_with(&mut parts.header, 0);
        })
    };
    assert!(is_waiting(false, decoration::Coherent));
    assert!(!is_waiting(true, decoration::Coherent));
    // The host or another module may write it.
    assert!(is_waiting(true, decoration::Volatile));
}

#[test]
fn an_aliased_variable_may_be_written_by_another_name() {
    assert!(waits(|parts| {
        parts.is_read_only = true;
        decorate_coherent(parts, BUFFER);
        parts
            .annotations
            .op(op::Decorate, (BUFFER, Literal(decoration::Aliased)));
        compare_load_with(&mut parts.header, 0);
    }));
}

/// Adds an atomic, with these memory semantics.
fn count(code: &mut Code, semantics: Id) {
    code.op(op::AccessChain, (UINT_POINTER, free(3), BUFFER, ZERO));
    code.op(op::AtomicIAdd, (UINT, free(10), free(3), free(13), semantics, free(13)));
}

/// Tint writes all loads as not private: `for (k = 0; k < words[0]; k++)` does not wait, unless something makes the writes of others
/// visible.
#[test]
fn a_load_that_is_not_private_waits_behind_an_acquire_only() {
    const RELAXED: u32 = 0;
    const ACQUIRE: u32 = 2;
    let is_waiting = |add: fn(&mut Code)| {
        waits(|parts| {
            parts.is_vulkan_memory_model = true;
            parts.types.op(op::Constant, (UINT, free(11), Literal(RELAXED)));
            parts.types.op(op::Constant, (UINT, free(12), Literal(ACQUIRE)));
            parts.types.op(op::Constant, (UINT, free(13), Literal(1)));
            add(&mut parts.header);
            compare_load_with(&mut parts.header, memory_operands::NON_PRIVATE_POINTER);
        })
    };
    assert!(!is_waiting(|_| {}));
    assert!(!is_waiting(|code| count(code, free(11))));
    assert!(is_waiting(|code| count(code, free(12))));
    assert!(is_waiting(|code| {
        code.op(op::ControlBarrier, (free(13), free(13), free(12)));
    }));
}

/// A loop in whose body `IS_SET`, an atomic read, chooses whether `CHOSEN` is executed. The header goes on as long as `LOCAL` is 0.
fn waits_with(chosen: impl FnOnce(&mut Code)) -> bool {
    let [is_set, then, joined] = [free(30), free(31), free(32)];
    waits(|parts| {
        parts.header.op(op::Load, (UINT, WORD, LOCAL));
        parts.header.op(op::IEqual, (BOOL, CONDITION, WORD, ZERO));
        let body = &mut parts.body;
        body.op(op::AccessChain, (UINT_POINTER, free(33), BUFFER, ZERO));
        body.op(op::AtomicLoad, (UINT, free(34), free(33), ZERO, ZERO));
        body.op(op::IEqual, (BOOL, is_set, free(34), ZERO));
        body.op(op::SelectionMerge, (joined, Literal(0)));
        body.op(op::BranchConditional, (is_set, then, joined));
        body.label(then);
        chosen(body);
        body.label(joined);
        body.op(op::Store, (LOCAL, free(35)));
        body.branch(CONTINUE);
        let types = &mut parts.types;
        types.op(op::Constant, (UINT, free(35), Literal(7)));
    })
}

#[test]
fn an_atomic_that_does_not_decide_the_exit_does_not_wait() {
    // Both paths store the same.
    assert!(!waits_with(|body| body.branch(free(32))));
}

#[test]
fn a_store_that_is_skipped_by_a_continue_waits() {
    assert!(waits_with(|body| body.branch(CONTINUE)));
}

#[test]
fn an_abort_does_not_end_waiting() {
    assert!(!waits_with(|body| body.op(op::Unreachable, ())));
}
