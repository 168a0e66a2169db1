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
//! is computed again for a condition. Unless [`Values::On`] asks for all of them, a deferred message stays deferred: values that do not fit
//! in its registers are left out first.
//! Messages with specialised lengths have no values, nor have those that would exceed the largest message with them.

mod candidate;
mod condition;
mod liveness;
mod message;
mod names;
mod predicate;
mod resolver;
mod send;
mod source_scopes;
mod stores;
mod tail;
mod undefined;
mod undescribed;
mod variables;

use candidate::{Candidate, Source};
use condition::deciding_edge;
use message::MessageParts;
use predicate::{Operand, Piece, Predicate, Writer};
use send::{FIRST_ELEMENTS, Pass, Sender};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::iter;
use stores::Parameters;
use tail::{Tail, TailTypes, holds_only_scalars};
use variables::Variables;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::message_layout::{Layouts, is_constant_size};
use vkabort_analysis::view::{FunctionView, ModuleView};
use vkabort_options::{Options, Values};
use vkabort_record::layout::{MAX_VALUE_UNITS, UNIT_BYTES};
use vkabort_record::site_values::{Condition, Part, SiteValues, Variable};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_values::{AbortValues, ValuesOfAbort};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::error::Result;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::op;

/// Blocks of planted tests that follow each other at most.
const MAX_TESTS: usize = 16;

/// Adds values to the aborts of a module.
///
/// # Errors
///
/// Those of [`Layouts::message`].
pub fn add_values(index: &Index<'_>, options: &Options, planted: &PlantedAborts) -> Result<(Edits, AbortValues)> {
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
    let view = ModuleView::for_any_point(index);
    let mut parameters = Parameters::default();
    let mut texts = Texts::default();
    for (number, function) in index.functions.iter() {
        let has_abort = |block: &Block| index.terminator(block).opcode() == op::AbortKHR;
        if !index.blocks_of(function).iter().any(has_abort) {
            continue;
        }
        let Some(flow) = view.function(number) else { continue };
        let variables = OnceCell::new();
        for (at, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            if has_abort(block) && flow.graph.is_reachable(at) {
                let variables =
                    || variables.get_or_init(|| Variables::new(&view, flow, &expressions, &mut parameters, &mut texts));
                pass.add_to(flow, variables, at, block)?;
            }
        }
    }
    let Pass {
        out,
        mut edits,
        mut found,
        ..
    } = pass;
    let given_up = view.given_up().into_iter();
    found.warnings = given_up.map(|text| format!("values are left out: {text}")).collect();
    if !edits.is_empty() {
        out.finish(index, &mut edits);
    }
    Ok((edits, found))
}

impl<'w> Pass<'_, 'w> {
    /// Adds values to the abort that ends `block`.
    fn add_to<'v>(
        &mut self,
        flow: &FunctionView<'_, '_>,
        variables: impl FnOnce() -> &'v Variables,
        at: BlockIndex,
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
            // `values = on` forces the record to be written at the abort site.
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
        let planted = self.planted.aborts.get(&abort.message());
        if planted.is_none()
            && let Some(edge) = deciding_edge(flow, at)
            && let Some(predicate) = Writer::new(flow, self.expressions).write(&edge)
        {
            values.condition = Some(self.send_condition(&mut sender, predicate));
        }
        // Variables are shown as they are at the effect of a fault, and otherwise as the operation of a check has seen them.
        let is_elsewhere = planted.is_some_and(|planted| planted.used_in.is_some());
        let position = match is_elsewhere {
            true => self.position_in_front(flow, at),
            false => self.index.position(block, abort.offset),
        };
        if self.options.values == Values::On || position.has_line() {
            let operation = planted.filter(|_| !is_elsewhere).and_then(|planted| {
                let offset = self.index.def(planted.operation?)?.offset;
                Some((flow.block_at(offset)?, offset))
            });
            let (candidates, more) = variables().at(flow, self.expressions, &position, at, operation);
            self.send_variables(&mut sender, at, candidates, &mut values);
            values.left_out += u32::try_from(more).unwrap_or(u32::MAX);
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

    /// The position in force in front of the test that leads to a block. The test itself has none.
    fn position_in_front(&self, flow: &FunctionView<'_, '_>, block: BlockIndex) -> Position<'w> {
        let blocks = iter::successors(flow.graph.immediate_dominator(block), |at| {
            flow.graph.immediate_dominator(*at)
        });
        let blocks = blocks.take(MAX_TESTS).filter_map(|at| self.index.blocks.get(at));
        let mut positions = blocks.map(|block| self.index.position(block, block.terminator));
        positions.find(Position::has_line).unwrap_or_default()
    }

    fn send_condition(&mut self, sender: &mut Sender<'_, '_, '_>, predicate: Predicate) -> Condition {
        let mut text: Vec<Part> = Vec::new();
        for piece in predicate.pieces {
            let part = match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Boolean(value) => Part::Text(value.to_string()),
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
        block: BlockIndex,
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
}
