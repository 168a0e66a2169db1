//! Variables of generated functions.

use super::body::Body;
use super::globals::OUT_WORDS;
use crate::module::Id;
use crate::op::{self, execution_model, storage_class as class};

impl Body<'_> {
    /// Declares variables: some words and an array.
    pub(super) fn declare(&mut self) {
        let builder = &mut self.globals.builder;
        let uint = builder.uint();
        let pointer = builder.pointer(class::Function, uint);
        let array = builder.array(uint, 4);
        let array_pointer = builder.pointer(class::Function, array);
        let null = builder.value(op::ConstantNull, array, &[]);
        for _ in 0..self.choices.between(1, 3) {
            let initial = self.choices.below(100);
            let builder = &mut self.globals.builder;
            let (id, initial) = (builder.fresh(), builder.constant(initial));
            self.variables.push([pointer, id, initial]);
            self.locals.push(id);
            self.scope.pointers.push(id);
        }
        let id = self.globals.builder.fresh();
        self.variables.push([array_pointer, id, null]);
        self.locals.insert(0, id);
        self.scope.pointers.push(self.globals.shared);
    }

    /// Adds a variable of storage class Function with a null initialiser.
    pub(super) fn variable(&mut self, ty: Id) -> Id {
        let builder = &mut self.globals.builder;
        let pointer = builder.pointer(class::Function, ty);
        let null = builder.value(op::ConstantNull, ty, &[]);
        let id = builder.fresh();
        self.variables.push([pointer, id, null]);
        id
    }

    /// Stores the invocation's number at the start of an entry point.
    pub(super) fn store_invocation(&mut self, input: Id, input_type: Id, model: u32) {
        let uint = self.globals.builder.uint();
        let value = self.emit(op::Load, input_type, &[input]);
        let number = match model {
            execution_model::GLCompute => self.emit(op::CompositeExtract, uint, &[value, 0]),
            execution_model::Fragment => {
                let float = self.globals.builder.float(32);
                let x = self.emit(op::CompositeExtract, float, &[value, 0]);
                self.emit(op::ConvertFToU, uint, &[x])
            }
            _ if input_type == uint => value,
            _ => self.emit(op::Bitcast, uint, &[value]),
        };
        self.emit_void(op::Store, &[self.globals.invocation, number]);
        self.scope.uints.push(number);
    }

    /// Pointer to one of the invocation's result words.
    pub(super) fn result_pointer(&mut self) -> Id {
        let builder = &mut self.globals.builder;
        let uint = builder.uint();
        let pointer = builder.pointer(self.globals.buffer_class, uint);
        let (zero, words) = (builder.constant(0), builder.constant(OUT_WORDS));
        let word = self.choices.below(OUT_WORDS);
        let word = self.globals.builder.constant(word);
        let (invocation, out) = (self.globals.invocation, self.globals.out);
        let number = self.emit(op::Load, uint, &[invocation]);
        let first = self.emit(op::IMul, uint, &[number, words]);
        let at = self.emit(op::IAdd, uint, &[first, word]);
        self.emit(op::AccessChain, pointer, &[out, zero, at])
    }
}
