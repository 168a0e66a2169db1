//! Writes a fault, or the abort by which its check would report it.

use super::edits::Edits;
use super::fault::{Effect, Fault, Kind, Place};
use super::fault_functions::{
    ELEMENTS, HEAD_WORDS, faults_buffer, push_unreachable, taking_function, unreachable_function,
    unstored_element_function, unstored_function,
};
use crate::generate::FAULTS_WORDS;
use crate::module::{Id, Module};
use crate::op::{self, storage_class};
use crate::words::push;
use std::collections::HashMap;

/// Members of the buffer that faults store to.
const ARRAY: u32 = 0;
const FLOAT: u32 = 1;
const FLOATS: u32 = 2;
const WORDS: u32 = 3;

pub(super) struct FaultWriter {
    due: Id,
    is_faulty: bool,
    /// A function that takes a word and does nothing.
    taking: Option<Id>,
    /// A function that reaches `OpUnreachable` if its argument is true, with the label of that block.
    unreachable: Option<(Id, Id)>,
    /// Functions that load uninitialised memory, a word and an element, with the results of the loads.
    unstored: [Option<(Id, Id)>; 2],
    /// The buffer that faults store to, and the storage class of buffers.
    buffer: Option<Id>,
    buffer_class: u32,
    /// An array and a word, by function.
    variables: HashMap<usize, (Id, Id)>,
    pub(super) code: Vec<u32>,
}

impl FaultWriter {
    pub(super) fn new(module: &Module, due: Id, is_faulty: bool) -> Self {
        let mut variables = module.globals.iter().filter(|i| i.op == op::Variable);
        let is_new = variables.any(|i| i.word(2) == storage_class::StorageBuffer);
        Self {
            due,
            is_faulty,
            taking: None,
            unreachable: None,
            unstored: [None; 2],
            buffer: None,
            buffer_class: if is_new {
                storage_class::StorageBuffer
            } else {
                storage_class::Uniform
            },
            variables: HashMap::new(),
            code: Vec::new(),
        }
    }

    fn emit(&mut self, edits: &mut Edits<'_>, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = edits.fresh();
        push(&mut self.code, opcode, &[&[ty, id], operands].concat());
        id
    }

    pub(super) fn declare_variables(&mut self, edits: &mut Edits<'_>, module: &Module, function: usize) {
        let first = module
            .functions
            .get(function)
            .and_then(|f| f.blocks.first()?.insts.first());
        let Some(first) = first.filter(|_| !self.variables.contains_key(&function)) else {
            return;
        };
        let uint = edits.uint();
        let array = edits.array(uint, ELEMENTS);
        let (array, word) = (
            edits.pointer(storage_class::Function, array),
            edits.pointer(storage_class::Function, uint),
        );
        let class = storage_class::Function;
        let array = self.emit(edits, op::Variable, array, &[class]);
        let word = self.emit(edits, op::Variable, word, &[class]);
        let code = std::mem::take(&mut self.code);
        edits.insert(first.offset, &code);
        self.variables.insert(function, (array, word));
    }

