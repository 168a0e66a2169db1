//! Functions whose accesses are left out, since drivers inline each call: the record of an access is compiled once for each path of calls
//! that leads to it.
//!
//! On lavapipe (Mesa 22.3 to 26) and SwiftShader, a record takes some 5 ms, and memory: FFmpeg's encoder of FFV1 has a function that is
//! inlined 59 times, and would take minutes and gigabytes.

use super::super::module::ModulePlanter;
use super::records::RecordedAccess;
use super::stretch::follows;
use crate::analysis::index::typed::FunctionIndex;
use std::collections::{BTreeMap, BTreeSet};

/// Most records of a module, with those that are inlined.
const MAX_RECORDS: u64 = 2_000;

/// The functions to leave out, those with the most records first. Warns of each. O(calls + accesses).
pub(super) fn too_often_inlined(module: &mut ModulePlanter<'_, '_>, all: &[RecordedAccess]) -> BTreeSet<FunctionIndex> {
    let mut own: BTreeMap<FunctionIndex, u64> = BTreeMap::new();
    let mut before = None;
    for recorded in all {
        // Those of a run are one.
        let is_run = before.is_some_and(|before| follows(before, recorded));
        *own.entry(recorded.access.function).or_default() += u64::from(!is_run);
        before = Some(recorded);
    }
    let paths = module.graph.call_paths(module.index);
    let records = |(function, own): (&FunctionIndex, &u64)| {
        let paths = paths.get(*function).copied().unwrap_or(0);
        (own.saturating_mul(paths), *own, *function)
    };
    let by_records: BTreeSet<(u64, u64, FunctionIndex)> = own.iter().map(records).collect();
    let (mut total, mut left_out) = (0_u64, BTreeSet::new());
    for (records, own, number) in by_records {
        total = total.saturating_add(records);
        if total <= MAX_RECORDS {
            continue;
        }
        left_out.insert(number);
        let id = module.index.functions.get(number).map(|function| function.id);
        let name = id.and_then(|id| module.places.expressions.names.name(module.index, id));
        let name = name.map_or_else(|| "a function".to_owned(), |name| format!("`{name}`"));
        module.planted.warnings.push(format!(
            "races in {name} are not checked: its {own} accesses to shared memory are {records} once calls are inlined, which drivers take \
             too long to compile"
        ));
    }
    left_out
}
