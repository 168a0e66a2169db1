//! Names the values and variables of a module.

use super::Edits;
use crate::choices::Choices;
use crate::module::{Id, Module};
use crate::op;
use std::collections::HashSet;

/// Gives `percent` of the values, parameters and variables of functions that have no name one of their own: `v` and the id. `None`
/// if the words are malformed.
pub fn name_values(words: &[u32], choices: &mut Choices, percent: u32) -> Option<Vec<u32>> {
    let module = Module::parse(words)?;
    let mut edits = Edits::new(&module);
    let named = module.globals.iter().filter(|inst| inst.op == op::Name);
    let named: HashSet<Id> = named.map(|inst| inst.word(0)).collect();
    for function in &module.functions {
        let insts = function.blocks.iter().flat_map(|block| &block.insts);
        // The value of a freeze is arbitrary: the interpreter has another one than the rewrite.
        let results = insts.filter(|inst| op::has_result(inst.op) && inst.op != op::FreezeKHR);
        let results = results.map(|inst| inst.word(1));
        for id in function.parameters.iter().copied().chain(results) {
            if !named.contains(&id) && choices.chance(percent) {
                edits.name(id, &format!("v{id}"));
            }
        }
    }
    edits.apply(words)
}
