//! Writes planted aborts: as a branch over a block, or as a call where no invocation can leave.

use super::Planter;
use crate::edit::emitter::Emitter;
use crate::edit::rematerialize_handles::Split;
use crate::pass::sanitize::guard::write_guard;
use crate::pass::sanitize::message::Message;
use crate::pass::sanitize::module::{ModulePlanter, Planting};
use crate::pass::sanitize::place::Place;
use crate::sanitize::Check;
use crate::spv::operands::result_index;
use crate::spv::{Id, Inst, op};

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
        let (failed, rest) = write_condition(&mut self.module.out);
        self.write_abort(check, place, failed, |out| write_message(out, rest));
        self.finish_split(place);
    }

    /// Writes an abort that is taken if `failed`, and opens a block behind it.
    pub(in super::super) fn write_abort(
        &mut self,
        check: Check,
        place: &Place<'w>,
        failed: Id,
        write_message: impl FnOnce(&mut Emitter) -> Message,
    ) {
        let ModulePlanter {
            out,
            helpers,
            messages,
            barriers,
            unstored,
            guards,
            ..
        } = &mut *self.module;
        let mut failed = helpers.write_failed(out, &self.reach, check, failed);
        let [fail, go] = [(); 2].map(|()| out.fresh());
        let is_counted_before = unstored.reads_shared_memory();
        if is_counted_before {
            // SwiftShader executes a block that ends the invocation after those of the other invocations of the subgroup, up to a barrier
            // and behind it.
            failed = barriers.write_end_if(out, guards, failed);
        }
        out.branch_if(failed, fail, go, go);
        out.label(fail);
        out.write_position(&place.position);
        let message = write_message(out);
        if !is_counted_before {
            barriers.write_end(out);
        }
        let (ty, id) = messages.write(self.index, out, &message);
        out.code.mark_origin(&place.guarded);
        out.op(op::AbortKHR, (ty, id));
        out.label(go);
        self.module.planted.checks.insert(id, check.name());
        if let Some(operation) = result_of(&place.guarded) {
            self.module.planted.operations.insert(id, operation);
        }
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
        self.splits.entry(place.block).or_default().push(split);
    }

    /// Plants a call of a function that aborts, since no invocation can leave a continue construct.
    fn plant_call<T>(
        &mut self,
        check: Check,
        place: &Place<'w>,
        write_condition: impl FnOnce(&mut Emitter) -> (Id, T),
        write_message: impl FnOnce(&mut Emitter, T) -> Message,
    ) {
        let behind = self.position(place.block, place.offset);
        let ModulePlanter {
            out,
            messages,
            guards,
            planted,
            edits,
            helpers,
            barriers,
            ..
        } = &mut *self.module;
        let (failed, rest) = write_condition(out);
        let failed = helpers.write_failed(out, &self.reach, check, failed);
        let message = write_message(out, rest);
        let guard = out.continue_code(guards, |out| {
            write_guard(self.index, out, (messages, barriers), failed, message, &place.guarded)
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
        planted.checks.insert(guard.message, check.name());
        planted.guards.insert(guard.function);
    }
}

/// The result of an instruction that has one.
fn result_of(inst: &Inst<'_>) -> Option<Id> {
    let at = result_index(inst.opcode())?;
    Some(inst.id(at)).filter(|id| id.is_some())
}
