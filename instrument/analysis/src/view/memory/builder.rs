//! Places phis and connects uses with definitions.

use super::cell_accesses::{Accessor, CellAccess, MAX_DEFINITIONS, MemoryInputs, Writes};
use super::{Definition, Memory, MemoryUse, Origin};
use crate::graph::BlockTable;
use vkabort_spirv::index::typed::{BlockIndex, CellIndex, DefIndex, Table};

impl Memory {
    /// `None` if there are more than [`MAX_DEFINITIONS`] definitions.
    pub(in crate::view) fn new(inputs: &MemoryInputs<'_, '_>) -> Option<Self> {
        let cell_accesses = inputs.cell_accesses()?;
        let mut builder = Builder {
            inputs,
            memory: Self::default(),
            visited: 0,
            current: inputs.cells.all.map(|_| None),
            entries: inputs.cells.all.map(|_| None),
            undo: Vec::new(),
            phis: inputs.graph.table(|_| Vec::new()),
        };
        builder.place_phis(&cell_accesses)?;
        builder.rename(&cell_accesses)?;
        let mut memory = builder.memory;
        memory.uses.sort_by_key(|(definition, _)| *definition);
        memory.read.sort_unstable();
        memory.written.sort_unstable();
        memory.events.sort_unstable();
        memory.seen.sort_unstable();
        memory.entries.sort_unstable();
        memory.by_place.sort_unstable();
        Some(memory)
    }
}

/// Builds the memory of a function.
struct Builder<'s, 'r, 'w> {
    inputs: &'s MemoryInputs<'r, 'w>,
    memory: Memory,
    /// Number of blocks that the walk has visited.
    visited: usize,
    /// The definition of each cell at the current point of the walk.
    current: Table<CellIndex, Option<DefIndex>>,
    entries: Table<CellIndex, Option<DefIndex>>,
    /// Earlier entries of `current`, restored when the walk leaves a block.
    undo: Vec<(CellIndex, Option<DefIndex>)>,
    phis: BlockTable<Vec<DefIndex>>,
}

