//! Writes planted aborts: as a branch over a block, or as a call where no invocation can leave.

use super::Planter;
use super::block_split::BlockSplit;
use crate::guard::write_guard;
use crate::message::Message;
use crate::module::{ModulePlanter, Planting};
use crate::place::Place;
use vkabort_options::Check;
use vkabort_record::site::Frame;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::planted_aborts::PlantedAbort;
use vkabort_spirv::edit::rematerialize_handles::Split;
use vkabort_spirv::operands::result_index;
use vkabort_spirv::{Id, Inst, op};

impl<'w> Planter<'_, '_, 'w> {
    /// Plants an abort that is taken if the condition that `write_condition` computes is true.
    pub(in super::super) fn plant(
        &mut self,
        check: Check,
        place: &Place<'w>,
        message: Message,
        write_condition: impl FnOnce(&mut Emitter) -> Id,
    ) {
        self.plant_with(check, place, |out| (write_condition(out), ()), |_, ()| message);
    }

    /// Plants an abort that is taken if the first part of what `write_condition` returns is true. `write_message` gets the other
    /// part; its code runs only then, except in continue constructs.
    pub(in super::super) fn plant_with<T>(
        &mut self,
        check: Check,
        place: &Place<'w>,
        write_condition: impl FnOnce(&mut Emitter) -> (Id, T),
        write_message: impl FnOnce(&mut Emitter, T) -> Message,
    ) {
        if self.closed.contains(&place.block) {
            if self.module.planting == Planting::Everywhere {
                self.plant_call(check, place, write_condition, write_message);
            }
            return;
        }
        self.open_loops(place.block);
        self.plant_test(check, place, write_condition, write_message);
    }

    /// Writes an abort that is taken if `failed`, and opens a block behind it.
    pub(in super::super) fn write_abort(
        &mut self,
        check: Check,
        place: &Place<'w>,
        failed: Id,
        write_message: impl FnOnce(&mut Emitter) -> Message,
    ) {
        let excludes_helpers = self.module.helpers.are_excluded(&self.reach, self.properties(check));
        let counts_end = self.is_counted(check, place);
        let failed = self.write_failed((excludes_helpers, counts_end), failed);
        let out = &mut self.module.out;
        let [fail, go] = [(); 2].map(|()| out.fresh());
        out.branch_if(failed, fail, go, go);
        out.label(fail);
        self.write_count(counts_end);
        self.write_end(check, place, write_message);
        self.module.out.label(go);
    }

    /// Whether an invocation that fails a check at a place is counted.
    pub(in super::super) fn is_counted(&self, check: Check, place: &Place<'_>) -> bool {
        let is_missed_at = self.properties(check).is_missed_at;
        let is_missed = || is_missed_at.is_some_and(|is_missed| is_missed(self.index, place));
        self.module.ended.is_counted((place.block, place.offset), is_missed)
    }

    /// Counts the invocation behind the branch by which it leaves, unless it has been counted in front of it.
    pub(in super::super) fn write_count(&mut self, counts_end: bool) {
        if counts_end && !self.options().sanitize.counts_ends_early {
            let ModulePlanter { out, ended, .. } = &mut *self.module;
            ended.write_end(out);
        }
    }

    /// Writes whether the invocation ends if a test `failed`. `counts_end`: see [`Self::is_counted`].
    pub(in super::super) fn write_failed(
        &mut self,
        (excludes_helpers, counts_end): (bool, bool),
        mut failed: Id,
    ) -> Id {
        let counts_early = counts_end && self.options().sanitize.counts_ends_early;
        let ModulePlanter {
            out,
            helpers,
            ended,
            guards,
            ..
        } = &mut *self.module;
        if excludes_helpers {
            failed = helpers.write_failed(out, &self.reach, failed);
        }
        if counts_early {
            failed = ended.write_end_if(out, guards, failed);
        }
        failed
    }

