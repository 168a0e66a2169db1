//! Plants aborts in any valid module.
//!
//! An abort may stand in a block of its own wherever a block can be split: outside loop headers and continue constructs.
//! Anywhere else a call to a function that may abort can stand: loop headers, single-block loops, continue constructs.

mod edits;
mod functions;

use crate::choices::Choices;
use crate::module::{Block, Function, Id, Module};
use crate::op::{self, capability};
use crate::words::{Inst, push};
use edits::Edits;
use std::collections::HashSet;

/// What makes planted aborts happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A function of the module without parameters that returns a Boolean.
    Due(Id),
    /// Nothing: a specialisation constant that is false.
    Never,
}

/// How much to plant.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// Blocks of 100 that are split by an abort, where possible.
    pub aborts: u32,
    /// Blocks of 100 that get a call to a function that may abort.
    pub calls: u32,
}

/// A module with planted aborts.
#[derive(Clone, Debug)]
pub struct Planted {
    /// Its words.
    pub words: Vec<u32>,
    /// Blocks that were split by an abort.
    pub aborts: u32,
    /// Calls to functions that may abort.
    pub calls: u32,
}

/// Plants aborts. `None` if the words are no module.
pub fn plant(words: &[u32], choices: &mut Choices, trigger: Trigger, density: Density) -> Option<Planted> {
    plant_but(words, choices, trigger, density, 0)
}

/// Plants aborts outside one function: an entry point that first sets what `due` reads. `None` if the words are no module.
pub fn plant_but(
    words: &[u32],
    choices: &mut Choices,
    trigger: Trigger,
    density: Density,
    spared: Id,
) -> Option<Planted> {
    let module = Module::parse(words)?;
    let mut edits = Edits::new(&module);
    for needed in [capability::AbortKHR, capability::ConstantDataKHR] {
        edits.capability(needed);
    }
    edits.extension("SPV_KHR_abort");
    edits.extension("SPV_KHR_constant_data");
    let due = match trigger {
        Trigger::Due(function) => function,
        Trigger::Never => functions::never(&mut edits),
    };
    let callees = functions::planted(&mut edits, choices, due);
    let (mut aborts, mut calls) = (0, 0);
    for function in module.functions.iter().filter(|f| f.id != due && f.id != spared) {
        let fixed = continue_blocks(function);
        for (number, block) in function.blocks.iter().enumerate() {
            let splits = !fixed.contains(&block.label) && block.merge().is_none_or(|m| m.op != op::LoopMerge);
            if splits && choices.chance(density.aborts) {
                split(&mut edits, choices, due, block, number == 0);
                aborts += 1;
            }
            if choices.chance(density.calls) {
                let at = place(block, choices, number == 0, false);
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

/// An instruction of a block before which something can be inserted: after phis and variables, not after a merge
/// instruction. `whole`: what the block makes for its own use only, as sampled images are, must stay in one piece.
fn place<'b>(block: &'b Block, choices: &mut Choices, entry: bool, whole: bool) -> &'b Inst {
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
            .position(|i| matches!(i.op, op::SampledImage | IMAGE));
        last = last.min(image.unwrap_or(last)).max(first);
    }
    let at = choices.between(first as u32, last as u32) as usize;
    &block.insts[at.min(block.insts.len() - 1)]
}

/// `OpImage`.
const IMAGE: u16 = 100;

/// Labels of the blocks of all continue constructs of a function.
fn continue_blocks(function: &Function) -> HashSet<Id> {
    let mut found = HashSet::new();
    for header in &function.blocks {
        let Some(merge) = header.merge().filter(|m| m.op == op::LoopMerge) else {
            continue;
        };
        let mut open = vec![merge.word(1)];
        let mut seen = HashSet::from([header.label, merge.word(0)]);
        while let Some(label) = open.pop() {
            if !seen.insert(label) {
                continue;
            }
            found.insert(label);
            if let Some(block) = function.block(label).and_then(|b| function.blocks.get(b)) {
                open.extend(block.successors());
            }
        }
    }
    found
}

/// Splits a block: if it is time, the invocation aborts there.
fn split(edits: &mut Edits<'_>, choices: &mut Choices, due: Id, block: &Block, entry: bool) {
    let at = place(block, choices, entry, true).offset;
    let uint = edits.ty(op::TypeInt, &[32, 0]);
    // A value that the block has made so far, for the message.
    let made: Vec<Id> = block
        .insts
        .iter()
        .filter(|i| {
            i.offset < at && i.word(0) == uint && matches!(i.op, op::Load | op::IAdd | op::Phi | op::CompositeExtract)
        })
        .map(|i| i.word(1))
        .collect();
    let part = choices.pick(&made);
    let (ty, value) = functions::message(edits, choices, part);
    let bool = edits.ty(op::TypeBool, &[]);
    let [condition, abort, go] = [(); 3].map(|()| edits.fresh());
    let mut code = Vec::new();
    push(&mut code, op::FunctionCall, &[bool, condition, due]);
    push(&mut code, op::SelectionMerge, &[go, 0]);
    push(&mut code, op::BranchConditional, &[condition, abort, go]);
    push(&mut code, op::Label, &[abort]);
    let message = value.make(edits, &mut code);
    push(&mut code, op::AbortKHR, &[ty, message]);
    push(&mut code, op::Label, &[go]);
    edits.insert(at, &code);
    edits.moved(block.label, go);
}
