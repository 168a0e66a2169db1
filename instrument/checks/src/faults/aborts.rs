//! The aborts of a test of faults: one for each operation that may have the fault, which can show its operands, or one for all of them.
//!
//! Without `Sanitize::numbers_faults`, each operation has an abort of its own.

use super::Faulty;
use super::origin::Found;
use super::plant::FaultWriter;
use crate::message::Message;
use crate::place::Place;
use crate::scalars::quote;
use std::ops::Range;
use std::rc::Rc;
use vkabort_analysis::effects::EffectPoint;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};

/// Most operations that have an abort of their own at a test, which can show their operands. If there are more, one abort names the fault
/// by its number: the code of a test does not grow with the number of operations.
const MOST_SEPARATE: usize = 3;

/// An abort: the position of the operation in the list of all, and whether its operands can be shown.
pub(super) type Abort = (usize, bool);

/// The operations of which one has the fault of a test.
pub(super) struct Alternatives {
    pub(super) aborts: Vec<Abort>,
    /// Operations whose faults are tested elsewhere.
    pub(super) elsewhere: Vec<Abort>,
    /// Whether the fault may be that of further operations.
    pub(super) has_more: bool,
}

impl Alternatives {
    /// Whether one abort names the fault by its number.
    fn are_numbered(&self, writer: &FaultWriter<'_, '_, '_, '_>) -> bool {
        let is_on = writer.planter.options().sanitize.numbers_faults;
        is_on && (self.aborts.len() > MOST_SEPARATE || self.has_more)
    }

    /// The number of their aborts.
    pub(super) fn count(&self, writer: &FaultWriter<'_, '_, '_, '_>) -> usize {
        match self.are_numbered(writer) {
            true => 1,
            false => self.aborts.len(),
        }
    }
}

/// The numbers of the faults of operations, ascending, without gaps between ranges that follow each other.
pub(super) fn numbers(writer: &FaultWriter<'_, '_, '_, '_>, aborts: &[Abort]) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = aborts.iter().map(|(at, _)| writer.faults.numbers_of(*at)).collect();
    all.sort_by_key(|range| range.start);
    all.dedup_by(|next, before| {
        let follows = next.start <= before.end;
        if follows {
            before.end = before.end.max(next.end);
        }
        follows
    });
    all
}

/// Writes whether a fault has one of some numbers.
pub(super) fn write_is_one_of(out: &mut Emitter, fault: Id, numbers: &[Range<u32>]) -> Id {
    let bool = out.bool();
    let mut is_any = None;
    for range in numbers {
        let [first, count] = [range.start, range.end - range.start].map(|number| out.constant(number));
        let is_one = match range.len() {
            1 => out.emit(op::IEqual, bool, (fault, first)),
            _ => {
                let part = out.calculate(op::ISub, (fault, first));
                out.emit(op::ULessThan, bool, (part, count))
            }
        };
        is_any = Some(match is_any {
            None => is_one,
            Some(other) => out.emit(op::LogicalOr, bool, (other, is_one)),
        });
    }
    is_any.unwrap_or_else(|| out.value(op::ConstantFalse, bool, ()))
}

/// Plants the aborts of a test.
pub(super) fn plant_aborts(
    writer: &mut FaultWriter<'_, '_, '_, '_>,
    at: (&EffectPoint, Option<&EffectPoint>),
    fault: Id,
    alternatives: &Alternatives,
) {
    if alternatives.are_numbered(writer) {
        plant_numbered(writer, at, fault, alternatives);
        return;
    }
    for (operation, is_direct) in &alternatives.aborts {
        plant_abort(writer, at, (fault, *operation, *is_direct));
    }
}

/// Plants an abort whose message ends with the number of the fault.
fn plant_numbered(
    writer: &mut FaultWriter<'_, '_, '_, '_>,
    (point, effect): (&EffectPoint, Option<&EffectPoint>),
    fault: Id,
    Alternatives { aborts, elsewhere, .. }: &Alternatives,
) {
    let Some((first, _)) = aborts.first().or(elsewhere.first()) else {
        return;
    };
    let elsewhere = numbers(writer, elsewhere);
    let Some(Faulty {
        inst,
        check,
        position,
        class,
        ..
    }) = writer.faults.all.get(*first)
    else {
        return;
    };
    let (inst, check, position) = (*inst, *check, *position);
    writer.faults.numbered.insert(*class);
    let planter = &mut *writer.planter;
    let effect = effect.map(|effect| planter.position(effect.block, effect.offset));
    let place = Place {
        is_of_fault: true,
        names_fault: true,
        effect,
        ..Place::of_point(point, inst, position)
    };
    let write_condition = |out: &mut Emitter| {
        let (bool, none) = (out.bool(), out.constant(0));
        let is_faulty = out.emit(op::INotEqual, bool, (fault, none));
        if elsewhere.is_empty() {
            return (is_faulty, ());
        }
        let is_elsewhere = write_is_one_of(out, fault, &elsewhere);
        let is_here = out.emit(op::LogicalNot, bool, is_elsewhere);
        (out.emit(op::LogicalAnd, bool, (is_faulty, is_here)), ())
    };
    planter.plant_with(check, &place, write_condition, |out, ()| {
        Message::new("a faulty value is used: fault %u").with(out.uint(), fault)
    });
}

/// Plants the abort of an operation, which is taken if a fault is one of its own. `effect`: the effect of the fault, if there is one only.
fn plant_abort(
    writer: &mut FaultWriter<'_, '_, '_, '_>,
    (point, effect): (&EffectPoint, Option<&EffectPoint>),
    (fault, at, is_direct): (Id, usize, bool),
) {
    let first = writer.faults.number(at);
    let Some(Faulty {
        inst,
        check,
        position,
        origin,
        ..
    }) = writer.faults.all.get(at)
    else {
        return;
    };
    let (inst, check, position, origin) = (*inst, *check, *position, Rc::clone(origin));
    let numbers = [writer.faults.numbers_of(at)];
    let planter = &mut *writer.planter;
    let index = planter.index;
    let effect = effect.map(|effect| planter.position(effect.block, effect.offset));
    let place = Place {
        is_of_fault: true,
        effect,
        ..Place::of_point(point, inst, position)
    };
    let found = Found {
        fault,
        first,
        is_direct,
    };
    let mut text = origin.text(planter.expressions(), is_direct);
    if !position.has_line() {
        text.push_literal(&format!(" ({})", quote(&inst)));
    }
    let write_condition = |out: &mut Emitter| (write_is_one_of(out, fault, &numbers), ());
    planter.plant_with(check, &place, write_condition, |out, ()| {
        origin.with_values(out, index, text, found)
    });
}
