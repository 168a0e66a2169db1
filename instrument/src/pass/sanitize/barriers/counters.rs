//! What counts for the barriers that are checked.

use crate::edit::emitter::Emitter;
use crate::spv::{Id, op};
use rustc_hash::FxHashMap as HashMap;

/// The barriers of a module that are checked.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    /// By word offset.
    pub(crate) counters: HashMap<usize, Counter>,
    /// The word with the number of invocations that ended, and the function that adds one.
    pub(crate) ended: Option<(u32, Id)>,
}

/// What counts for a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    /// The word with the number of arrivals.
    pub(crate) arrivals: u32,
    /// The private variable with the executions of the invocation.
    pub(crate) executions: Id,
}

impl Barriers {
    /// Counts an invocation that ends.
    pub(crate) fn write_end(&self, out: &mut Emitter) {
        if let Some((_, end)) = self.ended {
            let void = out.void();
            out.emit(op::FunctionCall, void, end);
        }
    }
}
