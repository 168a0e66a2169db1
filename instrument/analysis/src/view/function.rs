//! The view of one function: its graph, uses, accesses and memory, and queries of them.

use super::access::{Access, AccessKind, Object, ObjectClass};
use super::accesses::FunctionAccesses;
use super::cells::Cells;
use super::memory::{Memory, Origin};
use super::path::{Path, type_at};
use super::uses::Uses;
use crate::graph::FunctionGraph;
use crate::loop_nest::LoopNest;
use std::cell::OnceCell;
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, DefIndex, FunctionIndex, ObjectIndex};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, Inst, op};

/// Graph, uses, accesses and memory of one function.
pub struct FunctionView<'a, 'w> {
    pub index: &'a Index<'w>,
    pub number: FunctionIndex,
    pub function: &'a Function,
    pub graph: FunctionGraph,
    pub uses: Uses,
    pub accesses: FunctionAccesses,
    pub cells: Cells,
    pub memory: Memory,
    pub(super) loops: OnceCell<LoopNest>,
}

impl<'w> FunctionView<'_, 'w> {
    /// The loops, found at the first query.
    pub fn loops(&self) -> &LoopNest {
        self.loops.get_or_init(|| LoopNest::new(self.index, self.function))
    }

    /// The definitions that the cells of an exact part of an object hold before the instruction at a word offset of a block; `None`
    /// stands for the contents at the start of the function. In a view [`ModuleView::for_any_point`] only.
    pub fn definitions_before(
        &self,
        object: ObjectIndex,
        path: &[u32],
        block: BlockIndex,
        offset: usize,
    ) -> Vec<Option<DefIndex>> {
        let cells = self.cells.at(object, path).iter();
        let cells = cells.filter(|cell| self.cells.all.get(*cell).is_some_and(|cell| !cell.is_empty));
        cells
            .map(|cell| self.memory.definition_before(&self.graph, cell, block, offset))
            .collect()
    }

    /// As [`Self::definitions_before`], with the definitions at the start of the function. `None` if nothing reads one of these.
    pub fn definitions_or_entry(
        &self,
        object: ObjectIndex,
        path: &[u32],
        block: BlockIndex,
        offset: usize,
    ) -> Option<Vec<DefIndex>> {
        let cells = self.cells.at(object, path).iter();
        let cells = cells.filter(|cell| self.cells.all.get(*cell).is_some_and(|cell| !cell.is_empty));
        let found = cells.map(|cell| {
            let definition = self.memory.definition_before(&self.graph, cell, block, offset);
            definition.or_else(|| self.memory.entry(cell))
        });
        found.collect()
    }

    /// The block of the instruction that defines a value; of the first block for parameters. `None` for values of other functions.
    pub fn block_of(&self, value: Id) -> Option<BlockIndex> {
        let def = self.index.def(value)?;
        match def.opcode() {
            op::FunctionParameter if (self.function.offset..self.function.end).contains(&def.offset) => {
                self.graph.entry()
            }
            _ => self.block_at(def.offset),
        }
    }

    /// The block with a label.
    pub fn block_of_label(&self, label: Id) -> Option<BlockIndex> {
        self.index.block_of_label(self.function, label)
    }

    /// The block of the instruction at a word offset.
    pub fn block_at(&self, offset: usize) -> Option<BlockIndex> {
        (offset < self.function.end)
            .then(|| self.graph.block_at(offset))
            .flatten()
    }

    /// Whether `value` is defined wherever the end of `block` is reached: a constant, a parameter, or of a block that dominates it.
    pub fn reaches(&self, value: Id, block: BlockIndex) -> bool {
        let Some(inst) = self.index.def(value) else {
            return false;
        };
        if inst.offset < self.index.sections.globals {
            return is_constant(&inst);
        }
        self.block_of(value).is_some_and(|at| self.graph.dominates(at, block))
    }

    /// The access of the load with this result to an object of the function.
    pub fn load(&self, value: Id) -> Option<(AccessIndex, &Access)> {
        let load = self.index.def(value).filter(|inst| inst.opcode() == op::Load)?;
        self.access_at(load.offset)
            .filter(|(_, access)| matches!(access.kind, AccessKind::Load(_)))
    }

    /// The first access of the instruction at a word offset.
    pub(crate) fn access_at(&self, offset: usize) -> Option<(AccessIndex, &Access)> {
        let all = self.accesses.accesses.values();
        let first = all.partition_point(|access| access.offset < offset);
        let access = all.get(first).filter(|access| access.offset == offset)?;
        Some((AccessIndex::from_usize(first), access))
    }

    /// The object that the instruction at a word offset accesses first.
    pub(crate) fn object_at(&self, offset: usize) -> Option<&Object> {
        let (_, access) = self.access_at(offset)?;
        self.accesses.objects.get(access.place.object)
    }

    /// The definition that a load reads, if it reads all or an exact part of a single cell.
    pub fn definition_of_load(&self, value: Id) -> Option<(DefIndex, &Access)> {
        let (number, access) = self.load(value).filter(|(_, access)| access.place.is_exact)?;
        let mut read = self.memory.read(number);
        let definition = read.next()?;
        read.next().is_none().then_some((definition, access))
    }

    /// The definition that a load reads all of, if it reads all of a single cell.
    pub(crate) fn whole_of_load(&self, value: Id) -> Option<DefIndex> {
        let (number, access) = self.definition_of_load(value)?;
        let cell = self.cells.all.get(self.memory.definitions.get(number)?.cell)?;
        (cell.path == access.place.path).then_some(number)
    }

    /// The value that a definition stores to all of its cell.
    pub fn stored_value(&self, definition: DefIndex) -> Option<Id> {
        let found = self.memory.definitions.get(definition)?;
        let Origin::Access(by) = found.origin else { return None };
        let (access, cell) = (self.accesses.accesses.get(by)?, self.cells.all.get(found.cell)?);
        match access.kind {
            AccessKind::Store(value) if access.place.is_exact && access.place.path == cell.path => Some(value),
            _ => None,
        }
    }

    /// Whether the cell of a definition has something of an exact part of an object.
    pub(crate) fn cell_has(&self, definition: DefIndex, object: ObjectIndex, path: &[u32]) -> bool {
        let found = self.memory.definitions.get(definition);
        let cell = found.and_then(|found| self.cells.all.get(found.cell));
        cell.is_some_and(|cell| cell.object == object && cell.has(path))
    }

    /// Whether an object has a part.
    pub(crate) fn has_part(&self, object: ObjectIndex, path: &[u32]) -> bool {
        let object = self.accesses.objects.get(object);
        path.is_empty() || object.is_some_and(|object| type_at(self.index, object.ty, path) != Id::NONE)
    }

    /// The common part of the cell of a definition and of a part of its object: the smaller of the two.
    pub(crate) fn part_in_cell(&self, definition: DefIndex, path: &[u32]) -> Path {
        let found = self.memory.definitions.get(definition);
        let cell = found.and_then(|found| self.cells.all.get(found.cell));
        match cell.filter(|cell| cell.path.len() > path.len()) {
            Some(cell) => cell.path.clone(),
            None => path.into(),
        }
    }

    /// The object of which a definition is a part.
    pub(crate) fn object(&self, definition: DefIndex) -> Option<&Object> {
        let cell = self.cells.all.get(self.memory.definitions.get(definition)?.cell)?;
        self.accesses.objects.get(cell.object)
    }

    /// The initialiser that the object of an `Entry` definition has then: of a variable of the function, or of the module in an
    /// entry point.
    pub(crate) fn initial_value(&self, definition: DefIndex) -> Option<Id> {
        let object = self.object(definition)?;
        let is_entry_point = || {
            self.index
                .entry_points
                .iter()
                .any(|entry| entry.function == self.function.id)
        };
        let holds = match object.class {
            ObjectClass::Function => true,
            ObjectClass::Private | ObjectClass::Output => is_entry_point(),
            ObjectClass::Parameter(_) | ObjectClass::Workgroup | ObjectClass::Described(_) => false,
        };
        object.initializer.filter(|_| holds)
    }

    /// Whether nothing has been stored where a definition is `Entry`: a variable without an initialiser.
    pub(crate) fn is_undefined_at_entry(&self, definition: DefIndex) -> bool {
        let object = self.object(definition);
        object.is_some_and(|object| match object.class {
            ObjectClass::Function => object.initializer.is_none(),
            ObjectClass::Described(_) => true,
            _ => false,
        })
    }

    /// The definitions that a definition may hold all or a part of, through phis and partial stores, without those two: each once.
    /// O(definitions between).
    pub fn sources(&self, definitions: impl IntoIterator<Item = DefIndex>) -> Vec<DefIndex> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut worklist: Vec<DefIndex> = definitions.into_iter().collect();
        let mut found = Vec::new();
        while let Some(number) = worklist.pop() {
            if !seen.insert(number) {
                continue;
            }
            let Some(definition) = self.memory.definitions.get(number) else {
                continue;
            };
            if definition.origin != Origin::Phi {
                found.push(number);
            }
            worklist.extend(definition.previous);
            worklist.extend(definition.operands.iter().map(|(_, operand)| *operand));
        }
        found
    }

    /// The values that a load may return or be composed of. `None` if something unknown is among them; nothing stands for a variable
    /// that has no value.
    pub fn sources_of_load(&self, value: Id) -> Option<Vec<Id>> {
        let (number, _) = self.load(value)?;
        let read: Vec<DefIndex> = self.memory.read(number).collect();
        if read.is_empty() {
            return None;
        }
        let mut values = Vec::new();
        for source in self.sources(read) {
            match self.memory.definitions.get(source)?.origin {
                Origin::Access(by) => match self.accesses.accesses.get(by)?.kind {
                    AccessKind::Store(stored) => values.push(stored),
                    _ => return None,
                },
                Origin::Entry => match self.initial_value(source) {
                    Some(initial) => values.push(initial),
                    None if self.is_undefined_at_entry(source) => {}
                    None => return None,
                },
                Origin::Event(_) | Origin::Phi => return None,
            }
        }
        Some(values)
    }
}

/// Whether an instruction is a constant or a specialisation constant.
pub fn is_constant(inst: &Inst<'_>) -> bool {
    matches!(
        inst.opcode(),
        op::ConstantTrue..=op::ConstantNull | op::SpecConstantTrue..=op::SpecConstantOp
    )
}