impl Builder<'_, '_, '_> {
    fn define(&mut self, definition: Definition) -> Option<DefIndex> {
        let number = self.memory.definitions.next_key();
        self.memory.definitions.push(definition);
        self.memory.above.push(None);
        (self.memory.definitions.count() <= MAX_DEFINITIONS).then_some(number)
    }

    /// Places phis for the cells that a block reads before it writes them.
    fn place_phis(&mut self, cell_accesses: &BlockTable<Vec<CellAccess>>) -> Option<()> {
        let graph = self.inputs.graph;
        let mut writers: Table<CellIndex, Vec<BlockIndex>> = self.inputs.cells.all.map(|_| Vec::new());
        let mut is_read: Table<CellIndex, bool> = self.inputs.cells.all.map(|_| false);
        for block in graph.reverse_postorder() {
            for access in cell_accesses.get(*block).into_iter().flatten() {
                let Some(writers) = writers.get_mut(access.cell) else {
                    continue;
                };
                let is_written = writers.last() == Some(block);
                if !is_written && (access.reads || access.writes == Writes::Part) {
                    is_read.set(access.cell);
                }
                if !is_written && access.writes != Writes::Nothing {
                    writers.push(*block);
                }
            }
        }
        let frontiers = graph.dominance_frontiers();
        let mut has_phi = graph.table(|_| None);
        for (cell, writers) in writers
            .iter()
            .filter(|(cell, _)| self.inputs.for_any_point || is_read.is_set(*cell))
        {
            let mut worklist = writers.clone();
            while let Some(block) = worklist.pop() {
                for at in frontiers.get(block).into_iter().flatten() {
                    let Some(mark) = has_phi.get_mut(*at).filter(|mark| **mark != Some(cell)) else {
                        continue;
                    };
                    *mark = Some(cell);
                    let offset = self.inputs.index.blocks.get(*at).map_or(0, |block| block.offset);
                    let phi = self.define(Definition {
                        cell,
                        block: *at,
                        offset,
                        origin: Origin::Phi,
                        previous: None,
                        operands: Vec::new(),
                    })?;
                    if let Some(phis) = self.phis.get_mut(*at) {
                        phis.push(phi);
                    }
                    worklist.push(*at);
                }
            }
        }
        Some(())
    }

    /// Walks the dominator tree and connects uses with definitions.
    fn rename(&mut self, cell_accesses: &BlockTable<Vec<CellAccess>>) -> Option<()> {
        let graph = self.inputs.graph;
        // The blocks around the current one in the tree, with the length of `undo` before each.
        let mut around: Vec<(BlockIndex, usize)> = Vec::new();
        let mut preorder = graph.table(|_| 0);
        for block in graph.dominator_preorder() {
            self.visited += 1;
            if let Some(position) = preorder.get_mut(block) {
                *position = self.visited;
            }
            let above = graph.immediate_dominator(block);
            while let Some((last, length)) = around.last().copied() {
                if Some(last) == above {
                    break;
                }
                around.pop();
                for (cell, before) in self.undo.drain(length.min(self.undo.len())..).rev() {
                    if let Some(slot) = self.current.get_mut(cell) {
                        *slot = before;
                    }
                }
            }
            around.push((block, self.undo.len()));
            for phi in self.phis.get(block).cloned().unwrap_or_default() {
                if let Some(cell) = self.memory.definitions.get(phi).map(|phi| phi.cell) {
                    self.set(cell, phi);
                }
            }
            for access in cell_accesses.get(block).into_iter().flatten() {
                self.apply(block, access)?;
            }
            for to in graph.successors(block) {
                for phi in self.phis.get(*to).cloned().unwrap_or_default() {
                    let Some(cell) = self.memory.definitions.get(phi).map(|phi| phi.cell) else {
                        continue;
                    };
                    let operand = self.definition(cell)?;
                    if let Some(phi) = self.memory.definitions.get_mut(phi) {
                        phi.operands.push((block, operand));
                    }
                    self.memory.uses.push((operand, MemoryUse::Phi(phi, block)));
                }
            }
        }
        self.memory.preorder = Some(preorder);
        Some(())
    }

    /// Makes a definition the current one of its cell.
    fn set(&mut self, cell: CellIndex, definition: DefIndex) {
        let Some(slot) = self.current.get_mut(cell) else { return };
        let before = slot.replace(definition);
        self.undo.push((cell, before));
        if let Some(above) = self.memory.above.get_mut(definition) {
            *above = before;
        }
        let offset = self.memory.definitions.get(definition).map_or(0, |found| found.offset);
        self.memory.by_place.push((cell, self.visited, offset, definition));
    }

    /// The current definition of a cell.
    fn definition(&mut self, cell: CellIndex) -> Option<DefIndex> {
        let current = self.current.get(cell).copied().flatten();
        if let Some(found) = current.or_else(|| self.entries.get(cell).copied().flatten()) {
            return Some(found);
        }
        let block = self.inputs.graph.entry()?;
        let offset = self.inputs.index.blocks.get(block).map_or(0, |block| block.offset);
        let entry = self.define(Definition {
            cell,
            block,
            offset,
            origin: Origin::Entry,
            previous: None,
            operands: Vec::new(),
        })?;
        if let Some(slot) = self.entries.get_mut(cell) {
            *slot = Some(entry);
        }
        self.memory.entries.push((cell, entry));
        Some(entry)
    }

    fn apply(&mut self, block: BlockIndex, access: &CellAccess) -> Option<()> {
        let previous = match access.reads || access.writes == Writes::Part {
            true => Some(self.definition(access.cell)?),
            false => None,
        };
        if let Some(read) = previous.filter(|_| access.reads) {
            let by = match access.by {
                Accessor::Access(access) => {
                    self.memory.read.push((access, read));
                    MemoryUse::Read(access)
                }
                Accessor::Event(event) => {
                    self.memory.seen.push((event.offset, read));
                    MemoryUse::Seen(event)
                }
            };
            self.memory.uses.push((read, by));
        }
        if access.writes == Writes::Nothing {
            return Some(());
        }
        let previous = previous.filter(|_| access.writes == Writes::Part);
        let (offset, origin) = match access.by {
            Accessor::Access(access) => {
                let offset = self
                    .inputs
                    .accesses
                    .accesses
                    .get(access)
                    .map_or(0, |access| access.offset);
                (offset, Origin::Access(access))
            }
            Accessor::Event(event) => (event.offset, Origin::Event(event)),
        };
        let number = self.define(Definition {
            cell: access.cell,
            block,
            offset,
            origin,
            previous,
            operands: Vec::new(),
        })?;
        match access.by {
            Accessor::Access(access) => self.memory.written.push((access, number)),
            Accessor::Event(event) => self.memory.events.push((event.offset, number)),
        }
        if let Some(previous) = previous {
            self.memory.uses.push((previous, MemoryUse::Changed(number)));
        }
        self.set(access.cell, number);
        Some(())
    }
}
