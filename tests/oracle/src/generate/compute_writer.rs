//! Writes small compute shaders: functions, loops, selections, and the result of each invocation.

use super::OUT;
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, built_in, capability, decoration, execution_mode, execution_model, storage_class as class};
use crate::words::{push, string};
use vkabort_spirv_builder::Builder;

/// A loop that is open.
pub(super) struct OpenLoop {
    header: Id,
    next: Id,
    merge: Id,
    following: Id,
    /// The number of the iteration.
    pub(super) number: Id,
}

/// A shader that is being written. `M`: the memory that it accesses.
pub(super) struct ComputeWriter<'c, M> {
    pub(super) builder: Builder,
    pub(super) choices: &'c mut Choices,
    pub(super) memory: M,
    pub(super) invocations: u32,
    uint: Id,
    /// Variables: the number of the invocation, the sum of its loads, and the results.
    index: Id,
    sum: Id,
    pub(super) out: Id,
    /// The open block.
    pub(super) block: Id,
}

impl<'c, M> ComputeWriter<'c, M> {
    /// `memory`: declares it.
    pub(super) fn new(choices: &'c mut Choices, invocations: u32, memory: impl FnOnce(&mut Builder) -> M) -> Self {
        let mut builder = Builder::new(3);
        builder.capability(capability::Shader);
        let uint = builder.uint();
        let zero = builder.constant(0);
        let index = variable(&mut builder, class::Input, (uint, "l"), &[]);
        let sum = variable(&mut builder, class::Private, (uint, "sum"), &[zero]);
        builder.decorate(index, decoration::BuiltIn, &[built_in::LocalInvocationIndex]);
        let results = words_block(&mut builder);
        let out = builder.buffer(class::StorageBuffer, results, OUT);
        Self {
            memory: memory(&mut builder),
            builder,
            choices,
            invocations,
            uint,
            index,
            sum,
            out,
            block: 0,
        }
    }

    /// The entry point, with a body. At its end, each invocation stores the sum of its loads.
    pub(super) fn entry_point(&mut self, body: impl FnOnce(&mut Self)) {
        let function = self.begin_function();
        body(self);
        let sum = self.sum();
        let (zero, invocation) = (self.builder.constant(0), self.invocation());
        let ty = self.builder.pointer(class::StorageBuffer, self.uint);
        let pointer = self.value(op::AccessChain, ty, &[self.out, zero, invocation]);
        self.push(op::Store, &[pointer, sum]);
        self.end_function();
        let mut operands = vec![execution_model::GLCompute, function];
        operands.extend(string("main"));
        operands.push(self.index);
        push(&mut self.builder.entry_points, op::EntryPoint, &operands);
        let size = [function, execution_mode::LocalSize, self.invocations, 1, 1];
        push(&mut self.builder.modes, op::ExecutionMode, &size);
    }

    pub(super) fn push(&mut self, opcode: u16, operands: &[u32]) {
        push(&mut self.builder.functions, opcode, operands);
    }

