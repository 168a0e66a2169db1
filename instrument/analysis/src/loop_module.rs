//! A compute shader with one loop, for tests of analyses, which add the parts.

use crate::loop_nest::Loop;
use crate::view::{FunctionView, ModuleView};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{execution_model, memory_model, storage_class};
use vkabort_spirv::{Code, Id, Literal, Words, op};

const VOID: Id = Id::new(1);
pub(crate) const BOOL: Id = Id::new(2);
pub(crate) const UINT: Id = Id::new(3);
pub(crate) const ZERO: Id = Id::new(4);
const FUNCTION_TYPE: Id = Id::new(5);
const MAIN: Id = Id::new(6);
pub(crate) const BLOCK: Id = Id::new(7);
pub(crate) const BLOCK_POINTER: Id = Id::new(8);
pub(crate) const BUFFER: Id = Id::new(9);
pub(crate) const UINT_POINTER: Id = Id::new(10);
pub(crate) const LOCAL_POINTER: Id = Id::new(11);
pub(crate) const LOCAL: Id = Id::new(12);
pub(crate) const CONDITION: Id = Id::new(13);
pub(crate) const ENTRY: Id = Id::new(14);
pub(crate) const HEADER: Id = Id::new(15);
const BODY: Id = Id::new(16);
pub(crate) const CONTINUE: Id = Id::new(17);
const MERGE: Id = Id::new(18);
/// The word that decides whether the loop is left.
pub(crate) const WORD: Id = Id::new(20);

/// An input.
pub(crate) const INPUT: Id = Id::new(19);
const INPUT_POINTER: Id = Id::new(BOUND - 2);

const BOUND: u32 = 6000;
/// The last id, of the store to `BUFFER`.
const LAST: Id = Id::new(BOUND - 1);

/// The parts of the module that differ between tests. `annotations` and `types` join those of the module; `entry` is the code before
/// the loop, `header` and `next` that of its header and continue target, one of which defines `CONDITION`.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) annotations: Code,
    pub(crate) types: Code,
    pub(crate) entry: Code,
    pub(crate) header: Code,
    pub(crate) next: Code,
    /// The loop is left at the end of its continue target instead of its header.
    pub(crate) is_left_last: bool,
    /// Instead of a branch to `CONTINUE`.
    pub(crate) body: Code,
    /// Behind the loop.
    pub(crate) after: Code,
    /// The module has no store to `BUFFER`.
    pub(crate) is_read_only: bool,
    pub(crate) is_vulkan_memory_model: bool,
}

impl Parts {
    /// The words of the module.
    pub(crate) fn words(&self) -> Vec<u32> {
        let (storage, function, input) = (
            Literal(storage_class::StorageBuffer),
            Literal(storage_class::Function),
            Literal(storage_class::Input),
        );
        let model = if self.is_vulkan_memory_model {
            memory_model::Vulkan
        } else {
            1
        };
        let mut code = Code::default();
        code.words.extend([0x0723_0203, 0x10600, 0, BOUND, 0]);
        code.op(op::Capability, Literal(1));
        code.op(op::MemoryModel, Words(&[0, model]));
        code.op(
            op::EntryPoint,
            (Literal(execution_model::GLCompute), MAIN, "main", INPUT),
        );
        code.words.extend(&self.annotations.words);
        code.op(op::TypeVoid, VOID);
        code.op(op::TypeBool, BOOL);
        code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
        code.op(op::Constant, (UINT, ZERO, Literal(0)));
        code.op(op::TypeFunction, (FUNCTION_TYPE, VOID));
        code.op(op::TypeStruct, (BLOCK, UINT));
        code.op(op::TypePointer, (BLOCK_POINTER, storage, BLOCK));
        code.op(op::Variable, (BLOCK_POINTER, BUFFER, storage));
        code.op(op::TypePointer, (UINT_POINTER, storage, UINT));
        code.op(op::TypePointer, (LOCAL_POINTER, function, UINT));
        code.op(op::TypePointer, (INPUT_POINTER, input, UINT));
        code.op(op::Variable, (INPUT_POINTER, INPUT, input));
        code.words.extend(&self.types.words);
        code.op(op::Function, (VOID, MAIN, Literal(0), FUNCTION_TYPE));
        code.label(ENTRY);
        code.op(op::Variable, (LOCAL_POINTER, LOCAL, function));
        code.words.extend(&self.entry.words);
        code.branch(HEADER);
        code.label(HEADER);
        code.words.extend(&self.header.words);
        code.op(op::LoopMerge, (MERGE, CONTINUE, Literal(0)));
        match self.is_left_last {
            true => code.branch(BODY),
            false => code.op(op::BranchConditional, (CONDITION, BODY, MERGE)),
        }
        code.label(BODY);
        code.words.extend(&self.body.words);
        if self.body.words.is_empty() {
            code.branch(CONTINUE);
        }
        code.label(CONTINUE);
        code.words.extend(&self.next.words);
        match self.is_left_last {
            true => code.op(op::BranchConditional, (CONDITION, HEADER, MERGE)),
            false => code.branch(HEADER),
        }
        code.label(MERGE);
        code.words.extend(&self.after.words);
        if !self.is_read_only {
            code.op(op::AccessChain, (UINT_POINTER, LAST, BUFFER, ZERO));
            code.op(op::Store, (LAST, ZERO));
        }
        code.op(op::Return, ());
        code.op(op::FunctionEnd, ());
        code.words
    }

    /// Asks something of the loop.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&FunctionView<'_, '_>, &Loop) -> T) -> T {
        let words = self.words();
        let index = Index::new(&words).expect("a module");
        let view = ModuleView::new(&index);
        let (number, _) = index.functions.iter().next().expect("a function");
        let function = view.function(number).expect("a view");
        question(function, function.loops().loops().first().expect("a loop"))
    }
}

/// An id that belongs to a test.
pub(crate) const fn free(number: u32) -> Id {
    Id::new(WORD.word() + number)
}
