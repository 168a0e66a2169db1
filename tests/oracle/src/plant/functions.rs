//! Functions that may abort, to call where a block cannot be split; and messages of planted aborts.

use super::edits::Edits;
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, capability, decoration};
use crate::words::push;

/// A message value, constructed in the block of its abort.
pub(super) struct MessageParts {
    message_type: Id,
    /// Type of the value, without a layout.
    ty: Id,
    parts: Vec<Id>,
}

impl MessageParts {
    /// Appends an abort that is taken when `due` returns true, and starts the block `next` after it.
    pub(super) fn abort_if_due(&self, edits: &mut Edits<'_>, code: &mut Vec<u32>, due: Id, next: Id) {
        let bool = edits.bool();
        let [condition, abort] = [(); 2].map(|()| edits.fresh());
        push(code, op::FunctionCall, &[bool, condition, due]);
        push(code, op::SelectionMerge, &[next, 0]);
        push(code, op::BranchConditional, &[condition, abort, next]);
        push(code, op::Label, &[abort]);
        let message = self.construct(edits, code);
        push(code, op::AbortKHR, &[self.message_type, message]);
        push(code, op::Label, &[next]);
    }

    fn construct(&self, edits: &mut Edits<'_>, code: &mut Vec<u32>) -> Id {
        let id = edits.fresh();
        push(
            code,
            op::CompositeConstruct,
            &[&[self.ty, id], &self.parts[..]].concat(),
        );
        id
    }
}

/// Creates a message as compilers do: a string, then words, one of which is `part` if given.
pub(super) fn message(edits: &mut Edits<'_>, choices: &mut Choices, part: Option<Id>) -> MessageParts {
    edits.capability(capability::Int8);
    let (byte, uint) = (edits.ty(op::TypeInt, &[8, 0]), edits.uint());
    let length = choices.between(1, 24);
    let count = edits.constant(length);
    let text = edits.new_type(op::TypeArray, &[byte, count]);
    let words: Vec<u32> = (0..length.div_ceil(4)).map(|_| choices.word()).collect();
    let string = edits.new_value(op::ConstantDataKHR, text, &words);
    let number = choices.word();
    let number = edits.constant(number);
    let last = part.unwrap_or(number);
    let plain = edits.new_type(op::TypeStruct, &[text, uint, uint]);
    let laid_out = edits.strided_array(byte, count, Some(1));
    edits.decorate(laid_out, decoration::UTFEncodedKHR, &[]);
    // Old compilers leave no gap after the string.
    let first = if choices.chance(30) {
        length
    } else {
        length.next_multiple_of(4)
    };
    let message_type = edits.structure(&[(laid_out, 0), (uint, first), (uint, first + 4 + choices.below(3))]);
    MessageParts {
        message_type,
        ty: plain,
        parts: vec![string, number, last],
    }
}

/// Adds `bool never()`, which returns a false specialisation constant.
pub(super) fn never(edits: &mut Edits<'_>) -> Id {
    let bool = edits.bool();
    let ty = edits.ty(op::TypeFunction, &[bool]);
    let never = edits.new_value(op::SpecConstantFalse, bool, &[]);
    edits.decorate(never, decoration::SpecId, &[0x5_0000]);
    let [function, label] = [(); 2].map(|()| edits.fresh());
    let code = &mut edits.functions;
    push(code, op::Function, &[bool, function, 0, ty]);
    push(code, op::Label, &[label]);
    push(code, op::ReturnValue, &[never]);
    push(code, op::FunctionEnd, &[]);
    function
}

/// A function that may abort.
#[derive(Clone, Copy, Debug)]
pub(super) struct AbortingFunction {
    id: Id,
    /// Takes a `uint` and returns it.
    passes: bool,
    result: Id,
}

/// Adds functions that may abort, directly or in a callee, with and without a result.
pub(super) fn aborting_functions(edits: &mut Edits<'_>, choices: &mut Choices, due: Id) -> Vec<AbortingFunction> {
    let mut all: Vec<AbortingFunction> = Vec::new();
    for _ in 0..choices.between(1, 3) {
        let passes = choices.chance(50);
        let inner = choices.pick(&all).filter(|_| choices.chance(50));
        let next = function(edits, choices, due, passes, inner);
        all.push(next);
    }
    all
}

fn function(
    edits: &mut Edits<'_>,
    choices: &mut Choices,
    due: Id,
    passes: bool,
    inner: Option<AbortingFunction>,
) -> AbortingFunction {
    let uint = edits.uint();
    let result = if passes { uint } else { edits.void() };
    let signature: &[u32] = if passes { &[result, uint] } else { &[result] };
    let ty = edits.ty(op::TypeFunction, signature);
    let [function, parameter, label, next] = [(); 4].map(|()| edits.fresh());
    let mut code = Vec::new();
    push(&mut code, op::Function, &[result, function, 0, ty]);
    if passes {
        push(&mut code, op::FunctionParameter, &[uint, parameter]);
    }
    push(&mut code, op::Label, &[label]);
    if let Some(inner) = inner {
        let argument = if passes { parameter } else { edits.constant(3) };
        code.extend(call_words(edits, inner, argument));
    } else {
        let message = message(edits, choices, passes.then_some(parameter));
        message.abort_if_due(edits, &mut code, due, next);
    }
    if passes {
        push(&mut code, op::ReturnValue, &[parameter]);
    } else {
        push(&mut code, op::Return, &[]);
    }
    push(&mut code, op::FunctionEnd, &[]);
    edits.functions.append(&mut code);
    AbortingFunction {
        id: function,
        passes,
        result,
    }
}

fn call_words(edits: &mut Edits<'_>, callee: AbortingFunction, argument: Id) -> Vec<u32> {
    let mut code = Vec::new();
    let id = edits.fresh();
    let operands = [callee.result, id, callee.id, argument];
    let count = if callee.passes { 4 } else { 3 };
    push(&mut code, op::FunctionCall, &operands[..count]);
    code
}

/// Inserts a call of one of the functions.
pub(super) fn call(edits: &mut Edits<'_>, choices: &mut Choices, callees: &[AbortingFunction], offset: usize) {
    if let Some(callee) = choices.pick(callees) {
        let argument = edits.constant(offset as u32);
        let code = call_words(edits, callee, argument);
        edits.insert(offset, &code);
    }
}
