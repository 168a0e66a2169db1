//! May a loop wait for another invocation, which may have aborted?
//!
//! ```text
//! while (atomicLoad(flag) == 0) {}        waits: the exit depends on what another invocation stores
//! for (i = 0; i < words[0]; i++) ..       does not: a plain read need not see what others store
//! for (i = 0; i < 8; i++) atomicAdd(..)   does not: the exit depends on the counter alone
//! ```
//!
//! Waiting loops, and loops without an exit, poll the arena's ABORTED word at the top of every iteration, so that the device
//! is lost in finite time. Other loops end by themselves and stay as they are.
//!
//! Only conditions that decide whether the loop is left count, with all that their values are computed from and those that select
//! between these values. Shared reads are:
//!
//! - atomic and volatile ones,
//! - coherent ones of memory that the module writes,
//! - in a loop with a barrier, or with an acquire under the Vulkan memory model, plain ones of memory that the module writes,
//! - those that a callee returns or stores in private variables.
//!
//! `memory` and `written` classify reads, `provenance` follows values back on the view, `shared_reads` summarizes functions, and
//! `results` propagates these summaries to callers.

mod memory;
mod provenance;
mod results;
mod shared_reads;
#[cfg(test)]
mod tests;
mod written;

use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex, Table};
use crate::analysis::loop_nest::Loop;
use crate::analysis::view::{ControlDependence, ModuleView};
use crate::spv::{Id, Inst, op};
use provenance::Scope;
use rustc_hash::FxHashMap as HashMap;
use shared_reads::SharedReads;
use std::cell::OnceCell;

/// Marks every loop header.
pub(crate) fn all_headers(index: &Index<'_>) -> Table<BlockIndex, bool> {
    let is_header = |b| index.blocks.get(b).is_some_and(|b| index.loop_merge(b).is_some());
    index.blocks.map(is_header)
}

/// Whether loops may wait, by the labels of their headers.
pub(crate) type WaitingLoops = HashMap<Id, bool>;

/// Marks the headers of loops that may wait. Loops in `examined` keep their result: a pass may have moved parts of them
/// into functions since, and the result of such a function depends on everything that it does.
pub(crate) fn waiting_headers(
    index: &Index<'_>,
    graph: &CallGraph,
    examined: &WaitingLoops,
) -> Table<BlockIndex, bool> {
    let mut marks = index.blocks.map(|_| false);
    let (view, shared) = (OnceCell::new(), OnceCell::new());
    let view = || view.get_or_init(|| ModuleView::new(index));
    let shared = || shared.get_or_init(|| SharedReads::new(index, graph, view)).as_ref();
    for (number, function) in index.functions.iter() {
        for header in function.blocks.iter() {
            let found = index.blocks.get(header).and_then(|b| Some((b, index.loop_merge(b)?)));
            let Some((block, (merge, target))) = found else {
                continue;
            };
            let waits = || {
                let l = Loop::new(index, function, header, merge, target);
                !has_exit(index, &l, merge)
                    || shared().is_some_and(|shared| may_read(index, shared, &l) && waits(view(), shared, number, &l))
            };
            if examined.get(&block.label).copied().unwrap_or_else(waits) {
                marks.set(header);
            }
        }
    }
    marks
}

fn has_exit(index: &Index<'_>, l: &Loop, merge: Id) -> bool {
    let mut blocks = l.blocks.iter().filter_map(|number| index.blocks.get(*number));
    blocks.any(|block| {
        index.successors(block).contains(&merge)
            || matches!(
                index.terminator(block).opcode(),
                op::Return | op::ReturnValue | op::Kill | op::AbortKHR | op::TerminateInvocation
            )
    })
}

/// The instructions of a loop.
fn insts<'i, 'w>(index: &'i Index<'w>, l: &'i Loop) -> impl Iterator<Item = Inst<'w>> + 'i {
    let blocks = l.blocks.iter().filter_map(|number| index.blocks.get(*number));
    blocks.flat_map(|block| index.body(block))
}

/// Whether a loop has anything of which other invocations may be the source.
fn may_read(index: &Index<'_>, shared: &SharedReads<'_, '_>, l: &Loop) -> bool {
    insts(index, l).any(|inst| {
        shared.has_unknown(&inst)
            || shared.reads_itself(&inst)
            || shared.loads(&inst)
            || shared.calls_reader(&inst)
            || shared.calls_storer(&inst)
    })
}

/// Whether it depends on memory that other invocations write whether a loop is left. A loop in a function without a view may wait.
fn waits(view: &ModuleView<'_, '_>, shared: &SharedReads<'_, '_>, number: FunctionIndex, l: &Loop) -> bool {
    let Some(own) = view.function(number) else {
        return true;
    };
    // An unknown instruction may read shared memory and store to any variable.
    if insts(view.index, l).any(|inst| shared.has_unknown(&inst)) {
        return true;
    }
    let synchronizes = insts(view.index, l).any(|inst| shared.synchronizes(&inst));
    let scope = Scope::new(
        own,
        &shared.memory,
        ControlDependence::new(own, &l.blocks, Some(l.header)),
    );
    let found = scope.of_values(scope.control.deciding_exit(own), &|inst| {
        shared.reads_itself(inst) || synchronizes && shared.loads(inst)
    });
    found.reads
        || found.callees.iter().any(|callee| shared.is_reader(*callee))
        || found
            .variables
            .iter()
            .any(|variable| shared.is_stored_to_outside(*variable, number))
}
