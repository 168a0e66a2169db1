//! Uses of the contents of memory.

use super::items::{Item, Items};
use super::use_finder::{ItemUse, UseEffect, UseFinder, ValueClass, nothing};
use crate::view::path::{Path, overlap, suffix_after};
use crate::view::{AccessKind, Event, EventKind, FunctionView, MemoryUse, Object, ObjectClass, Origin, Place};
use smallvec::{SmallVec, smallvec};
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, DefIndex, ItemIndex, Key as _};

impl<'a, 'w> UseFinder<'_, 'a, 'w> {
    pub(super) fn at_memory(
        &self,
        part: &MemoryPart<'_, 'a, 'w>,
        at: MemoryUse,
        items: &mut Items,
        found: &mut Vec<ItemUse>,
    ) {
        let function = part.function;
        match at {
            MemoryUse::Read(number) => {
                let Some(access) = function.accesses.accesses.get(number) else {
                    return;
                };
                let effect = match access.kind {
                    _ if !part.is_exact || !access.place.is_exact || !overlap(part.path, &access.place.path) => return,
                    AccessKind::Load(id) => {
                        let path = suffix_after(part.path, &access.place.path).unwrap_or_default();
                        let loaded = items.intern(Item::value(function.number, id, path));
                        UseEffect::Becomes(smallvec![loaded])
                    }
                    AccessKind::CopyFrom => {
                        let next = AccessIndex::from_usize(number.to_usize() + 1);
                        let Some(target) = function.accesses.accesses.get(next) else {
                            return;
                        };
                        let path = suffix_after(part.path, &access.place.path).unwrap_or_default();
                        match (target.offset == access.offset, target.kind) {
                            (true, AccessKind::CopyTo) => stored(function, next, &target.place, &path, items),
                            _ => UseEffect::Effect,
                        }
                    }
                    AccessKind::Other => UseEffect::Effect,
                    _ => return,
                };
                push(found, access.block, access.offset, effect);
            }
            MemoryUse::Phi(phi, from) => {
                let offset = self.view.index.blocks.get(from).map_or(0, |block| block.terminator);
                push(found, from, offset, UseEffect::Phi(part.in_definition(phi, items)));
            }
            MemoryUse::Changed(next) => {
                let Some(changed) = function.memory.definitions.get(next) else {
                    return;
                };
                let is_kept = match changed.origin {
                    Origin::Access(by) => function
                        .accesses
                        .accesses
                        .get(by)
                        .is_some_and(|by| !overlap(part.path, &by.place.path)),
                    _ => false,
                };
                if is_kept {
                    let items = smallvec![part.in_definition(next, items)];
                    push(found, changed.block, changed.offset, UseEffect::Becomes(items));
                }
            }
            MemoryUse::Seen(event) => {
                let Some(object) = function.object(part.definition) else {
                    return;
                };
                let effect = self.seen(part, object, event, items);
                push(found, event.block, event.offset, effect);
            }
        }
    }

    pub(super) fn seen(
        &self,
        part: &MemoryPart<'_, 'a, 'w>,
        object: &Object,
        event: Event,
        items: &mut Items,
    ) -> UseEffect {
        let function = part.function;
        match event.kind {
            EventKind::Emit => UseEffect::Effect,
            EventKind::Barrier if object.class == ObjectClass::Output => UseEffect::Effect,
            // Other invocations may do anything with it.
            EventKind::Barrier if self.value_class == ValueClass::NotFinite => nothing(),
            EventKind::Barrier => match self.view.is_read_behind_barrier(function, object.pointer, event) {
                true => UseEffect::Effect,
                false => nothing(),
            },
            EventKind::Return if self.view.is_entry_point(function.number) => match object.class {
                ObjectClass::Output => UseEffect::Effect,
                _ => nothing(),
            },
            EventKind::Return => self.left(part, object, items),
            EventKind::Call => self.read_by_call(part, object, event.offset, items),
        }
    }

    /// Effect of a definition when the function returns: that of the definitions that its calls make in the callers.
    pub(super) fn left(&self, part: &MemoryPart<'_, 'a, 'w>, object: &Object, items: &mut Items) -> UseEffect {
        let mut all = Vec::new();
        for (caller, offset) in self.view.calls_of(part.function.number) {
            let Some(caller) = self.view.function(caller) else {
                return nothing();
            };
            let Some(place) = place_in_caller(caller, object, offset) else {
                return nothing();
            };
            let path: Path = place.path.iter().chain(part.path.iter()).copied().collect();
            let is_exact = part.is_exact && place.is_exact;
            let before = all.len();
            for definition in caller.memory.left_by_event(offset) {
                if caller.has_part(place.object, &path) && caller.cell_has(definition, place.object, &path) {
                    all.push(items.intern(Item::memory(caller.number, definition, path.clone(), is_exact)));
                }
            }
            if all.len() == before {
                return nothing();
            }
        }
        if all.is_empty() { nothing() } else { UseEffect::All(all) }
    }

    /// Effect of a definition that a called function reads.
    pub(super) fn read_by_call(
        &self,
        part: &MemoryPart<'_, 'a, 'w>,
        object: &Object,
        offset: usize,
        items: &mut Items,
    ) -> UseEffect {
        let call = self.view.index.inst(offset);
        let Some(callee) = self
            .view
            .index
            .function_of(call.callee())
            .and_then(|callee| self.view.function(callee))
        else {
            return nothing();
        };
        let is_variable = object.class.is_variable_of_module();
        let mut found = SmallVec::new();
        let mut add = |pointer: &dyn Fn(&Object) -> bool, path: Path| {
            let target = callee.accesses.objects.iter().find(|(_, object)| pointer(object));
            for cell in target
                .into_iter()
                .flat_map(|(object, _)| callee.cells.at(object, &path).iter())
            {
                if let Some(definition) = callee.memory.entry(cell) {
                    let item = Item::memory(callee.number, definition, path.clone(), part.is_exact);
                    found.push(items.intern(item));
                }
            }
        };
        if is_variable {
            add(&|other: &Object| other.pointer == object.pointer, part.path.clone());
        }
        for access in part.function.accesses.at(offset) {
            let AccessKind::Argument(position) = access.kind else {
                continue;
            };
            let is_it = part
                .function
                .accesses
                .objects
                .get(access.place.object)
                .is_some_and(|of| of.pointer == object.pointer);
            if is_it
                && access.place.is_exact
                && let Some(path) = suffix_after(part.path, &access.place.path)
            {
                add(&|other: &Object| other.class == ObjectClass::Parameter(position), path);
            }
        }
        UseEffect::Becomes(found)
    }
}

