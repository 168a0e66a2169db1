//! Plants undefined values and accesses beyond arrays, and beside them the aborts by which checks would report them.

use super::edits::Edits;
use super::insertion_point;
use crate::choices::Choices;
use crate::module::{Id, Module};
use crate::op::{self, capability, storage_class};
use crate::words::push;
use std::collections::HashMap;

/// Elements of the arrays that faults index.
const ELEMENTS: u32 = 4;

/// A module with faults that happen when `due` returns true.
#[derive(Clone, Debug)]
pub struct PlantedFaults {
    /// The module with the faults.
    pub faulty: Vec<u32>,
    /// The module with an abort in place of each fault: a message of the fault's number and its values, in words.
    pub reference: Vec<u32>,
    /// The faults by number.
    pub faults: Vec<Fault>,
}

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The check that finds it.
    pub check: &'static str,
    /// The result of the instruction, or the pointer of an `OpStore`.
    pub id: Id,
    /// Words of its values.
    pub values: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Divide(u16),
    DivideComponent,
    Overflow(u16),
    Shift(u16),
    Load,
    Store,
    Convert,
}

const KINDS: [Kind; 14] = [
    Kind::Divide(op::UDiv),
    Kind::Divide(op::UMod),
    Kind::Divide(op::SDiv),
    Kind::Divide(op::SRem),
    Kind::Divide(op::SMod),
    Kind::DivideComponent,
    Kind::Overflow(op::SDiv),
    Kind::Overflow(op::SRem),
    Kind::Shift(op::ShiftLeftLogical),
    Kind::Shift(op::ShiftRightLogical),
    Kind::Shift(op::ShiftRightArithmetic),
    Kind::Load,
    Kind::Store,
    Kind::Convert,
];

/// How the result of a fault has an effect.
#[derive(Clone, Copy, Debug)]
enum Effect {
    Argument,
    Variable,
    Selected,
}

/// What both modules do at one place.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    function: usize,
    kind: Kind,
    effect: Effect,
    /// A value of the place or a constant, and a small number.
    value: Option<Id>,
    number: u32,
}

/// Plants faults into about `density` percent of the blocks. `due` is a function of the module that returns a Boolean. `None` if
/// the words are malformed.
pub fn plant_faults(words: &[u32], choices: &mut Choices, due: Id, density: u32) -> Option<PlantedFaults> {
    let module = Module::parse(words)?;
    let mut places = Vec::new();
    for (function, body) in module.functions.iter().enumerate().filter(|(_, body)| body.id != due) {
        for (number, block) in body.blocks.iter().enumerate() {
            if !choices.chance(density) {
                continue;
            }
            let offset = insertion_point(block, choices, number == 0, false).offset;
            let uint = module
                .globals
                .iter()
                .find(|i| i.op == op::TypeInt && i.operands_from(1) == [32, 0])
                .map_or(0, |i| i.word(0));
            let earlier = block
                .insts
                .iter()
                .filter(|i| i.offset < offset && i.word(0) == uint && matches!(i.op, op::Load | op::IAdd | op::Phi));
            let earlier: Vec<Id> = earlier.map(|i| i.word(1)).collect();
            places.push(Place {
                offset,
                function,
                kind: choices.pick(&KINDS)?,
                effect: choices.pick(&[Effect::Argument, Effect::Variable, Effect::Selected])?,
                value: choices.pick(&earlier),
                number: choices.below(4),
            });
        }
    }
    let (faulty, faults) = write(&module, words, &places, due, true)?;
    let (reference, _) = write(&module, words, &places, due, false)?;
    Some(PlantedFaults {
        faulty,
        reference,
        faults,
    })
}

fn write(module: &Module, words: &[u32], places: &[Place], due: Id, is_faulty: bool) -> Option<(Vec<u32>, Vec<Fault>)> {
    let mut edits = Edits::new(module);
    if !is_faulty {
        edits.capability(capability::AbortKHR);
        edits.extension("SPV_KHR_abort");
    }
    let mut writer = Writer {
        due,
        is_faulty,
        taking: None,
        variables: HashMap::new(),
        code: Vec::new(),
    };
    // Variables come before all other code.
    for place in places {
        writer.declare_variables(&mut edits, module, place.function);
    }
    let mut faults = Vec::new();
    for (number, place) in (0..).zip(places) {
        faults.push(writer.write(&mut edits, place, number));
        let code = std::mem::take(&mut writer.code);
        edits.insert(place.offset, &code);
    }
    Some((edits.apply(words)?, faults))
}

struct Writer {
    due: Id,
    is_faulty: bool,
    /// A function that takes a word and does nothing.
    taking: Option<Id>,
    /// An array and a word, by function.
    variables: HashMap<usize, (Id, Id)>,
    code: Vec<u32>,
}

impl Writer {
    fn emit(&mut self, edits: &mut Edits<'_>, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = edits.fresh();
        push(&mut self.code, opcode, &[&[ty, id], operands].concat());
        id
    }

    fn declare_variables(&mut self, edits: &mut Edits<'_>, module: &Module, function: usize) {
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
    fn write(&mut self, edits: &mut Edits<'_>, place: &Place, number: u32) -> Fault {
        let (bool, uint) = (edits.bool(), edits.uint());
        let condition = self.emit(edits, op::FunctionCall, bool, &[self.due]);
        let value = place.value.unwrap_or_else(|| edits.constant(place.number + 10));
        let small = place.number;
        let select = |writer: &mut Self, edits: &mut Edits<'_>, bad: u32, good: u32| {
            let (bad, good) = (edits.constant(bad), edits.constant(good));
            writer.emit(edits, op::Select, uint, &[condition, bad, good])
        };
        let (check, values) = match place.kind {
            Kind::Divide(_) | Kind::DivideComponent => ("divide", vec![value, select(self, edits, 0, small + 1)]),
            Kind::Overflow(_) => {
                let least = select(self, edits, 1 << 31, small);
                let minus_one = select(self, edits, u32::MAX, small + 1);
                ("divide", vec![least, minus_one])
            }
            Kind::Shift(_) => ("shift", vec![select(self, edits, 32 + small, small)]),
            Kind::Load | Kind::Store => ("bounds", vec![select(self, edits, ELEMENTS + small, small)]),
            Kind::Convert => {
                let [bad, good] = [5e9f32, 7.5].map(f32::to_bits);
                ("convert", vec![select(self, edits, bad, good)])
            }
        };
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
        let taking = match self.taking {
            Some(taking) => taking,
            None => *self.taking.insert(taking_function(edits)),
        };
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

fn taking_function(edits: &mut Edits<'_>) -> Id {
    let (void, uint) = (edits.void(), edits.uint());
    let ty = edits.ty(op::TypeFunction, &[void, uint]);
    let [function, parameter, label] = [(); 3].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[void, function, 0, ty]);
    push(code, op::FunctionParameter, &[uint, parameter]);
    push(code, op::Label, &[label]);
    push(code, op::Return, &[]);
    push(code, op::FunctionEnd, &[]);
    function
}
