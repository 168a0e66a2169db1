//! A row of the table of goals.

use crate::comparison::{NOT_MEASURED, Pair};
use crate::parts::Part;
use std::collections::BTreeMap;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;

/// Measurements by part.
pub type ByPart = BTreeMap<Part, Vec<Measurement>>;

/// A row of the table of goals: the subject, its baseline, the goal, the result; and whether the shaders were executed or only
/// compiled.
pub type Row = ([String; 4], &'static str);

pub(super) fn of(parts: &ByPart, part: Part) -> &[Measurement] {
    parts.get(&part).map_or(&[], Vec::as_slice)
}

pub(super) fn executed(measured: &str, against: &str, goal: &str, result: String) -> Row {
    ([measured, against, goal, &result].map(str::to_owned), "executed")
}

pub(super) fn compiled(measured: &str, against: &str, goal: &str, result: String) -> Row {
    ([measured, against, goal, &result].map(str::to_owned), "only compiled")
}

pub(super) fn times(pair: &Pair<'_>) -> String {
    format!("{}x", number(pair.ratio()))
}

/// How many pairs are worse, and which.
pub(super) fn worse(all: &[Pair<'_>], is_worse: fn(f64, f64) -> bool) -> String {
    let found: Vec<String> = all
        .iter()
        .filter(|pair| is_worse(pair.value, pair.baseline))
        .map(|pair| format!("{} ({} to {})", pair.name(), number(pair.baseline), number(pair.value)))
        .collect();
    match (all.len(), found.len()) {
        (0, _) => NOT_MEASURED.to_owned(),
        (all, 0) => format!("0 of {all} pairs"),
        (all, worse) => format!("{worse} of {all} pairs: {}", found.join("; ")),
    }
}
