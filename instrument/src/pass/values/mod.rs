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
//! is computed again for a condition. A deferred message stays deferred: what would not fit in its registers is left out first.
//! Messages with specialised lengths have no values, nor have those that would exceed the largest message with them.

mod condition;
mod function;
mod message;
mod names;
mod predicate;
mod tail;

use crate::analysis::index::names::Names;
use crate::analysis::index::typed::Node;
use crate::analysis::index::{Block, Index};
use crate::analysis::message_layout::{Layouts, is_constant_size};
use crate::edit::Edits;
use crate::edit::abort_values::{AbortValues, ValuesOfAbort};
use crate::edit::emitter::Emitter;
use crate::edit::loop_header::after_phis;
use crate::edit::planted::Planted;
use crate::error::Result;
use crate::options::Options;
use crate::spv::{Code, Id, op};
use condition::deciding_edge;
use function::FunctionFlow;
use message::MessageParts;
use names::ValueNames;
use predicate::{Join, Operand, Piece, Predicate, Writer};
use tail::{Tail, TailTypes, natural_layout};
use vkabort_record::layout::{MAX_VALUE_UNITS, UNIT_BYTES};
use vkabort_record::site_values::{Condition, Part, Place, SiteValues, Variable};

/// Adds values to the aborts of a module.
///
/// # Errors
///
/// Those of [`Layouts::message`].
pub(crate) fn add_values(index: &Index<'_>, options: &Options, planted: &Planted) -> Result<(Edits, AbortValues)> {
    let names = Names::new(index);
    let mut pass = Pass {
        index,
        options,
        planted,
        layouts: Layouts::new(index, &names, options),
        names: ValueNames::new(index, &names),
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
        for (number, block) in index.blocks_of(function).iter().enumerate() {
            let node = Node::from_usize(number);
            if has_abort(block) && flow.dominators.is_reachable(node) {
                pass.add_to(&flow, node, block)?;
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
    names: ValueNames<'a, 'w>,
    out: Emitter,
    types: TailTypes,
    edits: Edits,
    found: AbortValues,
}

impl Pass<'_, '_> {
    /// Adds values to the abort that ends `block`.
    fn add_to(&mut self, flow: &FunctionFlow<'_, '_>, node: Node, block: &Block) -> Result<()> {
        let abort = self.index.terminator(block);
        let layout = self.layouts.message(&abort)?;
        if !is_constant_size(&layout) {
            return Ok(());
        }
        let parts = MessageParts::new(self.index, &layout, abort.message());
        let room = self.options.values_size.min(MAX_VALUE_UNITS * UNIT_BYTES);
        let mut sender = Sender {
            flow,
            free_words: parts.free_words(),
            parts,
            tail: Tail::new(layout.size(), room, self.options.max_message_bytes),
            places: Vec::new(),
        };
        let mut values = SiteValues::default();
        // The message of a planted check has the values of its own condition.
        if self.planted.check_of(abort.message()).is_none()
            && let Some(edge) = deciding_edge(flow, node)
            && let Some(predicate) = Writer::new(flow, &self.names).write(&edge)
        {
            values.condition = Some(self.send_condition(&mut sender, predicate));
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

    /// Sends a value of scalars and vectors, unless there is no room for it.
    fn send(&mut self, sender: &mut Sender<'_, '_, '_>, operand: &Operand) -> Option<Place> {
        let index = self.index;
        let name = |ty, member| self.names.names.member(index, ty, member);
        let ty = natural_layout(index, &name, index.type_of(operand.id), self.options.values_size)?;
        if operand.joins.is_empty()
            && let Some(offset) = sender.parts.find(sender.flow, operand.id)
        {
            return Some(Place { offset, ty });
        }
        if let Some((_, place)) = sender.places.iter().find(|(other, _)| other == operand) {
            return Some(place.clone());
        }
        let words = message::words(&ty, &mut true);
        let free = sender.free_words.map(|free| free.checked_sub(words));
        if free == Some(None) {
            return None;
        }
        let offset = sender.tail.reserve(&ty)?;
        sender.free_words = free.flatten();
        let value = self.joined(sender.flow, operand);
        sender
            .tail
            .push(index, &mut self.out, &ty, (index.type_of(operand.id), value), offset);
        let place = Place { offset, ty };
        sender.places.push((operand.clone(), place.clone()));
        Some(place)
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
    /// Words that may be added to a deferred message. `None`: the message is written in place.
    free_words: Option<u32>,
    tail: Tail,
    places: Vec<(Operand, Place)>,
}
