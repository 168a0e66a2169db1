//! A variable at an abort, and the source of its value.

use super::stores::{HeldDefinitions, Memories, Memory};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::loop_nest::Loop;
use vkabort_analysis::view::FunctionView;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, op};

/// A variable that has a value, or whose value the compiler has removed.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) source: Source,
    /// Word offset from which on it has the value.
    pub(super) offset: usize,
}

/// Source of the value of a variable.
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

/// An abort, and the operation that its planted check is of.
pub(super) struct Point<'p, 'a, 'w> {
    pub(super) flow: &'p FunctionView<'a, 'w>,
    pub(super) names: &'p Expressions<'a, 'w>,
    pub(super) position: &'p Position<'w>,
    pub(super) block: BlockIndex,
    pub(super) offset: usize,
    /// Block and word offset of the operation, and the loop that has it but not the abort.
    pub(super) operation: Option<(BlockIndex, usize, Option<&'p Loop>)>,
}

impl Point<'_, '_, '_> {
    /// Whether the operation has seen the contents of memory at the abort.
    pub(super) fn saw_memory(&self, memory: &Memory, path: &[u32], held: &HeldDefinitions) -> bool {
        self.operation.is_none_or(|(block, offset, left)| {
            let is_outside = |block: BlockIndex| left.is_none_or(|left| !left.blocks.contains(&block));
            memory.definitions_before(self.flow, path, block, offset) == *held && held.blocks(self.flow).all(is_outside)
        })
    }

    /// Whether the operation has seen the value that the instruction at a word offset computes.
    pub(super) fn saw_value(&self, defined: usize) -> bool {
        self.operation.is_none_or(|(block, offset, left)| {
            let Some(at) = self.flow.block_at(defined) else {
                return true;
            };
            let is_before = if at == block {
                defined < offset
            } else {
                self.flow.graph.dominates(at, block)
            };
            is_before && left.is_none_or(|left| !left.blocks.contains(&at))
        })
    }
}

/// The candidates of a variable in memory: all of it, or those of its members that have values.
pub(super) fn of_memory(point: &Point<'_, '_, '_>, memories: &Memories, name: &str, memory: &Memory) -> Vec<Candidate> {
    let (flow, index) = (point.flow, point.flow.index);
    let candidate = |name: String, path: Vec<u32>, held: &HeldDefinitions| Candidate {
        name,
        source: Source::Memory {
            variable: memory.id,
            ty: memory.ty,
            path,
        },
        offset: held.offset(flow),
    };
    let value = |path: &[u32]| {
        let held = memory.definitions_before(flow, path, point.block, point.offset);
        (memory.has_value(memories, &held) && point.saw_memory(memory, path, &held)).then_some(held)
    };
    if let Some(held) = value(&[]) {
        return vec![candidate(name.to_owned(), Vec::new(), &held)];
    }
    let structure = index.def(memory.ty).filter(|inst| inst.opcode() == op::TypeStruct);
    let members = structure.into_iter().flat_map(|structure| (0..).zip(structure.ids(2)));
    let of_members = members.filter_map(|(number, _)| {
        let path = vec![number];
        let held = value(&path)?;
        let of_member = point.names.names.member(index, memory.ty, number)?;
        Some(candidate(format!("{name}.{of_member}"), path, &held))
    });
    of_members.collect()
}
