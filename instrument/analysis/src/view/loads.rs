//! Lists the stores that each load may read, by word offsets: the oracle compares them with an interpreter.

use super::{AccessKind, ModuleView, Origin};
use std::collections::{BTreeMap, BTreeSet};
use vkabort_spirv::error::Result;
use vkabort_spirv::index::Index;

/// See [`crate::sources_of_loads`].
pub fn sources_of_loads(words: &[u32]) -> Result<BTreeMap<usize, BTreeSet<Option<usize>>>> {
    let index = Index::new(words)?;
    let view = ModuleView::new(&index);
    let mut found = BTreeMap::new();
    for (number, _) in index.functions.iter() {
        let Some(flow) = view.function(number) else { continue };
        let accesses = flow.accesses.accesses.iter();
        for (at, load) in accesses.filter(|(_, access)| matches!(access.kind, AccessKind::Load(_))) {
            let sources = flow.sources(flow.memory.read(at));
            let definitions = sources
                .into_iter()
                .filter_map(|source| flow.memory.definitions.get(source));
            let offsets = definitions.map(|source| match source.origin {
                Origin::Entry => None,
                _ => Some(source.offset),
            });
            let offsets: BTreeSet<Option<usize>> = offsets.collect();
            // Nothing: it is not known.
            if !offsets.is_empty() {
                found.insert(load.offset, offsets);
            }
        }
    }
    Ok(found)
}
