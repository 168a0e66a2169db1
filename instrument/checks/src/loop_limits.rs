//! Plants the limits of loops: a budget of iterations and a time.

use super::loop_clock::LoopClock;
use super::message::Message;
use super::module::ModulePlanter;
use super::place::Place;
use super::planter::Planter;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::control_with_counter;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::lowered::Feature;
use vkabort_spirv::{Id, Inst, Words, op};

impl<'w> Planter<'_, '_, 'w> {
    /// The private variable that counts loop iterations down from the budget.
    pub(super) fn counter(&mut self) -> Id {
        let budget = self.options().sanitize.loop_budget;
        let ModulePlanter { out, states, .. } = &mut *self.module;
        let counter = *states.loops.counter.get_or_insert_with(|| {
            let (uint, budget) = (out.uint(), out.constant(budget));
            let counter = out.private(uint, budget);
            out.name(counter, "vkabort_loop_budget");
            counter
        });
        self.list_in_interfaces(&[counter]);
        counter
    }

    /// The clock that measures the time of loops. `None`: loops have no time limit.
    pub(super) fn clock(&mut self) -> Option<LoopClock> {
        let options = self.options();
        options.sanitize.loop_timeout?;
        if !options.lowers.contains(Feature::Abort) {
            return None;
        }
        let ModulePlanter {
            out, guards, states, ..
        } = &mut *self.module;
        let clock = *states.loops.clock.get_or_insert_with(|| LoopClock::new(out, guards));
        self.list_in_interfaces(&clock.variables);
        Some(clock)
    }

    /// The function that reads the clock if its argument is true.
    fn look_if(&mut self, clock: &LoopClock) -> Id {
        let ModulePlanter {
            out, guards, states, ..
        } = &mut *self.module;
        *states
            .loops
            .look_if
            .get_or_insert_with(|| clock.write_look_if(out, guards))
    }

    /// Drops the hints of a loop that a counter makes wrong, before the counter is planted.
    pub(super) fn drop_hints(&mut self, header: BlockIndex, merge: &Inst<'_>) {
        self.counted.insert(header);
        if self.closed.contains(&header) {
            let control = control_with_counter(merge.from(3));
            let operands = (merge.merge_block(), merge.continue_target(), Words(&control));
            self.module.edits.replace_by(merge, op::LoopMerge, operands);
        }
    }

    /// Plants the aborts of a loop whose budget is used up or whose time is up: `write_count` computes whether either may be, and
    /// whether the budget is.
    pub(super) fn plant_limits(
        &mut self,
        place: &Place<'w>,
        clock: &LoopClock,
        write_count: impl FnOnce(&mut Emitter) -> [Id; 2],
        [used_up, expired]: [Message; 2],
    ) {
        if self.closed.contains(&place.block) {
            let look_if = self.look_if(clock);
            let mut is_due = Id::NONE;
            // Code at one offset stays in the order in which it is inserted.
            self.plant(Check::Loops, place, used_up, |out| {
                let [due, is_used_up] = write_count(out);
                is_due = due;
                is_used_up
            });
            self.plant(Check::Loops, place, expired, |out| {
                let bool = out.bool();
                out.emit(op::FunctionCall, bool, (look_if, is_due))
            });
            return;
        }
        self.open_loops(place.block);
        let out = &mut self.module.out;
        let [is_due, is_used_up] = write_count(out);
        let [due, go] = [(); 2].map(|()| out.fresh());
        out.branch_if(is_due, due, go, go);
        out.label(due);
        self.write_abort(Check::Loops, place, is_used_up, |_| used_up);
        let out = &mut self.module.out;
        let bool = out.bool();
        let is_over = out.emit(op::FunctionCall, bool, clock.is_over);
        self.write_abort(Check::Loops, place, is_over, |_| expired);
        let out = &mut self.module.out;
        out.branch(go);
        out.label(go);
        self.finish_split(place);
    }
}