/// A part of the contents of a definition.
pub(super) struct MemoryPart<'p, 'a, 'w> {
    pub(super) function: &'p FunctionView<'a, 'w>,
    pub(super) definition: DefIndex,
    pub(super) path: &'p Path,
    pub(super) is_exact: bool,
}

impl MemoryPart<'_, '_, '_> {
    /// The same part of another definition.
    pub(super) fn in_definition(&self, definition: DefIndex, items: &mut Items) -> ItemIndex {
        let path = self.path.clone();
        items.intern(Item::memory(self.function.number, definition, path, self.is_exact))
    }
}

pub(super) fn push(found: &mut Vec<ItemUse>, block: BlockIndex, offset: usize, effect: UseEffect) {
    if !matches!(&effect, UseEffect::Becomes(items) if items.is_empty()) {
        found.push(ItemUse { block, offset, effect });
    }
}

/// The part at `path` of a value that an access writes to a place.
pub(super) fn stored(
    function: &FunctionView<'_, '_>,
    access: AccessIndex,
    place: &Place,
    path: &Path,
    items: &mut Items,
) -> UseEffect {
    let is_exact = place.is_exact;
    let part: Path = match is_exact {
        true => place.path.iter().chain(path).copied().collect(),
        false => place.path.clone(),
    };
    let mut found = SmallVec::new();
    for definition in function.memory.written(access) {
        if function.has_part(place.object, &part) && function.cell_has(definition, place.object, &part) {
            // A cell that is smaller than the part is all of it.
            let path = function.part_in_cell(definition, &part);
            found.push(items.intern(Item::memory(function.number, definition, path, is_exact)));
        }
    }
    UseEffect::Becomes(found)
}

/// The place of a caller that an object of the called function is.
fn place_in_caller(caller: &FunctionView<'_, '_>, object: &Object, offset: usize) -> Option<Place> {
    match object.class {
        ObjectClass::Function | ObjectClass::Described(_) => None,
        ObjectClass::Parameter(position) => {
            let mut passed = caller.accesses.at(offset);
            let access = passed.find(|access| access.kind == AccessKind::Argument(position))?;
            Some(access.place.clone())
        }
        _ => {
            let (number, _) = caller
                .accesses
                .objects
                .iter()
                .find(|(_, other)| other.pointer == object.pointer)?;
            Some(Place {
                object: number,
                path: Path::new(),
                is_exact: true,
            })
        }
    }
}