    /// Writes the code behind the label of a block that ends the invocation.
    pub(in super::super) fn write_end(
        &mut self,
        check: Check,
        place: &Place<'w>,
        write_message: impl FnOnce(&mut Emitter) -> Message,
    ) {
        let ModulePlanter { out, messages, .. } = &mut *self.module;
        out.write_position(&place.position);
        let message = write_message(out);
        let (ty, id) = messages.write(self.index, out, &message);
        out.code.mark_origin(&place.guarded);
        out.op(op::AbortKHR, (ty, id));
        self.add_planted(id, check, place);
    }

    /// Lists an abort by its message.
    fn add_planted(&mut self, message: Id, check: Check, place: &Place<'w>) {
        let operation = result_of(&place.guarded);
        let effect = place.effect.as_ref();
        let used_in = effect.and_then(|effect| {
            let of_operation = operation.and_then(|operation| self.index.function_with(operation));
            let of_operation = of_operation.and_then(|function| self.index.functions.get(function));
            let places = &mut self.module.places;
            let origin = places.frame(of_operation.unwrap_or(self.function), &place.position);
            let used_in = places.frame(self.function, effect)?;
            // Whether it is elsewhere than the operation depends on the number.
            (place.names_fault || is_elsewhere(&used_in, &origin?)).then_some(used_in)
        });
        let planted = PlantedAbort {
            check: check.name(),
            operation,
            leaving: self.properties(check).leaving,
            is_of_faults: place.names_fault,
            used_in,
        };
        self.module.planted.aborts.insert(message, planted);
    }

    /// Ends code whose last block continues the block of a place.
    pub(in super::super) fn finish_split(&mut self, place: &Place<'w>) {
        let behind = self.position(place.block, place.offset);
        let out = &mut self.module.out;
        out.write_position(&behind);
        let split = Split {
            offset: place.offset,
            code: out.take_code(),
        };
        self.block_splits
            .entry(place.block)
            .or_default()
            .push(BlockSplit::Code(split));
    }

    /// Plants a call of a function that aborts, since no invocation can leave a continue construct.
    fn plant_call<T>(
        &mut self,
        check: Check,
        place: &Place<'w>,
        write_condition: impl FnOnce(&mut Emitter) -> (Id, T),
        write_message: impl FnOnce(&mut Emitter, T) -> Message,
    ) {
        let (behind, properties) = (self.position(place.block, place.offset), self.properties(check));
        let ModulePlanter {
            out,
            messages,
            guards,
            planted,
            edits,
            helpers,
            ended,
            ..
        } = &mut *self.module;
        let (failed, rest) = write_condition(out);
        let failed = match helpers.are_excluded(&self.reach, properties) {
            true => helpers.write_failed(out, &self.reach, failed),
            false => failed,
        };
        let message = write_message(out, rest);
        let guard = out.continue_code(guards, |out| {
            write_guard(self.index, out, (messages, ended), failed, message, &place.guarded)
        });
        out.name(guard.function, &format!("vkabort_{}", check.name()));
        // The call has the position that the site takes from it.
        out.write_position(&place.position);
        let void = out.void();
        let result = out.fresh();
        out.op(
            op::FunctionCall,
            (void, result, guard.function, guard.arguments.as_slice()),
        );
        out.write_position(&behind);
        out.place(|code| edits.insert(place.offset, code));
        planted.guards.insert(guard.function);
        self.add_planted(guard.message, check, place);
    }
}

/// Whether a place is not in the line of another one.
fn is_elsewhere(place: &Frame, other: &Frame) -> bool {
    fn line(frame: &Frame) -> Option<(&str, u32)> {
        frame.location.as_ref().map(|at| (at.file.as_str(), at.line))
    }
    place.function != other.function || line(place) != line(other)
}

/// The result of an instruction that has one.
fn result_of(inst: &Inst<'_>) -> Option<Id> {
    let at = result_index(inst.opcode())?;
    Some(inst.id(at)).filter(|id| id.is_some())
}
