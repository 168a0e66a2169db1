//! Sends values behind a message: those that it holds already, values that reach the abort by way of phis, and memory.

use super::message::{self, MessageParts};
use super::predicate::{Join, Operand};
use super::tail::{Tail, TailTypes, array_layout, natural_layout, stride};
use smallvec::SmallVec;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::message_layout::Layouts;
use vkabort_analysis::view::{AccessKind, FunctionView, MemoryUse};
use vkabort_options::Options;
use vkabort_record::message_type::Type;
use vkabort_record::site_values::Place;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_values::AbortValues;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{BlockIndex, DefIndex};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Code, Id, op};

/// Elements of a long array that are sent.
pub(super) const FIRST_ELEMENTS: u32 = 4;

/// A module whose aborts get values.
pub(super) struct Pass<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) options: &'a Options,
    pub(super) planted: &'a PlantedAborts,
    pub(super) layouts: Layouts<'a, 'w>,
    pub(super) expressions: &'a Expressions<'a, 'w>,
    pub(super) out: Emitter,
    pub(super) types: TailTypes,
    pub(super) edits: Edits,
    pub(super) found: AbortValues,
}

/// The values of one abort being sent.
pub(super) struct Sender<'a, 'f, 'w> {
    pub(super) flow: &'a FunctionView<'f, 'w>,
    pub(super) parts: MessageParts,
    /// Words that may be added so that the message stays deferred. `None`: as many as there is room for.
    pub(super) free_words: Option<u32>,
    pub(super) tail: Tail,
    pub(super) places: Vec<(Operand, Place)>,
}

impl Pass<'_, '_> {
    pub(super) fn is_long_array(&self, ty: Id) -> bool {
        self.index.opcode(ty) == op::TypeArray && self.layout(ty).is_none()
    }

    /// Sends the first elements of a long array.
    pub(super) fn send_first_elements(
        &mut self,
        sender: &mut Sender<'_, '_, '_>,
        (array, ty): (Id, Id),
    ) -> Option<Place> {
        let element_type = self.index.part_type(ty, 0);
        let element = self.layout(element_type)?;
        let (layout, offset) = self.take_room(sender, array_layout(element.clone(), FIRST_ELEMENTS))?;
        let pointer_type = self.out.pointer(storage_class::Function, element_type);
        for number in 0..FIRST_ELEMENTS {
            let index = self.out.constant(number);
            let pointer = self.out.emit(op::AccessChain, pointer_type, (array, index));
            let value = self.out.emit(op::Load, element_type, pointer);
            let at = offset + number * stride(&element);
            sender
                .tail
                .push(self.index, &mut self.out, &element, (element_type, value), at);
        }
        Some(Place { offset, ty: layout })
    }

    /// Sends a part of a variable: a load of it whose value still holds, or one in the abort's block.
    pub(super) fn send_memory(
        &mut self,
        sender: &mut Sender<'_, '_, '_>,
        block: BlockIndex,
        (variable, ty): (Id, Id),
        path: &[u32],
    ) -> Option<Place> {
        let index = self.index;
        if path.is_empty()
            && let Some(id) = current_load(sender.flow, block, variable)
        {
            let joins = SmallVec::new();
            return self.send(sender, &Operand { id, joins });
        }
        let of_part = path.iter().fold(ty, |ty, number| index.part_type(ty, *number));
        let (layout, offset) = self.reserve(sender, of_part)?;
        let mut pointer = variable;
        if !path.is_empty() {
            let pointer_type = self.out.pointer(storage_class::Function, of_part);
            let path: Vec<Id> = path.iter().map(|number| self.out.constant(*number)).collect();
            pointer = self
                .out
                .emit(op::AccessChain, pointer_type, (variable, path.as_slice()));
        }
        let value = self.out.emit(op::Load, of_part, pointer);
        sender
            .tail
            .push(index, &mut self.out, &layout, (of_part, value), offset);
        let ty = layout;
        Some(Place { offset, ty })
    }

