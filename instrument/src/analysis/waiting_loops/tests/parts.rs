//! A module with one loop, of which tests add the parts.

use super::super::{WaitingLoops, waiting_headers};
use crate::analysis::index::Index;
use crate::spv::op::{execution_model, memory_model, storage_class};
use crate::spv::{Code, Id, Literal, Words, op};

const VOID: Id = Id::new(1);
pub(super) const BOOL: Id = Id::new(2);
pub(super) const UINT: Id = Id::new(3);
pub(super) const ZERO: Id = Id::new(4);
const FUNCTION_TYPE: Id = Id::new(5);
const MAIN: Id = Id::new(6);
pub(super) const BLOCK: Id = Id::new(7);
pub(super) const BLOCK_POINTER: Id = Id::new(8);
pub(super) const BUFFER: Id = Id::new(9);
pub(super) const UINT_POINTER: Id = Id::new(10);
pub(super) const LOCAL_POINTER: Id = Id::new(11);
pub(super) const LOCAL: Id = Id::new(12);
pub(super) const CONDITION: Id = Id::new(13);
const ENTRY: Id = Id::new(14);
const HEADER: Id = Id::new(15);
const BODY: Id = Id::new(16);
pub(super) const CONTINUE: Id = Id::new(17);
const MERGE: Id = Id::new(18);
/// The word that decides whether the loop is left.
pub(super) const WORD: Id = Id::new(20);

const BOUND: u32 = 200;
/// The last id, of the store to `BUFFER`.
const LAST: Id = Id::new(BOUND - 1);

/// The parts of a module with one loop that differ between tests. `annotations` and `types` join those of the module;
/// `header` is the code of the loop's header, which defines `CONDITION`.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) annotations: Code,
    pub(super) types: Code,
    pub(super) header: Code,
    /// Instead of a branch to `CONTINUE`.
    pub(super) body: Code,
    /// Behind the loop.
    pub(super) after: Code,
    /// The module has no store to `BUFFER`.
    pub(super) is_read_only: bool,
    pub(super) is_vulkan_memory_model: bool,
}

/// Whether the loop of a compute shader counts as waiting. `add` adds the parts.
pub(super) fn waits(add: impl FnOnce(&mut Parts)) -> bool {
    let mut parts = Parts::default();
    add(&mut parts);
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10600, 0, BOUND, 0]);
    code.op(op::Capability, Literal(1));
    let model = if parts.is_vulkan_memory_model {
        memory_model::Vulkan
    } else {
        1
    };
    code.op(op::MemoryModel, Words(&[0, model]));
    code.op(op::EntryPoint, (Literal(execution_model::GLCompute), MAIN, "main"));
    code.words.extend(&parts.annotations.words);
    code.op(op::TypeVoid, VOID);
    code.op(op::TypeBool, BOOL);
    code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
    code.op(op::Constant, (UINT, ZERO, Literal(0)));
    code.op(op::TypeFunction, (FUNCTION_TYPE, VOID));
    code.op(op::TypeStruct, (BLOCK, UINT));
    code.op(
        op::TypePointer,
        (BLOCK_POINTER, Literal(storage_class::StorageBuffer), BLOCK),
    );
    code.op(
        op::Variable,
        (BLOCK_POINTER, BUFFER, Literal(storage_class::StorageBuffer)),
    );
    code.op(
        op::TypePointer,
        (UINT_POINTER, Literal(storage_class::StorageBuffer), UINT),
    );
    code.op(op::TypePointer, (LOCAL_POINTER, Literal(storage_class::Function), UINT));
    code.words.extend(&parts.types.words);
    code.op(op::Function, (VOID, MAIN, Literal(0), FUNCTION_TYPE));
    code.label(ENTRY);
    code.op(op::Variable, (LOCAL_POINTER, LOCAL, Literal(storage_class::Function)));
    code.branch(HEADER);
    code.label(HEADER);
    code.words.extend(&parts.header.words);
    code.op(op::LoopMerge, (MERGE, CONTINUE, Literal(0)));
    code.op(op::BranchConditional, (CONDITION, BODY, MERGE));
    code.label(BODY);
    code.words.extend(&parts.body.words);
    if parts.body.words.is_empty() {
        code.branch(CONTINUE);
    }
    code.label(CONTINUE);
    code.branch(HEADER);
    code.label(MERGE);
    code.words.extend(&parts.after.words);
    if !parts.is_read_only {
        code.op(op::AccessChain, (UINT_POINTER, LAST, BUFFER, ZERO));
        code.op(op::Store, (LAST, ZERO));
    }
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    let index = Index::new(&code.words).expect("a module");
    let marks = waiting_headers(&index, &WaitingLoops::default());
    marks.values().contains(&true)
}

/// An id that belongs to a test.
pub(super) const fn free(number: u32) -> Id {
    Id::new(WORD.word() + number)
}