    pub(super) fn value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.builder.fresh();
        self.push(opcode, &[&[ty, id], operands].concat());
        id
    }

    /// A value of 32 bits.
    pub(super) fn word(&mut self, opcode: u16, operands: &[u32]) -> Id {
        self.value(opcode, self.uint, operands)
    }

    pub(super) fn compare(&mut self, opcode: u16, a: Id, b: Id) -> Id {
        let bool = self.builder.bool();
        self.value(opcode, bool, &[a, b])
    }

    /// The number of the invocation.
    pub(super) fn invocation(&mut self) -> Id {
        self.word(op::Load, &[self.index])
    }

    /// Sum of the words that the invocation has loaded so far.
    pub(super) fn sum(&mut self) -> Id {
        self.word(op::Load, &[self.sum])
    }

    /// Adds a value to the sum of the invocation's loads.
    pub(super) fn add(&mut self, value: Id) {
        let sum = self.sum();
        let sum = self.word(op::IAdd, &[sum, value]);
        self.push(op::Store, &[self.sum, sum]);
    }

    /// A condition that depends on the number of the invocation.
    pub(super) fn condition(&mut self) -> Id {
        let invocation = self.invocation();
        let bound = self.choices.below(self.invocations + 1);
        let bound = self.builder.constant(bound);
        let opcode = self.choices.pick(&[op::ULessThan, op::IEqual, op::UGreaterThanEqual]);
        self.compare(opcode.unwrap_or(op::IEqual), invocation, bound)
    }

    /// The remainder of the number of the invocation.
    pub(super) fn number_below(&mut self, divisor: u32) -> Id {
        let (invocation, divisor) = (self.invocation(), self.builder.constant(divisor));
        self.word(op::UMod, &[invocation, divisor])
    }

    pub(super) fn call_function(&mut self, function: Id) {
        let void = self.builder.void();
        self.value(op::FunctionCall, void, &[function]);
    }

    pub(super) fn begin_function(&mut self) -> Id {
        let void = self.builder.void();
        self.begin_function_with(void, &[]).0
    }

    /// A function with parameters of these types.
    pub(super) fn begin_function_with(&mut self, returns: Id, parameters: &[Id]) -> (Id, Vec<Id>) {
        let ty = self.builder.ty(op::TypeFunction, &[&[returns], parameters].concat());
        let function = self.builder.fresh();
        self.push(op::Function, &[returns, function, 0, ty]);
        let ids = parameters.iter().map(|ty| self.value(op::FunctionParameter, *ty, &[]));
        let ids = ids.collect();
        let label = self.builder.fresh();
        self.label(label);
        (function, ids)
    }

    pub(super) fn end_function(&mut self) {
        self.push(op::Return, &[]);
        self.push(op::FunctionEnd, &[]);
    }

    pub(super) fn label(&mut self, label: Id) {
        self.push(op::Label, &[label]);
        self.block = label;
    }

    /// Opens a selection. Returns its merge block.
    pub(super) fn open_selection(&mut self, condition: Id) -> Id {
        let [inside, merge] = [(); 2].map(|()| self.builder.fresh());
        self.push(op::SelectionMerge, &[merge, 0]);
        self.push(op::BranchConditional, &[condition, inside, merge]);
        self.label(inside);
        merge
    }

    pub(super) fn close_selection(&mut self, merge: Id) {
        self.push(op::Branch, &[merge]);
        self.label(merge);
    }

    /// Returns from the function instead of closing a selection.
    pub(super) fn return_early(&mut self, merge: Id) {
        self.push(op::Return, &[]);
        self.label(merge);
    }

    /// Opens a loop of `count` iterations.
    pub(super) fn open_loop(&mut self, count: Id) -> OpenLoop {
        let [header, test, body, next, merge, number, following] = [(); 7].map(|()| self.builder.fresh());
        let (zero, before) = (self.builder.constant(0), self.block);
        self.push(op::Branch, &[header]);
        self.label(header);
        self.push(op::Phi, &[self.uint, number, zero, before, following, next]);
        self.push(op::LoopMerge, &[merge, next, 0]);
        self.push(op::Branch, &[test]);
        self.label(test);
        let is_left = self.compare(op::ULessThan, number, count);
        self.push(op::BranchConditional, &[is_left, body, merge]);
        self.label(body);
        OpenLoop {
            header,
            next,
            merge,
            following,
            number,
        }
    }

    pub(super) fn close_loop(&mut self, open: &OpenLoop) {
        self.push(op::Branch, &[open.next]);
        self.label(open.next);
        let one = self.builder.constant(1);
        self.push(op::IAdd, &[self.uint, open.following, open.number, one]);
        self.push(op::Branch, &[open.header]);
        self.label(open.merge);
    }
}

/// Declares a variable with a name.
pub(super) fn variable(builder: &mut Builder, storage: u32, (ty, name): (Id, &str), initial: &[Id]) -> Id {
    let pointer = builder.pointer(storage, ty);
    let id = builder.new_value(op::Variable, pointer, &[&[storage], initial].concat());
    builder.name(id, name);
    id
}

/// The type of a buffer with an array of words.
pub(super) fn words_block(builder: &mut Builder) -> Id {
    let uint = builder.uint();
    let words = builder.new_type(op::TypeRuntimeArray, &[uint]);
    builder.decorate(words, decoration::ArrayStride, &[4]);
    builder.structure(&[(words, 0)])
}
