//! Plants undefined values and accesses beyond arrays, and beside them the aborts by which checks would report them.

use super::edits::Edits;
use super::fault::{Effect, Fault, KINDS, Place};
use super::fault_writer::FaultWriter;
use super::{continue_blocks, insertion_point};
use crate::choices::Choices;
use crate::module::{Id, Module};
use crate::op::{self, capability};

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

/// Plants faults into about `density` percent of the blocks. `due` is a function of the module that returns a Boolean. `None` if
/// the words are malformed.
pub fn plant_faults(words: &[u32], choices: &mut Choices, due: Id, density: u32) -> Option<PlantedFaults> {
    let module = Module::parse(words)?;
    let mut places = Vec::new();
    for (function, body) in module.functions.iter().enumerate().filter(|(_, body)| body.id != due) {
        let continues = continue_blocks(body);
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
            let is_header = block.merge().is_some_and(|merge| merge.op == op::LoopMerge);
            let splits = !is_header && !continues.contains(&block.label);
            places.push(Place {
                offset,
                function,
                split: splits.then_some(block.label),
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
    let mut writer = FaultWriter::new(module, due, is_faulty);
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
