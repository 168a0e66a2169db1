//! What counts for the barriers that are checked.

use crate::edit::emitter::Emitter;
use crate::spv::{Id, op};
use rustc_hash::FxHashMap as HashMap;

/// The barriers of a module that are checked.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    /// By word offset.
    pub(super) counters: HashMap<usize, Counter>,
    /// The word with the number of invocations that ended, and the function that adds one.
    pub(super) ended: Option<(u32, Id)>,
}

/// What counts for a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// The word with the number of arrivals.
    pub(super) arrivals: u32,
    /// The private variable with the executions of the invocation.
    pub(super) executions: Id,
}

impl Barriers {
    /// Counts an invocation that ends.
    pub(super) fn write_end(&self, out: &mut Emitter) {
        if let Some((_, end)) = self.ended {
            let void = out.void();
            out.emit(op::FunctionCall, void, end);
        }
    }
}
