//! Reads and writes of cells by each block of a function, in order.

use super::{Event, EventKind};
use crate::graph::{BlockTable, FunctionGraph};
use crate::view::access::{Access, AccessKind, ObjectClass};
use crate::view::accesses::FunctionAccesses;
use crate::view::cells::Cells;
use crate::view::summaries::{Summary, publishes};
use vkabort_spirv::index::typed::{AccessIndex, CellIndex, ObjectIndex};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, op};

/// Limit on definitions of one function. Modules with more are not analysed, which the caller logs.
pub(super) const MAX_DEFINITIONS: usize = 1 << 22;

/// A read or write of one cell by an access or event.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellAccess {
    pub(super) cell: CellIndex,
    pub(super) by: Accessor,
    pub(super) reads: bool,
    pub(super) writes: Writes,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Accessor {
    Access(AccessIndex),
    Event(Event),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    Part,
    All,
}

/// Whether a call may read, and whether it may write, an object of the caller.
fn effect_of_call(
    accesses: &FunctionAccesses,
    callee: Option<&Summary>,
    offset: usize,
    object: ObjectIndex,
) -> (bool, bool) {
    let Some(found) = accesses.objects.get(object) else {
        return (true, true);
    };
    let mut arguments = accesses
        .at(offset)
        .filter(|access| access.place.object == object)
        .peekable();
    let is_variable = found.class.is_variable_of_module();
    let Some(callee) = callee.filter(|callee| !callee.is_unknown) else {
        let is_passed = arguments.peek().is_some() || is_variable;
        return (is_passed, is_passed);
    };
    let (mut reads, mut writes) = (false, false);
    if is_variable {
        reads |= callee.reads.contains(&found.pointer);
        writes |= callee.writes.contains(&found.pointer);
    }
    for access in arguments {
        if let AccessKind::Argument(position) = access.kind {
            reads |= callee.reads_parameters.contains(&position);
            writes |= callee.writes_parameters.contains(&position);
        }
    }
    (reads, writes)
}

/// Inputs from which the memory of a function is built.
pub(in crate::view) struct MemoryInputs<'s, 'w> {
    pub(in crate::view) index: &'s Index<'w>,
    pub(in crate::view) function: &'s Function,
    pub(in crate::view) graph: &'s FunctionGraph,
    pub(in crate::view) accesses: &'s FunctionAccesses,
    pub(in crate::view) cells: &'s Cells,
    /// The summary of a called function, by the id of `OpFunctionCall`'s callee.
    pub(in crate::view) callee: &'s dyn Fn(Id) -> Option<&'s Summary>,
    /// Other invocations read outputs at barriers, or the next stage at every emitted vertex.
    pub(in crate::view) shares_outputs: bool,
    /// Tracks cells that are never loaded ([`FunctionView::definitions_before`](crate::view::FunctionView::definitions_before)).
    pub(in crate::view) for_any_point: bool,
}

impl MemoryInputs<'_, '_> {
    /// The reads and writes of each block, in order. `None` if they are too many.
    pub(super) fn cell_accesses(&self) -> Option<BlockTable<Vec<CellAccess>>> {
        let mut cell_accesses = self.graph.table(|_| Vec::new());
        let mut accesses = self.accesses.accesses.iter().peekable();
        let mut count = 0;
        for (number, block) in self.function.blocks.iter().zip(self.index.blocks_of(self.function)) {
            let Some(list) = cell_accesses.get_mut(number) else {
                continue;
            };
            for inst in self.index.insts(block.offset, block.end) {
                while let Some((at, access)) = accesses.next_if(|(_, access)| access.offset <= inst.offset) {
                    self.add_access(at, access, list);
                }
                let kind = match inst.opcode() {
                    op::FunctionCall => EventKind::Call,
                    op::EmitVertex | op::EmitStreamVertex => EventKind::Emit,
                    op::Return | op::ReturnValue => EventKind::Return,
                    opcode if publishes(opcode) => EventKind::Barrier,
                    _ => continue,
                };
                let event = Event {
                    kind,
                    block: number,
                    offset: inst.offset,
                };
                self.add_event(event, inst.callee(), list);
            }
            count += list.len();
            if count > MAX_DEFINITIONS {
                return None;
            }
        }
        Some(cell_accesses)
    }

    fn add_access(&self, at: AccessIndex, access: &Access, list: &mut Vec<CellAccess>) {
        if self
            .accesses
            .objects
            .get(access.place.object)
            .is_none_or(|object| object.is_escaped)
        {
            return;
        }
        let (reads, writes) = match access.kind {
            AccessKind::Load(_) | AccessKind::CopyFrom => (true, false),
            AccessKind::Store(_) | AccessKind::CopyTo | AccessKind::Write => (false, true),
            AccessKind::Other => (true, true),
            AccessKind::Argument(_) => return,
        };
        for cell in self.cells.of_place(&access.place).iter() {
            let Some(found) = self.cells.all.get(cell).filter(|found| !found.is_empty) else {
                continue;
            };
            let is_all =
                access.place.is_exact && access.kind != AccessKind::Other && found.path.starts_with(&access.place.path);
            list.push(CellAccess {
                cell,
                by: Accessor::Access(at),
                reads,
                writes: match (writes, is_all) {
                    (false, _) => Writes::Nothing,
                    (true, false) => Writes::Part,
                    (true, true) => Writes::All,
                },
            });
        }
    }

    fn add_event(&self, event: Event, callee: Id, list: &mut Vec<CellAccess>) {
        let callee = (event.kind == EventKind::Call).then(|| (self.callee)(callee)).flatten();
        for (object, found) in self.accesses.objects.iter().filter(|(_, found)| !found.is_escaped) {
            let (reads, writes) = match (event.kind, found.class) {
                (EventKind::Call, _) => effect_of_call(self.accesses, callee, event.offset, object),
                (EventKind::Return, ObjectClass::Function | ObjectClass::Described(_)) => (false, false),
                (EventKind::Return, _) => (true, false),
                (EventKind::Barrier, ObjectClass::Workgroup) => (true, true),
                (EventKind::Barrier, ObjectClass::Output) => (self.shares_outputs, false),
                (EventKind::Emit, ObjectClass::Output) => (true, true),
                _ => (false, false),
            };
            if !reads && !writes {
                continue;
            }
            let writes = if writes { Writes::Part } else { Writes::Nothing };
            let cells = self.cells.at(object, &[]).iter();
            for cell in cells.filter(|cell| self.cells.all.get(*cell).is_some_and(|cell| !cell.is_empty)) {
                let by = Accessor::Event(event);
                list.push(CellAccess {
                    cell,
                    by,
                    reads,
                    writes,
                });
            }
        }
    }
}