    /// Sends a value, unless there is no room for it.
    pub(super) fn send(&mut self, sender: &mut Sender<'_, '_, '_>, operand: &Operand) -> Option<Place> {
        let index = self.index;
        if let Some((_, place)) = sender.places.iter().find(|(other, _)| other == operand) {
            return Some(place.clone());
        }
        let ty = index.type_of(operand.id);
        let layout = self.layout(ty)?;
        if operand.joins.is_empty()
            && let Some(place) = sender.parts.find(sender.flow, operand.id, &layout)
        {
            return Some(place);
        }
        // Nothing but a store may use it.
        if index.decoration(operand.id, decoration::FPRoundingMode).is_some() {
            return None;
        }
        let (layout, offset) = self.take_room(sender, layout)?;
        let value = self.joined(sender.flow, operand);
        sender.tail.push(index, &mut self.out, &layout, (ty, value), offset);
        let place = Place { offset, ty: layout };
        sender.places.push((operand.clone(), place.clone()));
        Some(place)
    }

    /// The layout of a value of a type. `None` if it is too large, or if a message cannot contain it: values of a type that the module
    /// only stores are converted before they are used.
    fn layout(&self, ty: Id) -> Option<Type> {
        if self.index.is_storage_only(ty) {
            return None;
        }
        let name = |ty, member| self.expressions.names.member(self.index, ty, member);
        natural_layout(self.index, &name, ty, self.options.values_size)
    }

    /// The layout of a value of a type, and its offset. `None` if there is no room.
    fn reserve(&mut self, sender: &mut Sender<'_, '_, '_>, ty: Id) -> Option<(Type, u32)> {
        let layout = self.layout(ty)?;
        self.take_room(sender, layout)
    }

    fn take_room(&mut self, sender: &mut Sender<'_, '_, '_>, layout: Type) -> Option<(Type, u32)> {
        let words = message::words(&layout, &mut true);
        let free = match sender.free_words {
            Some(free) => Some(free.checked_sub(words)?),
            None => None,
        };
        let offset = sender.tail.reserve(&layout)?;
        sender.free_words = free;
        Some((layout, offset))
    }

    /// The id of a value at the abort: the last of its phis, which are added.
    fn joined(&mut self, flow: &FunctionView<'_, '_>, operand: &Operand) -> Id {
        let (ty, mut id) = (self.index.type_of(operand.id), operand.id);
        for Join { block, through, around } in &operand.joins {
            let Some(block) = flow
                .block_of_label(*block)
                .and_then(|block| self.index.blocks.get(block))
            else {
                continue;
            };
            let nothing = self.out.null(ty);
            let phi = self.out.fresh();
            let mut code = Code::default();
            code.op(op::Phi, (ty, phi, [(id, *through), (nothing, *around)].as_slice()));
            self.edits.insert(after_phis(self.index, block), &code);
            id = phi;
        }
        id
    }
}

/// The last load that has read the value of a variable at the abort at the end of a block.
fn current_load(flow: &FunctionView<'_, '_>, block: BlockIndex, variable: Id) -> Option<Id> {
    let object = flow.accesses.place(variable)?.object;
    let end = flow.index.blocks.get(block)?.terminator;
    let held: Vec<DefIndex> = flow.definitions_or_entry(object, &[], block, end)?;
    let reads = flow.memory.uses(*held.first()?).filter_map(|by| match by {
        MemoryUse::Read(by) => Some(by),
        _ => None,
    });
    let loads = reads.filter_map(|by| {
        let access = flow.accesses.accesses.get(by)?;
        let is_whole = access.place.is_exact && access.place.path.is_empty();
        let is_current = || flow.memory.read(by).eq(held.iter().copied());
        match access.kind {
            AccessKind::Load(value) if is_whole && is_current() && flow.reaches(value, block) => Some((by, value)),
            _ => None,
        }
    });
    loads.max_by_key(|(by, _)| *by).map(|(_, value)| value)
}
