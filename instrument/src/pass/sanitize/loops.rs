//! Loops that do not end: the header of each loop counts a private variable down and aborts when it is 0.
//!
//! ```text
//! %vkabort_loop_budget = Variable Private %budget
//!
//! %n = Load %vkabort_loop_budget
//! %left = ISub %n 1, Store %vkabort_loop_budget %left
//! %failed = IEqual %n 0
//! ```
//!
//! Mesa since 24.2 peels iterations off a loop as long as its first exit is decided by constants. Where those of the loop itself
//! are, it would alternate between them and the check, and peel all iterations of the budget, which takes hours. So there the check
//! compares with a 0 that compilers do not know, computed from an input of the shader where the function begins:
//!
//! ```text
//! %value = Load %input
//! %next = IAdd %value 1, %product = IMul %value %next, %zero = BitwiseAnd %product 1        one factor is even
//! ..
//! %failed = IEqual %n %zero
//! ```
//!
//! A shader without inputs of 32-bit numbers compares with the constant there too.
//!
//! One budget serves all loops of an invocation, so that nested loops end too. Loops that provably end soon are left alone
//! (`analysis::trip_count`).

use super::message::Message;
use super::place::Place;
use super::planter::Planter;
use crate::analysis::constant_exits::ConstantExits;
use crate::analysis::index::debug::Position;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::loop_nest::Loop;
use crate::analysis::trip_count::TripCounts;
use crate::edit::loop_header::after_phis;
use crate::sanitize::Check;
use crate::spv::{Id, Inst, Literal, op};
use vkabort_record::site::Location;

/// Most loops around a loop that its message names.
const MAX_AROUND: usize = 4;

/// Plants the check into the loops of a function.
pub(super) fn plant(planter: &mut Planter<'_, '_, '_>) {
    let nest = planter.nest.clone();
    if nest.loops().is_empty() {
        return;
    }
    let mut trip_counts = TripCounts::new(planter.index, planter.function, &nest);
    let mut exits = ConstantExits::new(planter.index, planter.function);
    let mut zero = None;
    let endless: Vec<&Loop> = nest.loops().iter().filter(|l| !trip_counts.is_short(l)).collect();
    for l in endless {
        let Some(header) = planter.index.blocks.get(l.header) else {
            continue;
        };
        let Some(guarded) = planter.index.merge(header) else {
            continue;
        };
        let position = position_of(planter, l);
        if !planter.selects(&position) {
            continue;
        }
        let input = exits.has(l).then(|| exits.input()).flatten();
        let hidden_zero = input.map(|input| *zero.get_or_insert_with(|| hide_zero(planter, input)));
        let budget = planter.options().sanitize.loop_budget;
        let mut message = Message::new("loop does not end: %u iterations");
        let around: Vec<&Loop> = nest.around(l).take(MAX_AROUND).collect();
        message.push_literal(&describe_around(planter, &guarded, &position, &around));
        let out = planter.out();
        let message = message.with_constant(out.uint(), out.constant(budget));
        let counter = planter.counter();
        let place = Place {
            block: l.header,
            offset: after_phis(planter.index, header),
            guarded,
            position,
        };
        planter.plant(Check::Loops, &place, message, |out| {
            let (uint, bool) = (out.uint(), out.bool());
            let (one, zero) = (out.constant(1), out.constant(0));
            let left = out.emit(op::Load, uint, counter);
            let less = out.emit(op::ISub, uint, (left, one));
            out.op(op::Store, (counter, less));
            let end = hidden_zero.unwrap_or(zero);
            out.emit(op::IEqual, bool, (left, end))
        });
    }
}

/// Computes a 0 at the start of the function, from an input variable with this pointee.
fn hide_zero(planter: &mut Planter<'_, '_, '_>, (variable, pointee): (Id, Id)) -> Id {
    let index = planter.index;
    let is_vector = index.opcode(pointee) == op::TypeVector;
    let blocks = index.blocks_of(planter.function);
    let start = blocks.first().map_or(0, |first| {
        let variables = index.insts(first.offset, first.end);
        let variables = variables.filter(|inst| inst.opcode() == op::Variable);
        variables.map(|inst| inst.end()).last().unwrap_or(first.offset + 2)
    });
    planter.insert(start, |out| {
        let (uint, one) = (out.uint(), out.constant(1));
        let mut value = out.emit(op::Load, pointee, variable);
        let mut ty = pointee;
        if is_vector {
            ty = index.part_type(pointee, 0);
            value = out.emit(op::CompositeExtract, ty, (value, Literal(0)));
        }
        if ty != uint {
            value = out.calculate(op::Bitcast, value);
        }
        let next = out.calculate(op::IAdd, (value, one));
        let product = out.calculate(op::IMul, (value, next));
        out.calculate(op::BitwiseAnd, (product, one))
    })
}

/// The loops around a loop, and the loop itself if it has no position in the source.
fn describe_around(
    planter: &mut Planter<'_, '_, '_>,
    guarded: &Inst<'_>,
    position: &Position<'_>,
    around: &[&Loop],
) -> String {
    let mut text = String::new();
    let own = planter.location(position);
    if own.is_none() {
        text = format!(" (OpLoopMerge {} {})", guarded.merge_block(), guarded.continue_target());
    }
    let names: Vec<String> = around.iter().map(|l| name(planter, l)).collect();
    if !names.is_empty() {
        text += &format!(", inside {}", names.join(" inside "));
    }
    text
}

fn name(planter: &mut Planter<'_, '_, '_>, l: &Loop) -> String {
    let position = position_of(planter, l);
    match planter.location(&position) {
        Some(at) => format!("the loop at {}:{}", at.file, at.line),
        None => format!("the loop {}", planter.label(l.header)),
    }
}

/// The position in the source of a loop: that of its header, else of the statement in front of it if that is the loop, as Slang
/// describes it, else of its first block that has one.
fn position_of<'w>(planter: &mut Planter<'_, '_, 'w>, l: &Loop) -> Position<'w> {
    let index = planter.index;
    let of_block = |number: BlockIndex| {
        let block = index.blocks.get(number)?;
        let end = if block.merge != 0 {
            block.merge
        } else {
            block.terminator
        };
        let position = index.position(block, end);
        position.has_line().then_some(position)
    };
    if let Some(position) = of_block(l.header) {
        return position;
    }
    let blocks = planter.function.blocks;
    let before = blocks
        .offset_of(l.header)
        .and_then(|offset| blocks.at(offset.checked_sub(1)?));
    let header = index.blocks.get(l.header).map(|header| header.label);
    let enters = |number: &BlockIndex| {
        let block = index.blocks.get(*number);
        header
            .zip(block)
            .is_some_and(|(header, block)| index.successors(block).contains(&header))
    };
    if let Some(position) = before.filter(enters).and_then(of_block)
        && planter.location(&position).is_some_and(|location| is_loop(&location))
    {
        return position;
    }
    l.blocks.iter().find_map(|number| of_block(*number)).unwrap_or_default()
}

/// Whether a statement that begins with the keyword of a loop is at a location.
fn is_loop(location: &Location) -> bool {
    let before = (location.column as usize).checked_sub(1);
    let mut rest = location
        .source
        .iter()
        .zip(before)
        .map(|(source, before)| source.chars().skip(before).collect::<String>());
    rest.any(|rest| {
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        matches!(word, Some("for" | "while" | "do"))
    })
}
