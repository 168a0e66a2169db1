//! Code at the start of functions.

use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::index::{EntryPoint, Function, Index};
use vkabort_spirv::{Code, Id};

/// Inserts code at the start of the functions of the entry points that `affects` selects, once in each.
pub(super) fn insert_at_entries(
    index: &Index<'_>,
    edits: &mut Edits,
    code: &Code,
    affects: impl Fn(&EntryPoint<'_>) -> bool,
) {
    let entries = index.entry_points.iter().filter(|entry| affects(entry));
    let mut functions: Vec<Id> = entries.map(|entry| entry.function).collect();
    functions.sort_unstable();
    functions.dedup();
    for id in functions {
        let function = index.function_of(id);
        if let Some(function) = function.and_then(|function| index.functions.get(function)) {
            // Before the code of the function itself.
            insert_at_start(index, edits, function, Rank::Variables, code);
        }
    }
}

/// Inserts code behind the variables of a function.
pub(super) fn insert_at_start(index: &Index<'_>, edits: &mut Edits, function: &Function, rank: Rank, code: &Code) {
    if let Some(start) = index.after_variables(function) {
        edits.insert_ranked(start, rank, code);
    }
}

/// The function that holds an offset.
pub(super) fn function_at(index: &Index<'_>, offset: usize) -> Option<Function> {
    let mut functions = index.functions.values().iter();
    let function = functions.find(|function| (function.offset..function.end).contains(&offset));
    function.cloned()
}
