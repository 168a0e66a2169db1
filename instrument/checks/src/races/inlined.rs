//! Functions whose accesses are left out, since drivers inline each call: the record of a stretch is compiled once for each path of calls
//! that leads to it, and lavapipe takes a time that grows with the square of their number: for 100 stretches of a store and a load between
//! branches, some 4 s on Mesa 22.3, 15 s on Mesa 25 and 6 s on Mesa 26.

use super::super::module::ModulePlanter;
use super::records::RecordedAccess;
use super::stretch::continues;
use std::collections::{BTreeMap, BTreeSet};
use vkabort_spirv::index::typed::FunctionIndex;

/// Most stretches of a module, with those that are inlined.
const MAX_STRETCHES: u64 = 100;

/// The functions to leave out, those with the most stretches first. Warns of each. O(calls + accesses).
pub(super) fn too_often_inlined(module: &mut ModulePlanter<'_, '_>, all: &[RecordedAccess]) -> BTreeSet<FunctionIndex> {
    let mut own: BTreeMap<FunctionIndex, u64> = BTreeMap::new();
    let mut before = None;
    for access in all.iter().map(|recorded| &recorded.access) {
        let is_joined = before.is_some_and(|before| continues(module.index, before, access.offset));
        *own.entry(access.function).or_default() += u64::from(!is_joined);
        before = Some(access.offset);
    }
    let paths = module.graph.call_paths(module.index);
    let stretches = |(function, own): (&FunctionIndex, &u64)| {
        let paths = paths.get(*function).copied().unwrap_or(0);
        (own.saturating_mul(paths), *own, *function)
    };
    let by_stretches: BTreeSet<(u64, u64, FunctionIndex)> = own.iter().map(stretches).collect();
    let (mut total, mut left_out) = (0_u64, BTreeSet::new());
    for (stretches, own, number) in by_stretches {
        total = total.saturating_add(stretches);
        if total <= MAX_STRETCHES {
            continue;
        }
        left_out.insert(number);
        let id = module.index.functions.get(number).map(|function| function.id);
        let name = id.and_then(|id| module.places.expressions.names.name(module.index, id));
        let name = name.map_or_else(|| "a function".to_owned(), |name| format!("`{name}`"));
        module.planted.warnings.push(format!(
            "races in {name} are not checked: its {own} stretches of accesses to shared memory are {stretches} once calls are inlined, which drivers take \
             too long to compile"
        ));
    }
    left_out
}
