//! How invocations leave each function, and where callers have to look whether one has aborted.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::function::Function;
use crate::analysis::loops;
use crate::analysis::waiting_loops::{self, WaitingLoops};
use crate::options::{LoopPoll, Options};
use crate::spv::op;
use crate::spv::op::{capability, execution_model as model};

/// How an aborted invocation leaves a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It returns, and the caller has to look at the flag.
    Return,
    /// It ends in place: every entry point that reaches the function is a fragment shader.
    Kill,
    /// It ends in place: every entry point that reaches the function is an any-hit shader of `SPV_KHR_ray_tracing`.
    TerminateRay,
    /// It ends the entry point of task shaders, which must say how many mesh workgroups follow: none.
    EmitNoTasks,
}

/// Decisions for a module as it stands.
#[derive(Debug)]
pub(crate) struct ExitPlan {
    pub(crate) graph: CallGraph,
    /// By function.
    exits: Vec<Exit>,
    /// Functions whose callers must look at the flag.
    unwinds: Vec<bool>,
    /// By function: something in it has to change on account of aborts.
    touched: Vec<bool>,
    /// By block: a loop header whose loop watches for aborts of other invocations.
    polled: Vec<bool>,
}

impl ExitPlan {
    pub(crate) fn new(index: &Index<'_>, options: &Options, waiting_loops: &WaitingLoops) -> Self {
        let graph = CallGraph::new(index);
        // Any-hit shaders of `SPV_NV_ray_tracing` have the same execution model, and no such terminator.
        let ends_rays =
            index.has_capability(capability::RayTracingKHR) || !index.has_capability(capability::RayTracingNV);
        let mut entries = vec![false; index.functions.len()];
        for entry in &index.entry_points {
            if let Some(is_entry) = index.function_of(entry.function).and_then(|f| entries.get_mut(f)) {
                *is_entry = true;
            }
        }
        let exits: Vec<Exit> = graph
            .reach
            .iter()
            .zip(&entries)
            .map(|(reach, is_entry)| match reach.models.as_slice() {
                [model::Fragment] => Exit::Kill,
                [model::AnyHitKHR] if ends_rays => Exit::TerminateRay,
                [model::TaskEXT] if *is_entry => Exit::EmitNoTasks,
                _ => Exit::Return,
            })
            .collect();
        let polled = match options.loop_poll {
            LoopPoll::Off => vec![false; index.blocks.len()],
            LoopPoll::All => waiting_loops::all_headers(index),
            LoopPoll::Auto => waiting_loops::waiting_headers(index, &graph, waiting_loops),
        };
        // By function: an invocation may leave in it on its own account.
        let aborts: Vec<bool> = index
            .functions
            .iter()
            .map(|function| {
                let polls = function.blocks.clone().any(|b| polled.get(b) == Some(&true));
                let mut blocks = index.blocks_of(function).iter();
                polls || blocks.any(|b| index.terminator(b).opcode() == op::AbortKHR)
            })
            .collect();
        let aborting = |f: usize| aborts.get(f) == Some(&true);
        let returns = |f: usize| exits.get(f) == Some(&Exit::Return) && entries.get(f) == Some(&false);
        let unwinds = graph.callers_closure(|f| returns(f) && aborting(f), returns);
        let checks = |call| graph.callee(call).is_some_and(|f| unwinds.get(f) == Some(&true));
        let touched = (0..aborts.len())
            .map(|f| aborting(f) || graph.calls_in(f).any(checks))
            .collect();
        Self {
            graph,
            exits,
            unwinds,
            touched,
            polled,
        }
    }

    pub(crate) fn exit(&self, function: usize) -> Exit {
        self.exits.get(function).copied().unwrap_or(Exit::Return)
    }

    /// Whether callers of a function must look at the flag.
    pub(crate) fn unwinds(&self, function: usize) -> bool {
        self.unwinds.get(function) == Some(&true)
    }

    /// Whether the caller must look at the flag after a call.
    pub(crate) fn checked(&self, call: usize) -> bool {
        self.graph.callee(call).is_some_and(|callee| self.unwinds(callee))
    }

    /// Whether a block is the header of a loop that watches for aborts of other invocations.
    pub(crate) fn polled(&self, block: usize) -> bool {
        self.polled.get(block) == Some(&true)
    }

    /// What was found out about the loops of this module, for plans of what passes make of it.
    pub(crate) fn waiting_loops(&self, index: &Index<'_>) -> WaitingLoops {
        let headers = index.blocks.iter().zip(&self.polled);
        headers
            .filter(|(block, _)| loops::loop_merge(index, block).is_some())
            .map(|(block, polled)| (block.label, *polled))
            .collect()
    }

    /// Calls in a block after which the flag must be looked at, in order, as indices into [`Index::calls`].
    pub(crate) fn checked_calls(&self, index: &Index<'_>, function: usize, block: usize) -> Vec<usize> {
        let calls = self.graph.calls_in(function);
        let of_function = index.calls.get(calls.clone()).unwrap_or(&[]);
        // Calls are in module order, and so by block.
        let before = of_function.partition_point(|call| call.block < block);
        let of_block = of_function.iter().skip(before).take_while(|call| call.block == block);
        (calls.start + before..)
            .zip(of_block)
            .filter_map(|(number, _)| self.checked(number).then_some(number))
            .collect()
    }

    /// Functions in which something has to change on account of aborts, with their numbers.
    pub(crate) fn touched<'i>(&'i self, index: &'i Index<'_>) -> impl Iterator<Item = (usize, &'i Function)> {
        let functions = index.functions.iter().enumerate();
        functions.filter(|(number, _)| self.touched.get(*number) == Some(&true))
    }
}
