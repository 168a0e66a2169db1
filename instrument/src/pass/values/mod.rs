//! Sends the values behind an abort with its message: the condition that led to it, and variables in scope.
//!
//! ```text
//! %c = UGreaterThanEqual %bool %index %count
//! BranchConditional %c %fail %go
//! %fail: AbortKHR %type %message
//!
//! becomes, unless %message holds %index and %count already
//!
//! %fail:
//! %whole = CompositeConstruct %whole_type %message %index %count
//! AbortKHR %whole_type %whole
//! ```
//!
//! The later passes carry the values as a part of the message; the record's SIZE, the site's message and so the application do
//! not know of them (`vkabort_record::layout`). Only values that are defined wherever the abort is reached are sent, and nothing
//! is computed again for a condition. Unless [`Values::On`] asks for all of them, a deferred message stays deferred: what would not fit
//! in its registers is left out first.
//! Messages with specialised lengths have no values, nor have those that would exceed the largest message with them.

mod condition;
mod debug_values;
mod function;
mod message;
mod predicate;
mod stores;
mod tail;
mod variables;

use crate::analysis::expressions::Expressions;
use crate::analysis::index::typed::Node;
use crate::analysis::index::{Block, Index};
use crate::analysis::message_layout::{Layouts, is_constant_size};
use crate::edit::Edits;
use crate::edit::abort_values::{AbortValues, ValuesOfAbort};
use crate::edit::emitter::Emitter;
use crate::edit::loop_header::after_phis;
use crate::edit::planted::Planted;
use crate::error::Result;
use crate::options::{Options, Values};
use crate::spv::op::{decoration, storage_class};
use crate::spv::{Code, Id, Inst, op};
use condition::deciding_edge;
use function::FunctionFlow;
use message::{MessageParts, is_quiet};
use predicate::{Join, Operand, Piece, Predicate, Writer};
use smallvec::SmallVec;
use tail::{Tail, TailTypes, array_layout, holds_only_scalars, natural_layout, stride};
use variables::{Candidate, Source, Variables};
use vkabort_record::layout::{MAX_VALUE_UNITS, UNIT_BYTES};
use vkabort_record::message_type::Type;
use vkabort_record::site_values::{Condition, Part, Place, SiteValues, Variable};

/// Elements of a long array that are sent.
const FIRST_ELEMENTS: u32 = 4;

/// Adds values to the aborts of a module.
///
/// # Errors
///
/// Those of [`Layouts::message`].
pub(crate) fn add_values(index: &Index<'_>, options: &Options, planted: &Planted) -> Result<(Edits, AbortValues)> {
    let expressions = Expressions::new(index);
    let mut pass = Pass {
        index,
        options,
        planted,
        layouts: Layouts::new(index, &expressions.names, options),
        expressions: &expressions,
        out: Emitter::new(index),
        types: TailTypes::default(),
        edits: Edits::default(),
        found: AbortValues::default(),
    };
    for function in index.functions.values() {
        let has_abort = |block: &Block| index.terminator(block).opcode() == op::AbortKHR;
        if !index.blocks_of(function).iter().any(has_abort) {
            continue;
        }
        let flow = FunctionFlow::new(index, function);
        let mut variables = None;
        for (number, block) in index.blocks_of(function).iter().enumerate() {
            let node = Node::from_usize(number);
            if has_abort(block) && flow.dominators.is_reachable(node) {
                pass.add_to(&flow, &mut variables, node, block)?;
            }
        }
    }
    let Pass {
        out, mut edits, found, ..
    } = pass;
    if !edits.is_empty() {
        out.finish(index, &mut edits);
    }
    Ok((edits, found))
}

/// A module whose aborts get values.
struct Pass<'a, 'w> {
    index: &'a Index<'w>,
    options: &'a Options,
    planted: &'a Planted,
    layouts: Layouts<'a, 'w>,
    expressions: &'a Expressions<'a, 'w>,
    out: Emitter,
    types: TailTypes,
    edits: Edits,
    found: AbortValues,
}

