//! Plants aborts in any valid module.
//!
//! An abort is placed in its own block where a block can be split: outside loop headers and continue constructs. Elsewhere,
//! in loop headers, single-block loops and continue constructs, a call of a function that may abort is placed.

mod edits;
mod fault;
mod fault_functions;
mod fault_writer;
mod faults;
mod functions;
mod names;
mod prints;

use crate::choices::Choices;
use crate::module::{Block, Function, Id, Module};
use crate::op::{self, capability};
use crate::words::Inst;
use edits::Edits;
pub use fault::Fault;
pub use faults::{PlantedFaults, plant_faults};
pub use names::name_values;
pub use prints::plant_prints;
use std::collections::HashSet;

/// Condition of planted aborts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A function of the module without parameters that returns a Boolean.
    Due(Id),
    /// Never: a false specialisation constant.
    Never,
}

/// Number of aborts to plant.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// Percentage of blocks that are split by an abort, where possible.
    pub aborts: u32,
    /// Percentage of blocks that get a call of a function that may abort.
    pub calls: u32,
}

/// A module with planted aborts.
#[derive(Clone, Debug)]
pub struct Planted {
    /// SPIR-V of the module.
    pub words: Vec<u32>,
    /// Blocks that were split by an abort.
    pub aborts: u32,
    /// Calls of functions that may abort.
    pub calls: u32,
}

/// Plants aborts. `None` if the words are malformed.
pub fn plant(words: &[u32], choices: &mut Choices, trigger: Trigger, density: Density) -> Option<Planted> {
    plant_except(words, choices, trigger, density, 0)
}

/// Plants aborts outside one function, such as an entry point that first sets the memory that `due` reads. `None` if malformed.
pub fn plant_except(
    words: &[u32],
    choices: &mut Choices,
    trigger: Trigger,
    density: Density,
    excluded: Id,
) -> Option<Planted> {
    let module = Module::parse(words)?;
    let mut edits = Edits::new(&module);
    for capability in [capability::AbortKHR, capability::ConstantDataKHR] {
        edits.capability(capability);
    }
    edits.extension("SPV_KHR_abort");
    edits.extension("SPV_KHR_constant_data");
    let due = match trigger {
        Trigger::Due(function) => function,
        Trigger::Never => functions::never(&mut edits),
    };
    let callees = functions::aborting_functions(&mut edits, choices, due);
    let (mut aborts, mut calls) = (0, 0);
    for function in module.functions.iter().filter(|f| f.id != due && f.id != excluded) {
        let continues = continue_blocks(function);
        for (number, block) in function.blocks.iter().enumerate() {
            let splits = !continues.contains(&block.label) && block.merge().is_none_or(|m| m.op != op::LoopMerge);
            if splits && choices.chance(density.aborts) {
                split(&mut edits, choices, due, block, number == 0);
                aborts += 1;
            }
            if choices.chance(density.calls) {
                let at = insertion_point(block, choices, number == 0, false);
                functions::call(&mut edits, choices, &callees, at.offset);
                calls += 1;
            }
        }
    }
    Some(Planted {
        words: edits.apply(words)?,
        aborts,
        calls,
    })
}

/// An instruction of a block before which code can be inserted: after phis and variables, before a merge instruction.
/// With `whole`, also before sampled images, which must be used in the block that creates them.
fn insertion_point<'b>(block: &'b Block, choices: &mut Choices, entry: bool, whole: bool) -> &'b Inst {
    let head = |i: &Inst| i.op == op::Phi || entry && (i.op == op::Variable || i.op == op::ExtInst);
    let first = block.insts.iter().rposition(head).map_or(0, |at| at + 1);
    let mut last = block
        .insts
        .len()
        .saturating_sub(if block.merge().is_some() { 2 } else { 1 });
    if whole {
        let image = block
            .insts
            .iter()
            .position(|i| matches!(i.op, op::SampledImage | op::Image));
        last = last.min(image.unwrap_or(last)).max(first);
    }
    let at = choices.between(first as u32, last as u32) as usize;
    &block.insts[at.min(block.insts.len() - 1)]
}

/// Labels of the blocks in all continue constructs of a function.
fn continue_blocks(function: &Function) -> HashSet<Id> {
    let mut found = HashSet::new();
    for header in &function.blocks {
        let Some(merge) = header.merge().filter(|m| m.op == op::LoopMerge) else {
            continue;
        };
        let mut worklist = vec![merge.word(1)];
        let mut visited = HashSet::from([header.label, merge.word(0)]);
        while let Some(label) = worklist.pop() {
            if !visited.insert(label) {
                continue;
            }
            found.insert(label);
            if let Some(block) = function.block(label).and_then(|b| function.blocks.get(b)) {
                worklist.extend(block.successors());
            }
        }
    }
    found
}

/// Splits a block by an abort that is taken when `due` returns true.
fn split(edits: &mut Edits<'_>, choices: &mut Choices, due: Id, block: &Block, entry: bool) {
    let at = insertion_point(block, choices, entry, true).offset;
    let uint = edits.uint();
    // Values computed earlier in the block, candidates for the message.
    let values: Vec<Id> = block
        .insts
        .iter()
        .filter(|i| {
            i.offset < at && i.word(0) == uint && matches!(i.op, op::Load | op::IAdd | op::Phi | op::CompositeExtract)
        })
        .map(|i| i.word(1))
        .collect();
    let part = choices.pick(&values);
    let message = functions::message(edits, choices, part);
    let next = edits.fresh();
    let mut code = Vec::new();
    message.abort_if_due(edits, &mut code, due, next);
    edits.insert(at, &code);
    edits.moved(block.label, next);
}
