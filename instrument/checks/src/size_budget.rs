//! Drops the most frequent default check if a large module would more than double in size.
//!
//! Drivers compile a shader in a time that grows with its code. Small shaders take some milliseconds whatever is planted. Of 262 modules of
//! llama.cpp on Mesa 26.2, those that compile in 20 ms and more take 0.8 times as long in the median with the default checks, at worst
//! 2.8 times (34 to 95 ms). Checks that are named in the options are planted in any case.

use std::borrow::Cow;
use vkabort_options::Options;
use vkabort_options::{CHECKS, Check, CheckRow, Checks};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::index::Index;

/// Words of the functions of a large module.
const LARGE: usize = 10_000;

/// Options, without the checks that were dropped so far.
pub(super) struct SizeBudget<'o> {
    pub(super) options: Cow<'o, Options>,
    selected: Checks,
    /// A warning for each check that is left out.
    left_out: Vec<String>,
}

impl<'o> SizeBudget<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        Self {
            options: Cow::Borrowed(options),
            selected: options.sanitize.checks,
            left_out: Vec::new(),
        }
    }

    /// Takes a check from the options if the module grows too much with all of them.
    pub(super) fn leave_out(&mut self, index: &Index<'_>, edits: &Edits, planted: &PlantedAborts) -> bool {
        let Some((check, count)) = too_frequent(index, self.selected, edits, planted) else {
            return false;
        };
        let sanitize = &mut self.options.to_mut().sanitize;
        sanitize.checks = sanitize.checks.without(check);
        let name = check.name();
        self.left_out.push(format!(
            "the check `{name}` is left out: its {count} places and the others would more than double this large module; name it in \
             `sanitize` to have it"
        ));
        true
    }

    /// Adds the warnings to the planted aborts.
    pub(super) fn finish(self, edits: Edits, mut planted: PlantedAborts) -> (Edits, PlantedAborts) {
        planted.warnings.extend(self.left_out);
        (edits, planted)
    }
}

/// The check to leave out, and the number of its sites. `None` if the module stays small enough.
fn too_frequent(index: &Index<'_>, selected: Checks, edits: &Edits, planted: &PlantedAborts) -> Option<(Check, usize)> {
    let first = index.functions.iter().next().map(|(_, function)| function.offset)?;
    let own = index.new_functions().saturating_sub(first);
    let is_small = own < LARGE || edits.growth_from(first) <= own;
    if selected != Checks::defaults() || is_small {
        return None;
    }
    let sites = |row: &CheckRow| planted.aborts.values().filter(|abort| abort.check == row.name).count();
    let counted = CHECKS.iter().map(|row| (row.check, sites(row)));
    counted.max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0)
}
