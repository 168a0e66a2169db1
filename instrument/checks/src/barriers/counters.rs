//! Arrival counters of the checked barriers.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::Id;

/// Counters of the checked barriers of a module, by word offset.
#[derive(Debug, Default)]
pub(crate) struct Counters(pub(super) HashMap<usize, Counter>);

impl Counters {
    /// The word offsets of the checked barriers.
    pub(crate) fn barriers(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }
}

/// Counters of one barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// The word with the number of arrivals.
    pub(super) arrivals: u32,
    /// The private variable with the executions of the invocation.
    pub(super) executions: Id,
}
