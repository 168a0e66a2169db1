//! Variables of generated functions.

use super::body::Body;
use super::globals::OUT_WORDS;
use crate::module::Id;
use crate::op::{self, execution_model, storage_class as class};

impl Body<'_> {
    /// Declares variables: some words and an array.
    pub(super) fn declare(&mut self) {
        let uint = self.uint();
        let pointer = self.pointer(class::Function, uint);
        let array = self.array(uint, 4);
        let array = self.variable(array);
        self.locals.push(array);
        for _ in 0..self.choices.between(1, 3) {
            let (id, initial) = (self.fresh(), self.constant_below(100));
            self.variables.push([pointer, id, initial]);
            self.locals.push(id);
            self.scope.pointers.push(id);
        }
        self.scope.pointers.push(self.globals.shared);
    }

    /// Adds a variable of storage class Function with a null initialiser.
    pub(super) fn variable(&mut self, ty: Id) -> Id {
        let pointer = self.pointer(class::Function, ty);
        let null = self.value(op::ConstantNull, ty, &[]);
        let id = self.fresh();
        self.variables.push([pointer, id, null]);
        id
    }

    /// Stores the invocation's number at the start of an entry point.
    pub(super) fn store_invocation(&mut self, input: Id, input_type: Id, model: u32) {
        let uint = self.uint();
        let value = self.emit(op::Load, input_type, &[input]);
        let number = match model {
            execution_model::GLCompute => self.emit(op::CompositeExtract, uint, &[value, 0]),
            execution_model::Fragment => {
                let float = self.float(32);
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
        let (class, invocation, out) = (self.globals.buffer_class, self.globals.invocation, self.globals.out);
        let uint = self.uint();
        let pointer = self.pointer(class, uint);
        let (zero, words, word) = (
            self.constant(0),
            self.constant(OUT_WORDS),
            self.constant_below(OUT_WORDS),
        );
        let number = self.emit(op::Load, uint, &[invocation]);
        let first = self.emit(op::IMul, uint, &[number, words]);
        let at = self.emit(op::IAdd, uint, &[first, word]);
        self.emit(op::AccessChain, pointer, &[out, zero, at])
    }
}
