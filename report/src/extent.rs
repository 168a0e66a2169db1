//! The region of the invocations that failed at one place.

use crate::data::Extent;
use vkabort_record::invocation::Invocation;
use vkabort_record::records::Record;

/// Bounds of the ids of several invocations of one stage, if the stage has ids in three dimensions or pixels.
pub(super) fn extent(records: &[&Record]) -> Option<Extent> {
    let id = |record: &&Record| match record.invocation() {
        Invocation::Global { global, .. } => Some(global),
        Invocation::Launch { id } => Some(id),
        Invocation::Fragment { pixel: [x, y] } => Some([x, y, 0]),
        _ => None,
    };
    let (first, others) = records.split_first()?;
    if others.is_empty() || others.iter().any(|r| r.execution_model != first.execution_model) {
        return None;
    }
    let min = id(first)?;
    others
        .iter()
        .try_fold(Extent { min, max: min }, |Extent { min, max }, record| {
            let id = id(record)?;
            let corner = |corner: [u32; 3], pick: fn(u32, u32) -> u32| [0, 1, 2].map(|at| pick(corner[at], id[at]));
            Some(Extent {
                min: corner(min, u32::min),
                max: corner(max, u32::max),
            })
        })
}
