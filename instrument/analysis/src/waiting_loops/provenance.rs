//! Provenance of the values of a loop or a function: whether they depend on shared reads.
//!
//! Values are followed back to their operands, through memory by the view's definitions and, where one of several values is selected,
//! to the conditions that select. Other control flow does not count: the result of a function that increments an atomic counter or
//! logs something on the way does not depend on it. Neither do the iterations of a loop inside: if that one waits, it polls itself.

use super::scope::Scope;
use crate::view::{Definition, EventKind, ObjectClass, Origin};
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{BlockIndex, CellIndex, DefIndex};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op, operands};

/// Whether an access is to memory that only the invocation sees.
fn is_private(index: &Index<'_>, access: &Inst<'_>) -> bool {
    let class = index.storage_class(index.type_of(access.pointer()));
    matches!(class, Some(storage_class::Function | storage_class::Private))
}

/// A value or a memory definition that others are computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Value(Id),
    Memory(DefIndex),
}

impl<'w> Scope<'_, '_, 'w> {
    /// Whether a shared read decides the loop's exit.
    pub(super) fn leaves_by_shared(&self) -> bool {
        let conditions = self.control.deciding_exit(self.view).into_iter();
        self.depends(conditions.map(Source::Value).collect())
    }

    /// Whether the function's result, or a value stored through a pointer parameter, depends on a shared read.
    pub(super) fn returns_shared(&self) -> bool {
        let returns = self.returns().filter(|(_, end)| end.opcode() == op::ReturnValue);
        let returned: Vec<_> = returns
            .map(|(block, end)| (block, Source::Value(end.returned_value())))
            .collect();
        let mut sources = Vec::new();
        self.add_returned(&returned, &mut sources);
        self.depends(sources) || self.leaves_shared(|class| matches!(class, ObjectClass::Parameter(_)))
    }

    /// Whether a value that the function stores to an object of a class depends on a shared read.
    pub(super) fn leaves_shared(&self, is_class: impl Fn(ObjectClass) -> bool) -> bool {
        let memory = &self.view.memory;
        let mut by_cell: BTreeMap<CellIndex, Vec<(BlockIndex, Source)>> = BTreeMap::new();
        let mut changed = HashSet::default();
        for (block, end) in self.returns() {
            for number in memory.seen_by_event(end.offset) {
                let object = self.view.object(number).filter(|object| is_class(object.class));
                let Some((_, found)) = object.zip(memory.definitions.get(number)) else {
                    continue;
                };
                by_cell
                    .entry(found.cell)
                    .or_default()
                    .push((block, Source::Memory(number)));
                if found.origin != Origin::Entry {
                    changed.insert(found.cell);
                }
            }
        }
        let mut sources = Vec::new();
        for (_, left) in by_cell.iter().filter(|(cell, _)| changed.contains(cell)) {
            self.add_returned(left, &mut sources);
        }
        self.depends(sources)
    }

    /// Whether a shared read is stored to memory that only the invocation sees.
    pub(super) fn stores_shared(&self) -> bool {
        let index = self.view.index;
        let blocks = self
            .control
            .blocks()
            .iter()
            .filter_map(|number| index.blocks.get(*number));
        let insts = blocks.flat_map(|block| index.body(block));
        let stores = insts.filter(|inst| inst.opcode() == op::Store && is_private(index, inst));
        self.depends(stores.map(|store| Source::Value(store.stored_value())).collect())
    }

