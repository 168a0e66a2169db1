//! The variables at an abort, nearest first: those of the function, its parameters, named values, and push constants
//! and inputs that it has read.

use super::candidate::{Candidate, Point, Source};
use super::condition::left_loop;
use super::names::NamedVariables;
use super::stores::{Memories, Parameters};
use super::undefined::UndefinedParts;
use std::cmp::Reverse;
use std::collections::HashSet;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::view::{FunctionView, ModuleView};
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::op::{built_in, decoration, storage_class};
use vkabort_spirv::{Id, op};

/// Variables of an abort that are named; the report counts the others.
const NAMED_VARIABLES: usize = 64;
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

/// The variables of a function.
pub(super) struct Variables {
    memories: Memories,
    named: NamedVariables,
    /// Loads of push constants and inputs, by offset.
    inputs: Vec<(usize, Id)>,
}

impl Variables {
    /// O(words of the function).
    pub(super) fn new(
        view: &ModuleView<'_, '_>,
        flow: &FunctionView<'_, '_>,
        names: &Expressions<'_, '_>,
        parameters: &mut Parameters,
        texts: &mut Texts,
    ) -> Self {
        let undefined = UndefinedParts::new(flow);
        let memories = Memories::new(view, flow, parameters, &undefined);
        let mut inputs = Vec::new();
        for block in flow.index.blocks_of(flow.function) {
            let loads = flow.index.body(block).filter(|inst| inst.opcode() == op::Load);
            inputs.extend(
                loads
                    .filter(|load| is_input(flow, load.pointer()))
                    .map(|load| (load.offset, load.result())),
            );
        }
        Self {
            named: NamedVariables::new(flow, names, &memories, undefined, texts),
            memories,
            inputs,
        }
    }

    /// The variables at the abort that ends a block, nearest first, each name once; and how many there are beyond
    /// [`NAMED_VARIABLES`]. The variables of a planted check are those that `operation` has seen.
    pub(super) fn at(
        &self,
        flow: &FunctionView<'_, '_>,
        names: &Expressions<'_, '_>,
        position: &Position<'_>,
        block: BlockIndex,
        operation: Option<(BlockIndex, usize)>,
    ) -> (Vec<Candidate>, usize) {
        let Some(end) = flow.index.blocks.get(block).map(|block| block.terminator) else {
            return (Vec::new(), 0);
        };
        let point = Point {
            flow,
            names,
            position,
            block,
            offset: end,
            operation: operation.map(|(at, offset)| (at, offset, left_loop(flow, at, block))),
        };
        let mut found = self.named.at(&point, &self.memories);
        found.sort_by_key(|candidate| Reverse(candidate.offset));
        let is_read = |(offset, id): &&(usize, Id)| flow.reaches(*id, block) && point.saw_value(*offset);
        let mut inputs = self.inputs.iter().filter(is_read).collect::<Vec<_>>();
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
        let more = found.len().saturating_sub(NAMED_VARIABLES);
        found.truncate(NAMED_VARIABLES);
        (found, more)
    }
}

/// Whether a pointer is into push constants or an input that does not identify the invocation.
fn is_input(flow: &FunctionView<'_, '_>, pointer: Id) -> bool {
    let index = flow.index;
    match index.storage_class(index.type_of(pointer)) {
        Some(storage_class::PushConstant) => true,
        Some(storage_class::Input) => {
            // Each base is defined before its chain.
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
