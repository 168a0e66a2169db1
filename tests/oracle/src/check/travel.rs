//! Compares a module with faulty operations and its rewrite with checks: an invocation ends by a report if and only if an undefined value has
//! an effect in it.

use super::inputs::{CheckOptions, STEPS, plant, planting};
use super::run::{self, Run, Schedule};
use crate::choices::Choices;
use crate::interpret::UndefinedValues;
use crate::interpret::{InterpretError, InvocationEnd};
use crate::module::Module;
use std::collections::HashMap;
use vkabort_instrument::{Check, Checks};

/// Results of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct TravelSummary {
    /// Invocations in which an undefined value had an effect, all of which were reported.
    pub faulty: u32,
    /// Invocations without such an effect, none of which was.
    pub clean: u32,
    /// Invocations that the interpreter does not decide.
    pub left_out: u32,
}

/// Plants the checks of undefined values into a module, and runs it beside the original.
///
/// # Errors
///
/// The first difference found.
pub fn check_travel(words: &[u32], choices: &mut Choices) -> Result<TravelSummary, String> {
    let options = planting(Checks::of([Check::Divide, Check::Shift]));
    let original = Module::parse(words).ok_or("the module is malformed")?;
    let (checked, _) = plant(words, &options)?;
    let options = CheckOptions {
        rewrite: options,
        constants: Vec::new(),
        specialization: HashMap::new(),
        budget: None,
        keeps_frames: false,
        undefined: UndefinedValues::Followed,
    };
    let mut summary = TravelSummary::default();
    for entry in &original.entries {
        let due = (0..run::INVOCATIONS).map(|_| choices.below(1 << 16)).collect();
        let schedule = Schedule::new(entry, due);
        let expected = match Run::original(&original, &schedule, &options, None, STEPS) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|error| format!("the original, entry point {}: {error}", entry.name))?,
        };
        // Effects in a loop are reported behind it.
        let options = CheckOptions {
            undefined: UndefinedValues::Arbitrary,
            ..options.clone()
        };
        let found = match Run::original(&checked, &schedule, &options, None, STEPS * 20) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|error| format!("entry point {}: {error}", entry.name))?,
        };
        for (number, ends) in expected.ends.iter().zip(&found.ends).enumerate() {
            match ends {
                // Where an index is undefined, the interpreter does not follow what becomes of the element.
                (InvocationEnd::Undefined(reason), _)
                    if reason.contains("an index") || reason.contains("an address") =>
                {
                    summary.left_out += 1;
                    // It may have stored less than the other.
                    return Ok(summary);
                }
                (InvocationEnd::Undefined(_), InvocationEnd::Aborted { .. }) => {
                    summary.faulty += 1;
                    // What it has stored until then may differ, and others read it.
                    return Ok(summary);
                }
                (InvocationEnd::Returned | InvocationEnd::Killed, end) if *end == expected.ends[number] => {
                    summary.clean += 1;
                }
                (expected, found) => {
                    let entry = &entry.name;
                    return Err(format!(
                        "entry point {entry}, invocation {number} ends with {found:?}, expected {expected:?}"
                    ));
                }
            }
        }
    }
    Ok(summary)
}