    fn returns(&self) -> impl Iterator<Item = (BlockIndex, Inst<'w>)> + '_ {
        let index = self.view.index;
        let ends = self.control.blocks().iter().filter_map(|number| {
            let block = index.blocks.get(*number)?;
            Some((*number, index.terminator(block)))
        });
        ends.filter(|(_, end)| matches!(end.opcode(), op::Return | op::ReturnValue))
    }

    /// Adds values with the blocks that return them, and the conditions that select between them.
    fn add_returned(&self, returned: &[(BlockIndex, Source)], sources: &mut Vec<Source>) {
        sources.extend(returned.iter().map(|(_, source)| *source));
        if self.differ(returned.iter().map(|(_, source)| *source)) {
            let blocks = returned.iter().map(|(block, _)| *block);
            let conditions = self.control.guarding(self.view, blocks);
            sources.extend(conditions.into_iter().map(Source::Value));
        }
    }

    /// Whether values differ. Loads of one definition are the same value: compilers merge several returns this way.
    fn differ(&self, sources: impl Iterator<Item = Source>) -> bool {
        let mut values = sources.map(|source| self.same_as(source));
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    fn same_as(&self, source: Source) -> Source {
        let number = match source {
            Source::Value(value) => self.view.whole_of_load(value),
            Source::Memory(number) => Some(number),
        };
        let stored = number.and_then(|number| self.view.stored_value(number));
        stored
            .map(Source::Value)
            .or(number.map(Source::Memory))
            .unwrap_or(source)
    }

    /// Whether a shared read is among the sources of values. O(instructions + selections of each phi).
    fn depends(&self, mut worklist: Vec<Source>) -> bool {
        let mut seen = HashSet::default();
        while let Some(source) = worklist.pop() {
            let is_followed = !seen.insert(source)
                || match source {
                    Source::Value(id) => self.add_operands(id, &mut worklist),
                    Source::Memory(number) => self.add_stored(number, &mut worklist),
                };
            if !is_followed {
                return true;
            }
        }
        false
    }

    /// Adds the sources of a value. False if one is a shared read, or not known.
    fn add_operands(&self, id: Id, worklist: &mut Vec<Source>) -> bool {
        let view = self.view;
        if let Some(stores) = self.stores.get(&id) {
            worklist.extend(stores.iter().map(|(value, _)| Source::Value(*value)));
            let blocks = stores.iter().map(|(_, block)| *block);
            worklist.extend(self.control.guarding(view, blocks).into_iter().map(Source::Value));
        }
        let block = view.block_of(id).filter(|block| self.control.contains(*block));
        let Some((block, inst)) = block.zip(view.index.def(id)) else {
            return true;
        };
        if self.is_read(&inst) {
            return false;
        }
        match inst.opcode() {
            op::Phi => {
                let pairs = inst.phi_pairs();
                let operands =
                    pairs.filter_map(|(value, label)| Some((view.block_of_label(label)?, Source::Value(value))));
                self.add_selecting(block, &operands.collect::<Vec<_>>(), worklist);
            }
            op::Load => match view.load(id) {
                Some((access, _)) => {
                    let before = worklist.len();
                    worklist.extend(view.memory.read(access).map(Source::Memory));
                    if worklist.len() == before && view.graph.is_reachable(block) {
                        let is_known = !self.shared.private_has_shared && !self.synchronizes;
                        return is_known && is_private(view.index, &inst);
                    }
                }
                None => worklist.push(Source::Value(self.shared.memory.pointers.base(inst.pointer()))),
            },
            op::FunctionCall => {
                worklist.extend(view.memory.seen_by_event(inst.offset).map(Source::Memory));
                worklist.extend(
                    inst.ids(4)
                        .map(|argument| Source::Value(self.shared.memory.pointers.base(argument))),
                );
            }
            _ => {}
        }
        operands::visit_ids(&inst, 1, |i| worklist.push(Source::Value(inst.id(i))))
    }

    /// Adds the sources of a definition. False if one may be a shared read.
    fn add_stored(&self, number: DefIndex, worklist: &mut Vec<Source>) -> bool {
        let view = self.view;
        let definition = view.memory.definitions.get(number);
        let Some(definition) = definition.filter(|found| self.control.contains(found.block)) else {
            return true;
        };
        worklist.extend(definition.previous.map(Source::Memory));
        match definition.origin {
            Origin::Phi => {
                let operands = definition.operands.iter();
                let operands: Vec<_> = operands
                    .map(|(from, operand)| (*from, Source::Memory(*operand)))
                    .collect();
                worklist.extend(operands.iter().map(|(_, operand)| *operand));
                self.add_selecting(definition.block, &operands, worklist);
            }
            Origin::Access(_) => return self.add_written(definition, worklist),
            Origin::Event(event) if event.kind == EventKind::Call => {
                let call = view.index.inst(event.offset);
                let object = view.object(number);
                let Some(private) = object.filter(|object| object.class == ObjectClass::Private) else {
                    worklist.push(Source::Value(call.result()));
                    return true;
                };
                // The callee may store what it gets.
                worklist.extend(call.ids(4).map(Source::Value));
                worklist.extend(view.memory.seen_by_event(event.offset).map(Source::Memory));
                return !self.shared.leaves(call.callee(), private.pointer);
            }
            Origin::Entry | Origin::Event(_) => {}
        }
        true
    }

    /// Adds the value that the access of a definition writes. False if it may be from shared memory.
    fn add_written(&self, definition: &Definition, worklist: &mut Vec<Source>) -> bool {
        let view = self.view;
        let inst = view.index.inst(definition.offset);
        if inst.opcode() == op::CopyMemory {
            let source = inst.id(2);
            if view.accesses.place(source).is_none() {
                return !self.shared.memory.pointers.is_shared(source);
            }
            if let Some((access, _)) = view.access_at(definition.offset) {
                worklist.extend(view.memory.read(access).map(Source::Memory));
            }
        }
        operands::visit_ids(&inst, view.index.selector_words(&inst), |i| {
            worklist.push(Source::Value(inst.id(i)));
        })
    }

    /// Adds the conditions that select between the values that meet in a block. None if they are equal. Values over back edges and
    /// variables without a value do not count.
    fn add_selecting(&self, block: BlockIndex, operands: &[(BlockIndex, Source)], worklist: &mut Vec<Source>) {
        let view = self.view;
        let is_counted = |(from, source): &&(BlockIndex, Source)| {
            let has_value = match source {
                Source::Value(_) => true,
                Source::Memory(number) => {
                    let origin = view.memory.definitions.get(*number).map(|found| found.origin);
                    origin != Some(Origin::Entry) || !view.is_undefined_at_entry(*number)
                }
            };
            has_value && self.control.contains(*from) && !view.graph.dominates(block, *from)
        };
        let counted: Vec<&(BlockIndex, Source)> = operands.iter().filter(is_counted).collect();
        if self.differ(counted.iter().map(|(_, source)| *source)) {
            let from: Vec<BlockIndex> = counted.iter().map(|(from, _)| *from).collect();
            let conditions = self.control.selecting(view, block, &from);
            worklist.extend(conditions.into_iter().map(Source::Value));
        }
    }
}
