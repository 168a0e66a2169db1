//! Compares a module with faults and checks with one that aborts in place of each fault.

use super::inputs::{CheckOptions, STEPS, plant, planting};
use super::run::{self, Run, Schedule};
use crate::choices::Choices;
use crate::interpret::UndefinedValues;
use crate::interpret::{InterpretError, InvocationEnd};
use crate::module::Module;
use crate::op;
use crate::plant::{Fault, PlantedFaults};
use std::collections::{BTreeMap, HashMap};
use vkabort_instrument::Checks;
use vkabort_record::site::Site;

/// Calls of `due` among which an invocation's fault is chosen.
const MAX_CALLS: u32 = 12;

/// Results of a comparison.
#[derive(Clone, Debug, Default)]
pub struct FaultSummary {
    /// Faults that happened and were reported, by check.
    pub found: BTreeMap<&'static str, u32>,
    /// Invocations without a fault, which ended without a report.
    pub clean: u32,
}

/// Plants every check into a module with faults, and runs it beside its reference: every invocation whose fault happens must
/// end there, by the right check and with the same values, and no other one.
///
/// # Errors
///
/// The first difference found.
pub fn check_faults(planted: &PlantedFaults, choices: &mut Choices) -> Result<FaultSummary, String> {
    let options = planting(Checks::all());
    let reference = Module::parse(&planted.reference).ok_or("the reference is malformed")?;
    let faulty = Module::parse(&planted.faulty).ok_or("the faulty module is malformed")?;
    let mut summary = FaultSummary::default();
    // Nothing is planted if no entry point reaches a fault.
    let (result, sites) = plant(&planted.faulty, &options)?;
    let options = CheckOptions {
        rewrite: options,
        constants: Vec::new(),
        specialization: HashMap::new(),
        budget: None,
        keeps_frames: false,
        undefined: UndefinedValues::Followed,
    };
    for entry in &reference.entries {
        let due = (0..run::INVOCATIONS).map(|_| choices.below(MAX_CALLS)).collect();
        let schedule = Schedule::new(entry, due);
        let expected = match Run::original(&reference, &schedule, &options, None, STEPS) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|error| format!("the reference, entry point {}: {error}", entry.name))?,
        };
        let found = Run::original(&result, &schedule, &options, None, STEPS * 20)
            .map_err(|error| format!("entry point {}: {error}", entry.name))?;
        for (number, ends) in expected.ends.iter().zip(&found.ends).enumerate() {
            compare(&faulty, planted, &sites.sites, ends, &mut summary)
                .map_err(|difference| format!("entry point {}, invocation {number}: {difference}", entry.name))?;
        }
    }
    Ok(summary)
}

/// Compares the ends of one invocation: in the reference and in the module with checks.
fn compare(
    faulty: &Module,
    planted: &PlantedFaults,
    sites: &[Site],
    ends: (&InvocationEnd, &InvocationEnd),
    summary: &mut FaultSummary,
) -> Result<(), String> {
    let (expected, site, message) = match ends {
        (InvocationEnd::Aborted { message: expected, .. }, InvocationEnd::Aborted { site, message }) => {
            (expected.bytes(), site, message.bytes())
        }
        (expected, found) if expected == found => {
            summary.clean += 1;
            return Ok(());
        }
        (expected, found) => return Err(format!("ends with {found:?}, expected {expected:?}")),
    };
    let (number, values) = expected.split_at_checked(4).ok_or("the reference has no number")?;
    let number = u32::from_le_bytes(number.try_into().map_err(|_| "not a number")?);
    let fault = planted.faults.get(number as usize).ok_or("not a fault")?;
    let site = sites.get(*site as usize).ok_or("not a site")?;
    if site.check.as_deref() != Some(fault.check) || site.word_offset as usize != offset(faulty, fault) {
        let found = (&site.check, site.word_offset);
        return Err(format!(
            "is reported by {found:?}, expected {fault:?} at {}",
            offset(faulty, fault)
        ));
    }
    let text = site.text.as_deref().unwrap_or_default();
    let shown = message.get((text.len() + 1).next_multiple_of(4)..).unwrap_or_default();
    // A fault that has travelled has no values.
    if shown != values && !shown.is_empty() {
        return Err(format!("`{text}` has the values {shown:?}, expected {values:?}"));
    }
    *summary.found.entry(fault.check).or_default() += 1;
    Ok(())
}

/// Word offset of the instruction of a fault.
fn offset(module: &Module, fault: &Fault) -> usize {
    let mut blocks = module.functions.iter().flat_map(|f| &f.blocks);
    if let Some(block) = blocks.clone().find(|block| block.label == fault.id) {
        return block.insts.last().map_or(0, |inst| inst.offset);
    }
    let own = blocks.find_map(|block| {
        block.insts.iter().find(|inst| match inst.op {
            op::Store => inst.word(0) == fault.id,
            op::AccessChain => false,
            _ => inst.word(1) == fault.id,
        })
    });
    own.map_or(0, |inst| inst.offset)
}
