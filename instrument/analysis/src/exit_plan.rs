//! Plans the exits of each function, and the calls behind which callers test the abort flag.

use crate::callgraph::CallGraph;
use crate::waiting_loops::{self, WaitingLoops};
use rustc_hash::FxHashSet as HashSet;
use vkabort_options::{LoopPoll, Options};
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, CallIndex, FunctionIndex, Table};
use vkabort_spirv::index::{Function, Index};

/// A block that ends by leaving its function because of an abort. The flag is set there.
#[derive(Clone, Copy, Debug)]
pub struct ExitBlock {
    pub label: Id,
    pub kind: ExitKind,
}

/// Exits of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// At the abort.
    Abort,
    /// In a selection that only tests the flag.
    Test,
}

/// How invocations leave the functions of a module in its current form.
#[derive(Debug)]
pub struct ExitPlan {
    pub graph: CallGraph,
    /// Functions that an invocation may leave early, after which callers test the flag: an abort, a polling loop or a call of
    /// such a function is in them.
    unwinds: Table<FunctionIndex, bool>,
    /// Headers of loops that poll for aborts of other invocations.
    polled: Table<BlockIndex, bool>,
    /// Whether any loop polls.
    polls: bool,
}

impl ExitPlan {
    pub fn new(index: &Index<'_>, options: &Options, waiting_loops: &WaitingLoops) -> Self {
        let graph = CallGraph::new(index);
        let polled = match options.loop_poll {
            LoopPoll::Off => index.blocks.map(|_| false),
            LoopPoll::All => waiting_loops::all_headers(index),
            LoopPoll::Auto => waiting_loops::waiting_headers(index, waiting_loops),
        };
        let polls = polled.values().contains(&true);
        // An abort or a polling loop is in the function itself.
        let aborts = index.functions.map(|f| {
            let function = index.functions.get(f);
            let mut blocks = function.into_iter().flat_map(|function| function.blocks.iter());
            blocks.any(|b| polled.is_set(b) || index.ends_in_abort(b))
        });
        let unwinds = graph.callers_closure(|f| aborts.is_set(f), |_| true);
        Self {
            graph,
            unwinds,
            polled,
            polls,
        }
    }

    /// Whether callers of a function test the flag.
    pub(crate) fn unwinds(&self, function: FunctionIndex) -> bool {
        self.unwinds.is_set(function)
    }

    /// Whether the flag is tested after a call.
    pub(crate) fn checks(&self, call: CallIndex) -> bool {
        self.graph.callee(call).is_some_and(|callee| self.unwinds(callee))
    }

    /// Whether a block is the header of a loop that polls for aborts of other invocations.
    pub fn polled(&self, block: BlockIndex) -> bool {
        self.polled.is_set(block)
    }

    /// Whether any loop polls for aborts of other invocations.
    pub fn polls(&self) -> bool {
        self.polls
    }

    /// Labels of the headers of loops that poll.
    pub fn polled_headers(&self, index: &Index<'_>) -> HashSet<Id> {
        if !self.polls {
            return HashSet::default();
        }
        let headers = index.blocks.iter().filter(|(number, _)| self.polled(*number));
        headers.map(|(_, block)| block.label).collect()
    }

    /// Whether an invocation may have to leave in the middle of a block: by an abort, after a call, or by polling.
    pub fn may_abort(&self, index: &Index<'_>, function: FunctionIndex, block: BlockIndex) -> bool {
        self.polled(block) || index.ends_in_abort(block) || !self.checked_calls(index, function, block).is_empty()
    }

    /// The loops of the module and whether they poll, for plans of later forms of the module.
    pub fn waiting_loops(&self, index: &Index<'_>) -> WaitingLoops {
        let headers = index.blocks.iter().filter(|(_, b)| index.loop_merge(b).is_some());
        headers.map(|(number, b)| (b.label, self.polled(number))).collect()
    }

    /// Calls in a block after which the flag is tested, in order.
    pub fn checked_calls(&self, index: &Index<'_>, function: FunctionIndex, block: BlockIndex) -> Vec<CallIndex> {
        let calls = self.graph.calls_in(function);
        // Calls are in module order, and so by block.
        let before = index.calls.run(calls).partition_point(|call| call.block < block);
        let is_in_block = |call: &CallIndex| index.calls.get(*call).is_some_and(|call| call.block == block);
        let of_block = calls.skip(before).iter().take_while(is_in_block);
        of_block.filter(|call| self.checks(*call)).collect()
    }

    /// Whether a function has a loop that polls for aborts of other invocations.
    pub fn has_polled_loop(&self, function: &Function) -> bool {
        function.blocks.iter().any(|block| self.polled(block))
    }

    /// Functions that an invocation may leave early, with their indices.
    pub fn functions_with_exits<'i>(
        &'i self,
        index: &'i Index<'_>,
    ) -> impl Iterator<Item = (FunctionIndex, &'i Function)> {
        index.functions.iter().filter(|(function, _)| self.unwinds(*function))
    }
}
