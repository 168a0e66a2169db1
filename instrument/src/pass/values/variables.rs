//! The variables at an abort, nearest first: those of the function, its parameters, named values, and what it has read of push
//! constants and inputs.

use super::debug_values::DebugVariables;
use super::function::FunctionFlow;
use super::stores::{Memories, Stored};
use crate::analysis::expressions::Expressions;
use crate::analysis::index::debug::Position;
use crate::analysis::index::typed::Node;
use crate::spv::op::{built_in, decoration, storage_class};
use crate::spv::{Id, op};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Most variables of an abort that are considered.
const MAX_VARIABLES: usize = 64;
/// Built-ins that identify the invocation, which every report has.
const IDENTITY: [u32; 8] = [
    built_in::GlobalInvocationId,
    built_in::LocalInvocationId,
    built_in::LocalInvocationIndex,
    built_in::VertexIndex,
    built_in::InstanceIndex,
    built_in::PrimitiveId,
    built_in::InvocationId,
    built_in::LaunchIdKHR,
];

/// A variable that has a value, or whose value the compiler has removed.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) source: Source,
    /// Word offset from which on it has the value.
    offset: usize,
}

/// Where the value of a variable is.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Value(Id),
    /// The part at `path` of a variable of this type.
    Memory {
        variable: Id,
        ty: Id,
        path: Vec<u32>,
    },
    Lost,
}

/// The variables of a function.
pub(super) struct Variables {
    memories: Memories,
    debug: DebugVariables,
    /// Values with a name of their own, by offset.
    named: Vec<(usize, Id, String)>,
    /// Loads of push constants and inputs, by offset.
    inputs: Vec<(usize, Id)>,
}

impl Variables {
    /// O(words of the function).
    pub(super) fn new(flow: &FunctionFlow<'_, '_>, names: &Expressions<'_, '_>) -> Self {
        let (index, function) = (flow.index, flow.function);
        let (mut named, mut inputs) = (Vec::new(), Vec::new());
        let first = index
            .blocks_of(function)
            .first()
            .map_or(function.offset, |block| block.offset);
        for inst in index.insts(first, function.end) {
            let id = inst.result();
            if inst.opcode() == op::Variable || !id.is_some() || index.storage_class(inst.result_type()).is_some() {
                continue;
            }
            if inst.opcode() == op::Load && is_input(flow, inst.pointer()) {
                inputs.push((inst.offset, id));
            } else if let Some(name) = names.variable(id) {
                named.push((inst.offset, id, name));
            }
        }
        let parameters = index.insts(function.offset, first);
        for parameter in parameters.filter(|inst| inst.opcode() == op::FunctionParameter) {
            let is_value = index.storage_class(parameter.result_type()).is_none();
            if let Some(name) = names.variable(parameter.result()).filter(|_| is_value) {
                named.push((parameter.offset, parameter.result(), name));
            }
        }
        Self {
            memories: Memories::new(flow),
            debug: DebugVariables::new(flow),
            named,
            inputs,
        }
    }

    /// The variables at the end of the block `node`, nearest first, each name once.
    pub(super) fn at(
        &self,
        flow: &FunctionFlow<'_, '_>,
        names: &Expressions<'_, '_>,
        position: &Position<'_>,
        node: Node,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for memory in &self.memories.all {
            let declared = self.debug.declared(memory.id);
            if declared.is_some_and(|variable| !variable.is_in_scope(flow.index, position)) {
                continue;
            }
            let name = names.variable(memory.id);
            // A made-up name in front of a declared one: a copy for debuggers, which may be stale.
            let Some(name) = name.or_else(|| {
                let has_name = names.names.name(flow.index, memory.id).is_some();
                declared.filter(|_| !has_name).map(|variable| variable.name.clone())
            }) else {
                continue;
            };
            if declared.is_none() && !self.debug.is_name_in_scope(flow.index, position, &name) {
                continue;
            }
            let stored = memory.stored(flow, node);
            add_memory(flow, names, &name, (memory.id, memory.ty), &stored, &mut found);
        }
        // Reports list the specialisation constants of every pipeline.
        let is_specialized = |id: Id| matches!(flow.index.opcode(id), op::SpecConstantTrue..=op::SpecConstantOp);
        for value in self.debug.at(flow, position, node) {
            if value.value.is_some_and(is_specialized) {
                continue;
            }
            found.push(Candidate {
                name: value.name,
                source: value.value.map_or(Source::Lost, Source::Value),
                offset: value.offset,
            });
        }
        for (offset, id, name) in &self.named {
            if flow.reaches(*id, node) && self.debug.is_name_in_scope(flow.index, position, name) {
                found.push(Candidate {
                    name: name.clone(),
                    source: Source::Value(*id),
                    offset: *offset,
                });
            }
        }
        found.sort_by_key(|candidate| Reverse(candidate.offset));
        let mut inputs = self
            .inputs
            .iter()
            .filter(|(_, id)| flow.reaches(*id, node))
            .collect::<Vec<_>>();
        inputs.sort_by_key(|(offset, _)| Reverse(*offset));
        found.extend(inputs.into_iter().filter_map(|(offset, id)| {
            Some(Candidate {
                name: names.value(*id)?.text,
                source: Source::Value(*id),
                offset: *offset,
            })
        }));
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.name.clone()));
        // Parts of a variable that is there as a whole.
        found.retain(|candidate| {
            let whole = candidate.name.split(['.', '[']).next();
            whole.is_none_or(|whole| whole == candidate.name || !seen.contains(whole))
        });
        found.truncate(MAX_VARIABLES);
        found
    }
}

/// Adds a variable, or those of its members that have values.
fn add_memory(
    flow: &FunctionFlow<'_, '_>,
    names: &Expressions<'_, '_>,
    name: &str,
    (variable, ty): (Id, Id),
    stored: &Stored,
    found: &mut Vec<Candidate>,
) {
    let index = flow.index;
    let candidate = |name: String, path: Vec<u32>| Candidate {
        name,
        source: Source::Memory { variable, ty, path },
        offset: stored.offset,
    };
    if stored.covers(index, ty, &[]) {
        found.push(candidate(name.to_owned(), Vec::new()));
        return;
    }
    let Some(structure) = index.def(ty).filter(|inst| inst.opcode() == op::TypeStruct) else {
        return;
    };
    for (number, member) in (0..).zip(structure.ids(2)) {
        let path = vec![number];
        if stored.covers(index, member, &path)
            && let Some(of_member) = names.names.member(index, ty, number)
        {
            found.push(candidate(format!("{name}.{of_member}"), path));
        }
    }
}

/// Whether a pointer is into push constants or an input that does not identify the invocation.
fn is_input(flow: &FunctionFlow<'_, '_>, pointer: Id) -> bool {
    let index = flow.index;
    match index.storage_class(index.type_of(pointer)) {
        Some(storage_class::PushConstant) => true,
        Some(storage_class::Input) => {
            let root = std::iter::successors(Some(pointer), |id| {
                let inst = index.def(*id)?;
                let base = matches!(inst.opcode(), op::AccessChain | op::InBoundsAccessChain).then(|| inst.id(3))?;
                index
                    .def(base)
                    .filter(|base| base.offset < inst.offset)
                    .map(|base| base.result())
            });
            let built_in = root.last().and_then(|root| index.decoration(root, decoration::BuiltIn));
            built_in.is_none_or(|built_in| !IDENTITY.contains(&built_in))
        }
        _ => false,
    }
}
