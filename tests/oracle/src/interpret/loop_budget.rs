//! The check of loops, as the original module would make it.

use super::memory::Region;
use std::collections::HashMap;

/// Ends invocations that use up a budget of loop iterations.
#[derive(Clone, Debug, Default)]
pub struct LoopBudget {
    /// Iterations of an invocation, over all loops that have a site.
    pub iterations: u32,
    /// Sites by the word offset of their `OpLoopMerge`, or of the abort that the module has itself.
    pub sites: HashMap<usize, u32>,
    /// Messages by site.
    pub messages: HashMap<u32, Region>,
}
