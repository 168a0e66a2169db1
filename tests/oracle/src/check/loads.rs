//! Compares the stores that the rewriter's view of memory lists for each load with the writers of the scalars that it read.

use super::inputs::STEPS;
use super::run::{Schedule, buffers};
use crate::interpret::{InterpretError, Machine, Setup};
use crate::module::Module;
use vkabort_instrument::sources_of_loads;

/// Counts of the compared loads.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadSummary {
    /// Loads that were executed and that the view follows.
    pub loads: usize,
    /// Those among them of which the view names a single source.
    pub certain: usize,
}

/// Runs the entry points of a module.
///
/// # Errors
///
/// A load reads a store that the view does not list among its sources; or the module cannot be interpreted.
pub fn check_loads(words: &[u32]) -> Result<LoadSummary, String> {
    let module = Module::parse(words).ok_or("the module is malformed")?;
    let view = sources_of_loads(words).map_err(|error| error.to_string())?;
    let mut summary = LoadSummary::default();
    for entry in &module.entries {
        let schedule = Schedule::new(entry, vec![0; 4]);
        let setup = Setup {
            buffers: buffers(&schedule.due),
            steps: STEPS,
            ..Setup::default()
        };
        let mut machine = Machine::new(&module, setup).map_err(|error| error.to_string())?;
        machine.record_writers();
        for identity in &schedule.identities {
            match machine.run(entry, *identity) {
                Err(InterpretError::StepLimit(_)) => break,
                ended => ended.map_err(|error| error.to_string())?,
            };
        }
        for (offset, read) in machine.writers() {
            let Some(sources) = view.get(offset) else { continue };
            summary.loads += 1;
            summary.certain += usize::from(sources.len() == 1);
            if let Some(writer) = read.iter().find(|writer| !sources.contains(writer)) {
                return Err(format!(
                    "the load at word {offset} reads what {writer:?} wrote, but the view names {sources:?}"
                ));
            }
        }
    }
    Ok(summary)
}
