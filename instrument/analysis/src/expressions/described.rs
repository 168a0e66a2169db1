//! Names from debug information.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::Id;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::debug::Position;

/// Names that `DebugValue` gives to values, if it gives each only one.
pub(super) fn names_of_values(index: &Index<'_>) -> HashMap<Id, String> {
    let mut names: HashMap<Id, Option<String>> = HashMap::default();
    if !index.has_debug_info() {
        return HashMap::default();
    }
    let position = Position::default();
    for block in index.blocks.values() {
        for inst in index.body(block) {
            if let Some(of) = index
                .described_variable(&inst, &position)
                .filter(|of| !of.is_declaration)
            {
                let name = names.entry(of.value).or_insert_with(|| Some(of.variable.name.clone()));
                name.take_if(|name| *name != of.variable.name);
            }
        }
    }
    names.into_iter().filter_map(|(id, name)| Some((id, name?))).collect()
}
