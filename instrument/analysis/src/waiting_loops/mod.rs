//! Finds the loops that may wait for another invocation, which may have aborted.
//!
//! ```text
//! while (atomicLoad(flag) == 0) {}        waits: the exit depends on a store of another invocation
//! for (i = 0; i < words[0]; i++) ..       does not: a plain read need not see stores of others
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
//! `pointers`, `written` and `memory` classify reads, `shared_reads` has them by function, `provenance` follows values back on the view,
//! and `results` summarizes functions, callees first.
//!
//! The decisions and their reasons: `docs/design/waiting-loops.md`.

mod memory;
mod pointers;
mod provenance;
mod results;
mod scope;
mod shared_reads;
#[cfg(test)]
mod tests;
mod written;

use crate::loop_nest::Loop;
use crate::view::ControlDependence;
use rustc_hash::FxHashMap as HashMap;
use scope::Scope;
use shared_reads::{Kind, SharedReads};
use std::cell::OnceCell;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, Table};
use vkabort_spirv::{Id, op};

/// Marks every loop header.
pub(crate) fn all_headers(index: &Index<'_>) -> Table<BlockIndex, bool> {
    let is_header = |b| index.blocks.get(b).is_some_and(|b| index.loop_merge(b).is_some());
    index.blocks.map(is_header)
}

/// Whether loops may wait, by the labels of their headers.
pub type WaitingLoops = HashMap<Id, bool>;

/// Marks the headers of loops that may wait. Loops in `examined` keep their result: a pass may have moved parts of them
/// into functions since, and the result of such a function depends on everything that it does.
pub(crate) fn waiting_headers(index: &Index<'_>, examined: &WaitingLoops) -> Table<BlockIndex, bool> {
    let mut marks = index.blocks.map(|_| false);
    let shared = OnceCell::new();
    let shared = || shared.get_or_init(|| results::summarize(index)).as_ref();
    for (number, function) in index.functions.iter() {
        for header in function.blocks.iter() {
            let found = index.blocks.get(header).and_then(|b| Some((b, index.loop_merge(b)?)));
            let Some((block, (merge, target))) = found else {
                continue;
            };
            let waits = || {
                let l = Loop::new(index, function, header, merge, target);
                !has_exit(index, &l, merge) || shared().is_some_and(|shared| waits(shared, number, &l))
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

/// Whether it depends on memory that other invocations write whether a loop is left. A loop in a function without a view may wait.
fn waits(shared: &SharedReads<'_, '_>, number: FunctionIndex, l: &Loop) -> bool {
    let index = shared.view.index;
    let has = |kind| {
        let mut blocks = l.blocks.iter().filter_map(|number| index.blocks.get(*number));
        blocks.any(|block| index.body(block).any(|inst| shared.has(kind, &inst)))
    };
    // An unknown instruction may read shared memory and store to any variable.
    if has(Kind::Unknown) {
        return true;
    }
    let synchronizes = has(Kind::Barrier) && has(Kind::PlainLoad);
    if !synchronizes && !has(Kind::Read) {
        return false;
    }
    let Some(own) = shared.view.function(number) else {
        return true;
    };
    let control = ControlDependence::new(own, &l.blocks, Some(l.header));
    Scope::new(own, shared, control, synchronizes).leaves_by_shared()
}
