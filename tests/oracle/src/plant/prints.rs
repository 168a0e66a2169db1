//! Plants prints of values that were computed before, at any place of a valid module where a call may be.

use super::edits::Edits;
use super::insertion_point;
use crate::choices::Choices;
use crate::module::{Id, Module};
use crate::op;
use crate::words::{HEADER_WORDS, push, string};

/// Most arguments of a print.
const MAX_ARGUMENTS: u32 = 6;

/// Plants prints into `percent` of the blocks. `None` if the words are malformed.
pub fn plant_prints(words: &[u32], choices: &mut Choices, percent: u32) -> Option<Vec<u32>> {
    let module = Module::parse(words)?;
    let mut edits = Edits::new(&module);
    let end = |inst: &crate::words::Inst| inst.offset + inst.operands.len() + 1;
    let globals = &module.globals;
    let declarations = globals
        .iter()
        .find(|i| matches!(i.op, op::ExtInstImport | op::MemoryModel))?;
    let modes = globals
        .iter()
        .rfind(|i| matches!(i.op, op::EntryPoint | op::ExecutionMode | op::ExecutionModeId));
    let (set, format) = (edits.fresh(), edits.fresh());
    let mut code = Vec::new();
    push(&mut code, op::Extension, &string("SPV_KHR_non_semantic_info"));
    push(
        &mut code,
        op::ExtInstImport,
        &[&[set], &string("NonSemantic.DebugPrintf")[..]].concat(),
    );
    edits.insert(declarations.offset, &code);
    let mut code = Vec::new();
    push(&mut code, op::String, &[&[format], &string("%u %f %v3u")[..]].concat());
    edits.insert(modes.map_or(HEADER_WORDS, end), &code);
    let void = globals.iter().find(|i| i.op == op::TypeVoid)?.word(0);
    let opcode_of = |id: Id| globals.iter().find(|i| i.word(0) == id).map_or(0, |i| i.op);
    let is_shown = |ty: Id| {
        matches!(
            opcode_of(ty),
            op::TypeInt | op::TypeFloat | op::TypeVector | op::TypeBool
        )
    };
    for function in &module.functions {
        for (number, block) in function.blocks.iter().enumerate() {
            if !choices.chance(percent) {
                continue;
            }
            let at = insertion_point(block, choices, number == 0, true).offset;
            let computed = block
                .insts
                .iter()
                .filter(|i| i.offset < at && op::has_result(i.op) && is_shown(i.word(0)));
            let values: Vec<Id> = computed
                .map(|i| i.word(1))
                .chain(function.parameters.iter().copied())
                .collect();
            let types = function.parameters.iter().zip(&function.parameter_types);
            let is_pointer = |id: &Id| types.clone().any(|(parameter, ty)| parameter == id && !is_shown(*ty));
            let mut operands = vec![void, edits.fresh(), set, 1, format];
            for _ in 0..choices.below(MAX_ARGUMENTS + 1) {
                operands.extend(choices.pick(&values).filter(|id| !is_pointer(id)));
            }
            let mut code = Vec::new();
            push(&mut code, op::ExtInst, &operands);
            edits.insert(at, &code);
        }
    }
    edits.apply(words)
}
