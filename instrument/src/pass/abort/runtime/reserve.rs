//! Writes the function `reserve`.
//!
//! ```text
//! uint vkabort_reserve(uint units, uint size, uint site)     -> unit offset of the record, or NO_RECORD
//!     if (atomicLoad(cursor) < capacity) {                                                 phase 1: test
//!         unit = atomicAdd(cursor, units <= capacity ? units : 0)                          phase 2: reserve
//!         if (units <= capacity && unit <= capacity - units) { write the header; return unit }     phase 3: header
//!         aborted = 1                                                                      phase 4: no room
//!     }
//!     atomicAdd(dropped, 1); return NO_RECORD                                              phase 5: count
//! ```
//!
//! The load before the add keeps a storm of aborts off the atomic once the arena is full, and keeps the cursor from
//! wrapping: it passes the capacity by at most one record per invocation in flight. A message whose length is computed
//! and that is too large for the arena reserves nothing, so it displaces no other record. Every invocation adds to
//! exactly one of CURSOR's records and DROPPED, so that the two together are the number of aborts.

use super::open_function::OpenFunction;
use super::state::{DROPPED, Runtime};
use crate::edit::globals::Globals;
use crate::spv::{Code, Id, op};
use vkabort_record::layout::{CURSOR_OFFSET, UNIT_BYTES, UNIT_WORDS, header, record_units};

/// What `reserve` returns if there is no room.
pub(crate) const NO_RECORD: u32 = u32::MAX;

const _: () = assert!(record_units(0) * UNIT_WORDS == header::WORDS);

impl Runtime {
    /// The function `reserve`.
    pub(crate) fn reserve(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.reserve {
            return function;
        }
        let (uint, bool) = (globals.uint(), globals.bool());
        let types = self.types(globals);
        let OpenFunction {
            mut code,
            function,
            parameters: [units, size, site],
            ..
        } = self.begin_function(globals, "vkabort_reserve", uint, [uint; 3]);
        self.reserve = Some(function);
        let [scope, zero, capacity, none] =
            [self.scope, 0, self.arena.capacity, NO_RECORD].map(|value| globals.constant(value));
        let address = self.arena.control + u64::from(CURSOR_OFFSET);
        let cursor = self.pointer_to(&mut code, globals, types.uint_pointer, address);
        let [now, has_room, attempt, count, unit, fits_arena] = [(); 6].map(|()| globals.fresh());
        let [added, is_low, last, fits, write, full, old] = [(); 7].map(|()| globals.fresh());

        // Phase 1: test whether the arena is full already. Relaxed semantics are 0.
        code.op(op::AtomicLoad, (uint, now, cursor, scope, zero));
        code.op(op::ULessThan, (bool, has_room, now, capacity));
        code.branch_if(has_room, attempt, count, count);

        // Phase 2: reserve the units, none for a record larger than the arena.
        code.label(attempt);
        code.op(op::ULessThanEqual, (bool, fits_arena, units, capacity));
        code.op(op::Select, (uint, added, fits_arena, units, zero));
        code.op(op::AtomicIAdd, (uint, unit, cursor, scope, zero, added));
        code.op(op::ISub, (uint, last, capacity, units));
        code.op(op::ULessThanEqual, (bool, is_low, unit, last));
        code.op(op::LogicalAnd, (bool, fits, fits_arena, is_low));
        code.branch_if(fits, write, full, full);

        // Phase 3: write the header, not yet committed.
        code.label(write);
        self.write_header(&mut code, globals, unit, [units, size, site]);
        code.op(op::ReturnValue, unit);

        // Phase 4: without a message, the device is lost all the same. A full arena has set ABORTED already.
        code.label(full);
        let one = globals.constant(1);
        self.set_aborted(&mut code, globals, [scope, zero, one]);
        code.branch(count);

        // Phase 5: count the abort.
        code.label(count);
        let dropped = self.control(&mut code, globals, DROPPED);
        code.op(op::AtomicIAdd, (uint, old, dropped, scope, zero, one));
        code.op(op::ReturnValue, none);
        self.end_function(code);
        function
    }

    /// Writes the header of the record at `unit`, with COMMIT still 0.
    fn write_header(&mut self, code: &mut Code, globals: &mut Globals, unit: Id, [units, size, site]: [Id; 3]) {
        let (uint, types) = (globals.uint(), self.types(globals));
        let base = self.units(code, globals);
        let zero = globals.constant(0);
        let hash_low = globals.constant(self.hash.0 as u32);
        let hash_high = globals.constant((self.hash.0 >> 32) as u32);
        let (stage_variable, identity_variable) = (self.stage(globals), self.identity(globals));
        let (stage, identity) = (globals.fresh(), globals.fresh());
        code.op(op::Load, (uint, stage, stage_variable));
        code.op(op::Load, (types.unit, identity, identity_variable));
        let mut words = [zero; header::IDENTITY as usize];
        for (word, value) in [
            (header::LENGTH, units),
            (header::SIZE, size),
            (header::SITE, site),
            (header::HASH_LO, hash_low),
            (header::HASH_HI, hash_high),
            (header::STAGE, stage),
        ] {
            if let Some(slot) = words.get_mut(word as usize) {
                *slot = value;
            }
        }
        for (number, unit_words) in (0..).zip(words.chunks_exact(UNIT_WORDS as usize)) {
            let value = globals.fresh();
            code.op(op::CompositeConstruct, (types.unit, value, unit_words));
            self.store_unit(code, globals, base, unit, number, value);
        }
        self.store_unit(code, globals, base, unit, header::IDENTITY / UNIT_WORDS, identity);
    }

    fn store_unit(&mut self, code: &mut Code, globals: &mut Globals, base: Id, record: Id, number: u32, value: Id) {
        let pointer = self.unit_pointer(code, globals, base, record, number);
        code.op(op::Store, (pointer, value, self.access(UNIT_BYTES)));
    }
}
