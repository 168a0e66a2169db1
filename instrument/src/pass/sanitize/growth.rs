//! Large modules that the default checks would more than double: the most frequent check is left out.
//!
//! Drivers compile a shader in a time that grows with its code. Small shaders take some milliseconds whatever is planted. Of 262 modules of
//! llama.cpp on Mesa 26.2, those that compile in 20 ms and more take 0.8 times as long in the median with the default checks, at worst
//! 2.8 times (34 to 95 ms). Checks that somebody asks for by name are planted all the same.

use crate::analysis::index::Index;
use crate::edit::Edits;
use crate::edit::planted::Planted;
use crate::sanitize::{CHECKS, Check, CheckRow, Checks};

/// Words of the functions of a large module.
const LARGE: usize = 10_000;

/// The check to leave out, and the number of its sites. `None` if the module stays small enough.
pub(crate) fn too_frequent(
    index: &Index<'_>,
    selected: Checks,
    edits: &Edits,
    planted: &Planted,
) -> Option<(Check, usize)> {
    let first = index.functions.iter().next().map(|(_, function)| function.offset)?;
    let own = index.new_functions().saturating_sub(first);
    let is_small = own < LARGE || edits.growth_from(first) <= own;
    if selected != Checks::defaults() || is_small {
        return None;
    }
    let sites = |row: &CheckRow| planted.checks.values().filter(|name| **name == row.name).count();
    let counted = CHECKS.iter().map(|row| (row.check, sites(row)));
    counted.max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0)
}