impl Pass<'_, '_> {
    /// Adds values to the abort that ends `block`.
    fn add_to(
        &mut self,
        flow: &FunctionFlow<'_, '_>,
        variables: &mut Option<Variables>,
        node: Node,
        block: &Block,
    ) -> Result<()> {
        let abort = self.index.terminator(block);
        let layout = self.layouts.message(&abort)?;
        if !is_constant_size(&layout) {
            return Ok(());
        }
        let parts = MessageParts::new(self.index, &layout, abort.message());
        let room = self.options.values_size.min(MAX_VALUE_UNITS * UNIT_BYTES);
        let mut sender = Sender {
            flow,
            // Who asks for variables gets them at the price of a record that is written at its site.
            free_words: match self.options.values {
                Values::On => None,
                Values::Auto | Values::Off => parts.free_words(),
            },
            parts,
            tail: Tail::new(layout.size(), room, self.options.max_message_bytes),
            places: Vec::new(),
        };
        let mut values = SiteValues::default();
        // The message of a planted check has the values of its own condition.
        if self.planted.check_of(abort.message()).is_none()
            && let Some(edge) = deciding_edge(flow, node)
            && let Some(predicate) = Writer::new(flow, self.expressions).write(&edge)
        {
            values.condition = Some(self.send_condition(&mut sender, predicate));
        }
        let position = self.index.position(block, abort.offset);
        if self.options.values == Values::On || position.has_line() {
            let variables = variables.get_or_insert_with(|| Variables::new(flow, self.expressions));
            let candidates = variables.at(flow, self.expressions, &position, node);
            self.send_variables(&mut sender, block, candidates, &mut values);
        }
        let has_tail = !sender.tail.is_empty();
        if has_tail {
            self.types.write_abort(self.index, &mut self.out, &abort, &sender.tail);
            self.out.place(|code| self.edits.replace_inst(&abort, code));
        }
        if !values.is_empty() {
            let of_abort = ValuesOfAbort {
                message: abort.message(),
                has_tail,
                values,
            };
            self.found.insert(block, of_abort);
        }
        Ok(())
    }

    fn send_condition(&mut self, sender: &mut Sender<'_, '_, '_>, predicate: Predicate) -> Condition {
        let mut text: Vec<Part> = Vec::new();
        for piece in predicate.pieces {
            let part = match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Value(operand) => match self.send(sender, &operand) {
                    Some(place) => Part::Value(place),
                    None => Part::Text("..".to_owned()),
                },
            };
            match (text.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(more)) => before.push_str(&more),
                (_, part) => text.push(part),
            }
        }
        let operands = predicate.operands.into_iter().filter_map(|(name, operand)| {
            let place = Some(self.send(sender, &operand)?);
            Some(Variable { name, place })
        });
        let operands = operands.collect();
        Condition { text, operands }
    }

    /// Sends variables as far as there is room, and counts the others.
    fn send_variables(
        &mut self,
        sender: &mut Sender<'_, '_, '_>,
        block: &Block,
        candidates: Vec<Candidate>,
        values: &mut SiteValues,
    ) {
        let operands = values.condition.iter().flat_map(|condition| &condition.operands);
        let shown: Vec<String> = operands.map(|operand| operand.name.clone()).collect();
        for Candidate { mut name, source, .. } in candidates {
            if shown.contains(&name) {
                continue;
            }
            let place = match source {
                Source::Lost => {
                    values.variables.push(Variable { name, place: None });
                    continue;
                }
                // Images and the like have no value to show.
                Source::Value(id) if !holds_only_scalars(self.index, self.index.type_of(id)) => continue,
                Source::Memory { ty, .. } if !holds_only_scalars(self.index, ty) => continue,
                Source::Value(id) => {
                    let joins = SmallVec::new();
                    self.send(sender, &Operand { id, joins })
                }
                Source::Memory { variable, ty, path } if path.is_empty() && self.is_long_array(ty) => {
                    name += &format!("[..{FIRST_ELEMENTS}]");
                    self.send_first_elements(sender, (variable, ty))
                }
                Source::Memory { variable, ty, path } => self.send_memory(sender, block, (variable, ty), &path),
            };
            match place {
                Some(place) => values.variables.push(Variable {
                    name,
                    place: Some(place),
                }),
                None => values.left_out += 1,
            }
        }
    }

    fn is_long_array(&self, ty: Id) -> bool {
        self.index.opcode(ty) == op::TypeArray && self.layout(ty).is_none()
    }

    /// Sends the first elements of a long array.
    fn send_first_elements(&mut self, sender: &mut Sender<'_, '_, '_>, (array, ty): (Id, Id)) -> Option<Place> {
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
    fn send_memory(
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
    fn send(&mut self, sender: &mut Sender<'_, '_, '_>, operand: &Operand) -> Option<Place> {
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

    fn layout(&self, ty: Id) -> Option<Type> {
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

/// The values of one abort being sent.
struct Sender<'a, 'f, 'w> {
    flow: &'a FunctionFlow<'f, 'w>,
    parts: MessageParts,
    /// Words that may be added so that the message stays deferred. `None`: as many as there is room for.
    free_words: Option<u32>,
    tail: Tail,
    places: Vec<(Operand, Place)>,
}
