//! Summaries of functions: the memory that a call may read and write, and whether it may end the invocation. Computed once, callees
//! before callers.

use super::access::{AccessKind, ObjectClass};
use super::accesses::FunctionAccesses;
use crate::callgraph::CallGraph;
use std::collections::BTreeSet;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, ObjectIndex, Table};
use vkabort_spirv::{Id, op};

/// Memory that a function and its callees may read and write, and whether they may end the invocation.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Variables of the module that it may read and write.
    pub(crate) reads: BTreeSet<Id>,
    pub(crate) writes: BTreeSet<Id>,
    /// Positions of the pointer parameters that it may read and write through.
    pub(crate) reads_parameters: BTreeSet<usize>,
    pub writes_parameters: BTreeSet<usize>,
    /// The invocation may end in it, or become a helper invocation.
    pub(crate) may_leave: bool,
    /// It has a barrier.
    pub(crate) synchronizes: bool,
    /// It is part of a recursion, which Vulkan forbids: nothing is known.
    pub is_unknown: bool,
    /// A pointer parameter may alias another one, or a variable of the function.
    pub(crate) has_aliases: bool,
}

/// Whether an instruction ends the invocation, or makes a helper of it.
pub(super) fn leaves(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Kill
            | op::TerminateInvocation
            | op::DemoteToHelperInvocation
            | op::AbortKHR
            | op::IgnoreIntersectionKHR
            | op::TerminateRayKHR
            | op::EmitMeshTasksEXT
    )
}

/// Whether an instruction makes earlier writes visible to other invocations.
pub(super) fn publishes(opcode: u16) -> bool {
    matches!(opcode, op::ControlBarrier | op::MemoryBarrier)
}

/// The summaries of all functions, in O(words of the module + functions * variables).
pub(super) fn summarize(
    index: &Index<'_>,
    graph: &CallGraph,
    accesses: &Table<FunctionIndex, FunctionAccesses>,
) -> Table<FunctionIndex, Summary> {
    let mut summaries = index.functions.map(|_| Summary::default());
    let (order, in_cycles) = graph.callees_first();
    for number in in_cycles {
        if let Some(summary) = summaries.get_mut(number) {
            summary.is_unknown = true;
        }
    }
    for number in order {
        let Some(own) = accesses.get(number) else { continue };
        let mut summary = Summary {
            reads_parameters: own.other_pointers.iter().copied().collect(),
            writes_parameters: own.other_pointers.iter().copied().collect(),
            ..Summary::default()
        };
        for access in own.accesses.values() {
            let is_call = matches!(access.kind, AccessKind::Argument(_));
            if !is_call {
                add(
                    &mut summary,
                    own,
                    access.place.object,
                    reads(access.kind),
                    writes(access.kind),
                );
            }
        }
        for (object, found) in own.objects.iter() {
            if found.is_escaped {
                add(&mut summary, own, object, true, true);
            }
        }
        let function = index.functions.get(number);
        for block in function.into_iter().flat_map(|function| index.blocks_of(function)) {
            for inst in index.insts(block.offset, block.end) {
                summary.may_leave |= leaves(inst.opcode());
                summary.synchronizes |= publishes(inst.opcode());
            }
        }
        for call in graph.calls_in(number).iter() {
            let callee = graph.callee(call).and_then(|callee| summaries.get(callee));
            match callee {
                Some(callee) if !callee.is_unknown => {
                    let callee = callee.clone();
                    summary.may_leave |= callee.may_leave;
                    summary.synchronizes |= callee.synchronizes;
                    let offset = index.calls.get(call).map_or(0, |call| call.offset);
                    for access in own.at(offset) {
                        if let AccessKind::Argument(position) = access.kind {
                            let (reads, writes) = (&callee.reads_parameters, &callee.writes_parameters);
                            let (reads, writes) = (reads.contains(&position), writes.contains(&position));
                            add(&mut summary, own, access.place.object, reads, writes);
                        }
                    }
                    summary.reads.extend(callee.reads);
                    summary.writes.extend(callee.writes);
                }
                _ => summary.is_unknown = true,
            }
        }
        if let Some(slot) = summaries.get_mut(number) {
            *slot = summary;
        }
    }
    mark_aliases(index, graph, accesses, &mut summaries);
    summaries
}

fn reads(kind: AccessKind) -> bool {
    matches!(kind, AccessKind::Load(_) | AccessKind::CopyFrom | AccessKind::Other)
}

fn writes(kind: AccessKind) -> bool {
    !matches!(kind, AccessKind::Load(_) | AccessKind::CopyFrom)
}

/// Adds an access to an object that callers know.
fn add(summary: &mut Summary, own: &FunctionAccesses, object: ObjectIndex, reads: bool, writes: bool) {
    let Some(object) = own.objects.get(object) else { return };
    match object.class {
        ObjectClass::Function | ObjectClass::Described(_) => {}
        ObjectClass::Parameter(position) => {
            if reads {
                summary.reads_parameters.insert(position);
            }
            if writes {
                summary.writes_parameters.insert(position);
            }
        }
        _ => {
            if reads {
                summary.reads.insert(object.pointer);
            }
            if writes {
                summary.writes.insert(object.pointer);
            }
        }
    }
}

/// Functions whose parameters may point to the same object, or to a variable that they access themselves.
fn mark_aliases(
    index: &Index<'_>,
    graph: &CallGraph,
    accesses: &Table<FunctionIndex, FunctionAccesses>,
    summaries: &mut Table<FunctionIndex, Summary>,
) {
    let mut aliased = Vec::new();
    for (call, of) in index.calls.keys().zip(index.calls.values()) {
        let (Some(callee), Some(own)) = (graph.callee(call), accesses.get(of.caller)) else {
            continue;
        };
        let Some(summary) = summaries.get(callee) else { continue };
        let mut seen = BTreeSet::new();
        let is_aliased = own.at(of.offset).any(|access| {
            let pointer = own.objects.get(access.place.object).map(|object| object.pointer);
            let is_own = pointer.is_some_and(|id| summary.reads.contains(&id) || summary.writes.contains(&id));
            is_own || !seen.insert(access.place.object)
        });
        if is_aliased {
            aliased.push(callee);
        }
    }
    // What it passes on may be the same object, too.
    while let Some(callee) = aliased.pop() {
        let Some(summary) = summaries.get_mut(callee).filter(|summary| !summary.has_aliases) else {
            continue;
        };
        summary.has_aliases = true;
        aliased.extend(graph.callees_in(callee));
    }
}
