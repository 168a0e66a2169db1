//! Facts about a module that checks share.

use super::operand_checks::ValueAnalyses;
use super::repetitions::ModuleRepetitions;
use vkabort_analysis::effects::Effects;
use vkabort_analysis::ranges::Ranges;
use vkabort_analysis::view::ModuleView;
use vkabort_options::{Check, Options};

/// The facts, of the module before anything is planted.
pub(super) struct ModuleFacts<'v, 'a, 'w> {
    pub(super) view: &'v ModuleView<'a, 'w>,
    pub(super) values: ValueAnalyses<'v, 'a, 'w>,
    /// How often loops run, if their check is planted.
    pub(super) repetitions: ModuleRepetitions,
}

impl<'v, 'a, 'w> ModuleFacts<'v, 'a, 'w> {
    pub(super) fn new(view: &'v ModuleView<'a, 'w>, options: &'a Options) -> Self {
        let sanitize = &options.sanitize;
        let specialization = sanitize.rewrites_specialised.then_some(&options.specialization);
        Self {
            view,
            values: ValueAnalyses {
                effects: Effects::new(view),
                not_finite: Effects::of_not_finite(view),
                unstored: Effects::of_memory(view),
                ranges: Ranges::new(view, options),
            },
            repetitions: match sanitize.checks.contains(Check::Loops) {
                true => ModuleRepetitions::new(view, specialization),
                false => ModuleRepetitions::default(),
            },
        }
    }

    /// From now on, the loops are counted that specialisation constants end.
    pub(super) fn count_specialised_loops(&mut self) {
        self.repetitions = ModuleRepetitions::new(self.view, None);
    }
}
