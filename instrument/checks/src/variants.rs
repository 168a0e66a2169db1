//! A test with an abort for each variant of its failure, or for each of several operations.

use super::message::Message;
use super::place::Place;
use super::planter::Planter;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};

impl<'w> Planter<'_, '_, 'w> {
    /// Plants an abort for each variant of a failure. `write_failed` computes whether any of them may have happened, and what the
    /// others get.
    pub(super) fn plant_variants<V, T: Copy>(
        &mut self,
        (check, place): (Check, &Place<'w>),
        variants: &[V],
        write_failed: impl FnOnce(&mut Emitter) -> (Id, T),
        write_condition: impl Fn(&mut Emitter, &V, T) -> Id,
        write_message: impl Fn(&mut Emitter, &V, T) -> Message,
    ) {
        if self.closed.contains(&place.block) {
            let (failed, rest) = self.insert(place.offset, write_failed);
            for variant in variants {
                let write_both = |out: &mut Emitter| {
                    let bool = out.bool();
                    let condition = write_condition(out, variant, rest);
                    (out.emit(op::LogicalAnd, bool, (failed, condition)), ())
                };
                self.plant_with(check, place, write_both, |out, ()| write_message(out, variant, rest));
            }
            return;
        }
        self.open_loops(place.block);
        let out = &mut self.module.out;
        let (failed, rest) = write_failed(out);
        if let [only] = variants {
            self.write_abort(check, place, failed, |out| write_message(out, only, rest));
        } else {
            let [found, go] = [(); 2].map(|()| out.fresh());
            out.branch_if(failed, found, go, go);
            out.label(found);
            for variant in variants {
                let condition = write_condition(&mut self.module.out, variant, rest);
                self.write_abort(check, place, condition, |out| write_message(out, variant, rest));
            }
            let out = &mut self.module.out;
            out.branch(go);
            out.label(go);
        }
        self.finish_split(place);
    }

    /// Plants an abort for each of several operations, whose places and values are in `aborts`. `write_failed` computes whether one of them
    /// has failed, and 1 + its number. The test is at a place behind them.
    pub(super) fn plant_numbered<V>(
        &mut self,
        (check, place): (Check, &Place<'w>),
        aborts: &[(&Place<'w>, V)],
        write_failed: impl FnOnce(&mut Emitter) -> (Id, Id),
        write_message: impl Fn(&mut Emitter, &V) -> Message,
    ) {
        let write_is = |out: &mut Emitter, number: Id, of: u32| {
            let (bool, of) = (out.bool(), out.constant(of));
            out.emit(op::IEqual, bool, (number, of))
        };
        if self.closed.contains(&place.block) {
            let (_, number) = self.insert(place.offset, write_failed);
            for (of, (guarded, value)) in (1..).zip(aborts) {
                let at = Place {
                    offset: place.offset,
                    ..**guarded
                };
                let write_condition = |out: &mut Emitter| (write_is(out, number, of), ());
                self.plant_with(check, &at, write_condition, |out, ()| write_message(out, value));
            }
            return;
        }
        self.open_loops(place.block);
        let (failed, number) = write_failed(&mut self.module.out);
        let excludes_helpers = self.module.helpers.are_excluded(&self.reach, self.properties(check));
        let counts_end = self.is_counted(check, place);
        let failed = self.write_failed((excludes_helpers, counts_end), failed);
        let out = &mut self.module.out;
        let [found, go] = [(); 2].map(|()| out.fresh());
        out.branch_if(failed, found, go, go);
        out.label(found);
        self.write_count(counts_end);
        for (of, (guarded, value)) in (1..).zip(aborts) {
            if of as usize == aborts.len() {
                self.write_end(check, guarded, |out| write_message(out, value));
                continue;
            }
            let out = &mut self.module.out;
            let [one, other] = [(); 2].map(|()| out.fresh());
            let is_one = write_is(out, number, of);
            out.branch_if(is_one, one, other, other);
            out.label(one);
            self.write_end(check, guarded, |out| write_message(out, value));
            self.module.out.label(other);
        }
        self.module.out.label(go);
        self.finish_split(place);
    }
}