    /// Writes a fault or its abort.
    pub(super) fn write(&mut self, edits: &mut Edits<'_>, place: &Place, number: u32) -> Fault {
        let (bool, uint) = (edits.bool(), edits.uint());
        let condition = self.emit(edits, op::FunctionCall, bool, &[self.due]);
        let value = place.value.unwrap_or_else(|| edits.constant(place.number + 10));
        let small = place.number;
        let select = |writer: &mut Self, edits: &mut Edits<'_>, bad: u32, good: u32| {
            let (bad, good) = (edits.constant(bad), edits.constant(good));
            writer.emit(edits, op::Select, uint, &[condition, bad, good])
        };
        let values = match place.kind {
            Kind::Divide(_) | Kind::DivideComponent => vec![value, select(self, edits, 0, small + 1)],
            Kind::Overflow(_) => {
                let minus_one = select(self, edits, u32::MAX, small + 1);
                vec![select(self, edits, 1 << 31, small), minus_one]
            }
            Kind::Shift(_) => vec![select(self, edits, 32 + small, small)],
            Kind::BitField(_) => vec![edits.constant(4), select(self, edits, 29 + small, small)],
            Kind::Load | Kind::Store | Kind::StoreToBufferArray => vec![select(self, edits, ELEMENTS + small, small)],
            Kind::Convert => vec![select(self, edits, 5e9f32.to_bits(), 7.5f32.to_bits())],
            Kind::StoreToBuffer => {
                let length = FAULTS_WORDS - HEAD_WORDS;
                vec![select(self, edits, length + small, small), edits.constant(length)]
            }
            Kind::Nan(bits) => vec![select(self, edits, bits, 7.5f32.to_bits())],
            Kind::NanComponent => {
                let component = edits.constant(1);
                vec![
                    select(self, edits, f32::INFINITY.to_bits(), 7.5f32.to_bits()),
                    component,
                ]
            }
            Kind::Unreachable | Kind::Unstored => Vec::new(),
            Kind::UnstoredElement => vec![edits.constant(small)],
            Kind::Invalid => {
                let factor = select(self, edits, 3e38f32.to_bits(), 2f32.to_bits());
                let product = select(self, edits, f32::INFINITY.to_bits(), 4f32.to_bits());
                vec![factor, factor, product]
            }
        };
        let check = place.kind.check();
        if !self.is_faulty {
            self.call_abort(edits, condition, number, &values);
            return Fault {
                check,
                id: 0,
                values: values.len(),
            };
        }
        let (array, word) = self.variables.get(&place.function).copied().unwrap_or_default();
        let pointer = edits.pointer(storage_class::Function, uint);
        let (id, result) = match (place.kind, values.as_slice()) {
            (Kind::Divide(opcode) | Kind::Overflow(opcode), &[a, b]) => {
                let result = self.emit(edits, opcode, uint, &[a, b]);
                (result, result)
            }
            (Kind::DivideComponent, &[a, b]) => {
                let one = edits.constant(1);
                let vector = edits.vector(uint, 2);
                let left = self.emit(edits, op::CompositeConstruct, vector, &[one, a]);
                let right = self.emit(edits, op::CompositeConstruct, vector, &[one, b]);
                let quotient = self.emit(edits, op::UDiv, vector, &[left, right]);
                (quotient, self.emit(edits, op::CompositeExtract, uint, &[quotient, 1]))
            }
            (Kind::Shift(opcode), &[amount]) => {
                let result = self.emit(edits, opcode, uint, &[value, amount]);
                (result, result)
            }
            (Kind::BitField(opcode), &[count, offset]) => {
                let operands = match opcode {
                    op::BitFieldInsert => vec![value, value, offset, count],
                    _ => vec![value, offset, count],
                };
                let result = self.emit(edits, opcode, uint, &operands);
                (result, result)
            }
            (Kind::Load, &[index]) => {
                let element = self.emit(edits, op::AccessChain, pointer, &[array, index]);
                let zero = edits.constant(0);
                // Elements without a value have no defined effect.
                for at in 0..ELEMENTS {
                    let at = edits.constant(at);
                    let each = self.emit(edits, op::AccessChain, pointer, &[array, at]);
                    push(&mut self.code, op::Store, &[each, zero]);
                }
                let loaded = self.emit(edits, op::Load, uint, &[element]);
                (loaded, loaded)
            }
            (Kind::Store, &[index]) => {
                let element = self.emit(edits, op::AccessChain, pointer, &[array, index]);
                push(&mut self.code, op::Store, &[element, value]);
                (element, value)
            }
            (Kind::StoreToBuffer, &[index, _]) => {
                let element = self.buffer_element(edits, uint, &[WORDS, index]);
                push(&mut self.code, op::Store, &[element, value]);
                (element, value)
            }
            (Kind::StoreToBufferArray, &[index]) => {
                let element = self.buffer_element(edits, uint, &[ARRAY, index]);
                push(&mut self.code, op::Store, &[element, value]);
                (element, value)
            }
            (Kind::Nan(_), &[bits]) => {
                let float = edits.float(32);
                let computed = self.computed_float(edits, bits);
                let member = self.buffer_element(edits, float, &[FLOAT]);
                push(&mut self.code, op::Store, &[member, computed]);
                (member, value)
            }
            (Kind::NanComponent, &[bits, _]) => {
                let float = edits.float(32);
                let vector = edits.vector(float, 2);
                let computed = self.computed_float(edits, bits);
                let one = edits.value(op::Constant, float, &[1f32.to_bits()]);
                let both = self.emit(edits, op::CompositeConstruct, vector, &[one, computed]);
                let member = self.buffer_element(edits, vector, &[FLOATS]);
                push(&mut self.code, op::Store, &[member, both]);
                (member, value)
            }
            (Kind::Unreachable, _) => (self.unreachable(edits, place, condition), value),
            (Kind::Unstored, _) => (self.unstored(edits, [condition].as_slice()), value),
            (Kind::UnstoredElement, &[number]) => (self.unstored(edits, [condition, number].as_slice()), value),
            (Kind::Invalid, &[factor, _, _]) => {
                let float = edits.float(32);
                let factor = self.emit(edits, op::Bitcast, float, &[factor]);
                let product = self.emit(edits, op::FMul, float, &[factor, factor]);
                let member = self.buffer_element(edits, float, &[FLOAT]);
                push(&mut self.code, op::Store, &[member, product]);
                (product, value)
            }
            (_, operands) => {
                let float = edits.float(32);
                let value = self.emit(edits, op::Bitcast, float, operands);
                let result = self.emit(edits, op::ConvertFToU, uint, &[value]);
                (result, result)
            }
        };
        self.take(edits, place, condition, word, result);
        Fault {
            check,
            id,
            values: values.len(),
        }
    }

    /// A pointer to a part of the buffer: a member, and an index in it. Declares the buffer first.
    fn buffer_element(&mut self, edits: &mut Edits<'_>, ty: Id, indices: &[u32]) -> Id {
        let buffer = match self.buffer {
            Some(buffer) => buffer,
            None => *self.buffer.insert(faults_buffer(edits, self.buffer_class)),
        };
        let pointer = edits.pointer(self.buffer_class, ty);
        let member = edits.constant(indices.first().copied().unwrap_or(0));
        let rest = indices.get(1..).unwrap_or_default();
        self.emit(edits, op::AccessChain, pointer, &[&[buffer, member], rest].concat())
    }

    /// A float with these bits that an instruction has computed.
    fn computed_float(&mut self, edits: &mut Edits<'_>, bits: Id) -> Id {
        let float = edits.float(32);
        let one = edits.value(op::Constant, float, &[1f32.to_bits()]);
        let value = self.emit(edits, op::Bitcast, float, &[bits]);
        self.emit(edits, op::FMul, float, &[value, one])
    }

    /// Reaches `OpUnreachable` if `condition` holds, in the function itself where its block can be split. Returns the label of
    /// the block with that instruction.
    fn unreachable(&mut self, edits: &mut Edits<'_>, place: &Place, condition: Id) -> Id {
        if let Some(block) = place.split {
            let [bad, next] = [(); 2].map(|()| edits.fresh());
            push_unreachable(&mut self.code, condition, bad, next);
            edits.moved(block, next);
            return bad;
        }
        let (function, bad) = match self.unreachable {
            Some(found) => found,
            None => *self.unreachable.insert(unreachable_function(edits)),
        };
        let void = edits.void();
        self.emit(edits, op::FunctionCall, void, &[function, condition]);
        bad
    }

    /// Calls a function that loads uninitialised memory if its first argument is true. Returns the result of the load.
    fn unstored(&mut self, edits: &mut Edits<'_>, arguments: &[Id]) -> Id {
        let taking = self.taking(edits);
        let [word, element] = &mut self.unstored;
        let (function, loaded) = match arguments {
            [_] => *word.get_or_insert_with(|| unstored_function(edits, taking)),
            _ => *element.get_or_insert_with(|| unstored_element_function(edits, taking)),
        };
        let void = edits.void();
        self.emit(edits, op::FunctionCall, void, &[&[function], arguments].concat());
        loaded
    }

    fn taking(&mut self, edits: &mut Edits<'_>) -> Id {
        *self.taking.get_or_insert_with(|| taking_function(edits))
    }

    /// Gives a value an effect.
    fn take(&mut self, edits: &mut Edits<'_>, place: &Place, condition: Id, variable: Id, value: Id) {
        let (void, uint) = (edits.void(), edits.uint());
        let value = match place.effect {
            Effect::Argument => value,
            Effect::Variable => {
                push(&mut self.code, op::Store, &[variable, value]);
                self.emit(edits, op::Load, uint, &[variable])
            }
            Effect::Selected => {
                let other = edits.constant(place.number);
                self.emit(edits, op::Select, uint, &[condition, value, other])
            }
        };
        let taking = self.taking(edits);
        self.emit(edits, op::FunctionCall, void, &[taking, value]);
    }

    /// Calls a function that aborts if `condition` holds.
    fn call_abort(&mut self, edits: &mut Edits<'_>, condition: Id, number: u32, values: &[Id]) {
        let (void, bool, uint) = (edits.void(), edits.bool(), edits.uint());
        let signature: Vec<u32> = [void, bool].into_iter().chain(values.iter().map(|_| uint)).collect();
        let ty = edits.ty(op::TypeFunction, &signature);
        let [function, failed, label, abort, next, message] = [(); 6].map(|()| edits.fresh());
        let parameters: Vec<Id> = values.iter().map(|_| edits.fresh()).collect();
        let members: Vec<(Id, u32)> = (0..=values.len() as u32).map(|member| (uint, 4 * member)).collect();
        let message_type = edits.structure(&members);
        let number = edits.constant(number);
        let mut code = Vec::new();
        push(&mut code, op::Function, &[void, function, 0, ty]);
        push(&mut code, op::FunctionParameter, &[bool, failed]);
        for parameter in &parameters {
            push(&mut code, op::FunctionParameter, &[uint, *parameter]);
        }
        push(&mut code, op::Label, &[label]);
        push(&mut code, op::SelectionMerge, &[next, 0]);
        push(&mut code, op::BranchConditional, &[failed, abort, next]);
        push(&mut code, op::Label, &[abort]);
        let parts = [&[message_type, message, number], parameters.as_slice()].concat();
        push(&mut code, op::CompositeConstruct, &parts);
        push(&mut code, op::AbortKHR, &[message_type, message]);
        push(&mut code, op::Label, &[next]);
        push(&mut code, op::Return, &[]);
        push(&mut code, op::FunctionEnd, &[]);
        edits.functions.append(&mut code);
        self.emit(
            edits,
            op::FunctionCall,
            void,
            &[&[function, condition], values].concat(),
        );
    }
}
