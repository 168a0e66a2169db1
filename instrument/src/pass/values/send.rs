//! Sends values behind a message: those that it holds already, values that reach the abort by way of phis, and memory.

use super::function::FunctionFlow;
use super::message::{self, MessageParts, is_quiet};
use super::predicate::{Join, Operand};
use super::tail::{Tail, TailTypes, array_layout, natural_layout, stride};
use crate::analysis::expressions::Expressions;
use crate::analysis::index::{Block, Index};
use crate::analysis::message_layout::Layouts;
use crate::edit::Edits;
use crate::edit::abort_values::AbortValues;
use crate::edit::emitter::Emitter;
use crate::edit::loop_header::after_phis;
use crate::edit::planted::Planted;
use crate::options::Options;
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Code, Id, Inst, op};
use smallvec::SmallVec;
use vkabort_record::message_type::Type;
use vkabort_record::site_values::Place;

/// Elements of a long array that are sent.
pub(super) const FIRST_ELEMENTS: u32 = 4;

/// A module whose aborts get values.
pub(super) struct Pass<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) options: &'a Options,
    pub(super) planted: &'a Planted,
    pub(super) layouts: Layouts<'a, 'w>,
    pub(super) expressions: &'a Expressions<'a, 'w>,
    pub(super) out: Emitter,
    pub(super) types: TailTypes,
    pub(super) edits: Edits,
    pub(super) found: AbortValues,
}

/// The values of one abort being sent.
pub(super) struct Sender<'a, 'f, 'w> {
    pub(super) flow: &'a FunctionFlow<'f, 'w>,
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
        block: &Block,
        (variable, ty): (Id, Id),
        path: &[u32],
    ) -> Option<Place> {
        let (index, flow) = (self.index, sender.flow);
        let is_current = |load: &Inst<'_>| {
            load.opcode() == op::Load && load.pointer() == variable && is_quiet(flow, load.offset, block.terminator)
        };
        let mut node = flow.node_of_label(block.label)?;
        while path.is_empty() {
            let block = flow.block(node)?;
            let loads = index.body(block).filter(is_current);
            if let Some(load) = loads.last() {
                let (id, joins) = (load.result(), SmallVec::new());
                return self.send(sender, &Operand { id, joins });
            }
            match flow.only_predecessor(node) {
                Some(before) if before < node => node = before,
                _ => break,
            }
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
        if operand.joins.is_empty()
            && let Some(offset) = sender.parts.find(sender.flow, operand.id)
        {
            let ty = self.layout(ty)?;
            return Some(Place { offset, ty });
        }
        // Nothing but a store may use it.
        if index.decoration(operand.id, decoration::FPRoundingMode).is_some() {
            return None;
        }
        let (layout, offset) = self.reserve(sender, ty)?;
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
    fn joined(&mut self, flow: &FunctionFlow<'_, '_>, operand: &Operand) -> Id {
        let (ty, mut id) = (self.index.type_of(operand.id), operand.id);
        for Join { block, through, around } in &operand.joins {
            let Some(block) = flow.node_of_label(*block).and_then(|node| flow.block(node)) else {
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
