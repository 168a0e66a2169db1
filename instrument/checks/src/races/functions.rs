//! The functions that record accesses to shared memory and find races.
//!
//! ```text
//! uint vkabort_record(uint at, uint description)           0, or the word of an access that this one races with
//!     if (at >= words) return 0                            out of bounds: `bounds` reports it
//!     own = vkabort_epoch | kind and site of description | who
//!     old = atomicUMax(shadow[at], own)
//!     if (own and old are LOADs, old of another of this epoch) old = max(old, atomicUMax(shadow[at], own | LOADS))
//!     of a STORE: return old is of vkabort_observed and (LOADS or of another) and not of the same value ? old : 0
//!     of others:  return old is a STORE of another of vkabort_observed ? old : 0
//! void vkabort_next_epoch()                                behind each barrier
//! ```
//!
//! There is another one for variables whose shadow is in a block: it calls a function in place of the atomics, and returns 0 in a workgroup
//! that has no block. Drivers inline it, and compute at compile time all that `description` decides.
//!
//! Of loads and stores that race, one sees another in the shadow, in whatever order invocations run (`protocol_tests`). `LOADS` means
//! more than one reader, of which the word has one.
//!
//! `who` is the invocation, or the subgroup in modules with subgroup operations. `vkabort_epoch` is 0 once the epochs are used up, and in
//! workgroups with too many invocations: no other invocation sees such accesses. `vkabort_observed` is the epoch, or one that does not
//! exist while the invocation reports nothing.

use super::super::workgroup::shadow_location::{ShadowLocation, ShadowWords};
use super::super::workgroup::shared_words::SharedWords;
use super::epochs::{set_epoch, write_next_epoch};
use super::log::Log;
use super::word::{FIRST_EPOCH, Kind, MAX_INVOCATIONS, NEVER, write_is, write_is_same, write_who, write_word};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, op};

/// The functions and variables.
#[derive(Debug)]
pub(super) struct RaceFunctions {
    /// Those that record an access, by the location of the shadow.
    record: Vec<(ShadowLocation, Id)>,
    /// Those that record several.
    logs: Vec<(ShadowLocation, Log)>,
    pub(super) next_epoch: Id,
    epoch: Id,
    observed: Id,
    who: Id,
    /// Words of the shadow in shared memory.
    words: u32,
    /// Most entries of a log.
    entries: u32,
}

impl RaceFunctions {
    /// `who`: the private variable that identifies an invocation or subgroup. `words`: of the shadow in shared memory. `entries`: the most of
    /// a log.
    pub(super) fn new(
        out: &mut Emitter,
        shared_words: &mut SharedWords,
        functions: &mut Code,
        (who, size): (Id, Id),
        (words, entries): (u32, u32),
    ) -> Self {
        let (uint, void, first) = (out.uint(), out.void(), out.constant(FIRST_EPOCH));
        let variable = |out: &mut Emitter, name| {
            let variable = out.private(uint, first);
            out.name(variable, name);
            variable
        };
        let epoch = variable(out, "vkabort_epoch");
        let observed = variable(out, "vkabort_observed");
        shared_words.globals.extend([epoch, observed]);
        let start = out.function(functions, "vkabort_first_epoch", (void, &[]), |out, _, _| {
            let (bool, most) = (out.bool(), out.constant(MAX_INVOCATIONS));
            let size = out.emit(op::Load, uint, size);
            let is_large = out.emit(op::UGreaterThan, bool, (size, most));
            set_epoch(out, [epoch, observed], is_large, first);
            None
        });
        shared_words.starts.push(start);
        Self {
            record: Vec::new(),
            logs: Vec::new(),
            next_epoch: write_next_epoch(out, functions, [epoch, observed]),
            epoch,
            observed,
            who,
            words,
            entries,
        }
    }

    /// Writes that the invocation reports nothing until the next barrier.
    pub(super) fn write_silence(&self, out: &mut Emitter) {
        let never = out.constant(NEVER);
        out.op(op::Store, (self.observed, never));
    }

    /// The function that records an access to one scalar.
    pub(super) fn record(
        &mut self,
        (out, shared_words, functions): (&mut Emitter, &mut SharedWords, &mut Code),
        location: ShadowLocation,
    ) -> Id {
        if let Some((_, function)) = self.record.iter().find(|(of, _)| *of == location) {
            return *function;
        }
        let Some(words) = ShadowWords::new(out, shared_words, location) else {
            return Id::NONE;
        };
        let uint = out.uint();
        let types: (Id, &[Id]) = (uint, &[uint; 2]);
        let function = out.function(functions, "vkabort_record", types, |out, entry, parameters| {
            let [at, description] = *parameters else { return None };
            Some(self.write_body(out, words, [entry, at, description]))
        });
        self.record.push((location, function));
        function
    }

    /// The log that records several accesses.
    pub(super) fn log(
        &mut self,
        (out, shared_words, functions): (&mut Emitter, &mut SharedWords, &mut Code),
        location: ShadowLocation,
    ) -> Log {
        if let Some((_, log)) = self.logs.iter().find(|(of, _)| *of == location) {
            return *log;
        }
        let record = self.record((&mut *out, &mut *shared_words, &mut *functions), location);
        let log = Log::new((out, shared_words, functions), record, self.entries);
        self.logs.push((location, log));
        log
    }

    /// Writes its body, behind the label `entry`. Returns the result.
    fn write_body(&self, out: &mut Emitter, shadow: ShadowWords<'_>, [entry, at, description]: [Id; 3]) -> Id {
        let (bool, uint) = (out.bool(), out.uint());
        let [inside, outside] = [(); 2].map(|()| out.fresh());
        let (zero, words) = (out.constant(0), out.constant(shadow.words().unwrap_or(self.words)));
        let has_word = shadow.write_has(out, at, words);
        out.branch_if(has_word, inside, outside, outside);
        out.label(inside);
        let [epoch, observed, who] = [self.epoch, self.observed, self.who].map(|v| out.emit(op::Load, uint, v));
        let own = write_word(out, description, [who, epoch]);
        let place = shadow.write_place(out, at);
        let of_epoch = |out: &mut Emitter, word: Id, epoch: Id| {
            let mask = out.constant(NEVER);
            let of = out.calculate(op::BitwiseAnd, (word, mask));
            out.emit(op::IEqual, bool, (of, epoch))
        };
        let of_other = |out: &mut Emitter, word: Id| {
            let of = write_who(out, word);
            out.emit(op::INotEqual, bool, (of, who))
        };
        let first = shadow.write_maximum(out, place, own);
        let [more, end, found] = [(); 3].map(|()| out.fresh());
        let is_second = [
            write_is(out, description, Kind::Load),
            of_epoch(out, first, epoch),
            of_other(out, first),
            write_is(out, first, Kind::Load),
        ]
        .into_iter()
        .reduce(|all, one| out.emit(op::LogicalAnd, bool, (all, one)));
        out.branch_if(is_second.unwrap_or_default(), more, end, end);
        out.label(more);
        let bits = out.constant(Kind::Loads.bits());
        let loads = out.calculate(op::BitwiseOr, (own, bits));
        let second = shadow.write_maximum(out, place, loads);
        out.branch(end);
        out.label(end);
        // The second one is not less than the first.
        out.phi(uint, found, &[(first, inside), (second, more)]);
        let is_observed = of_epoch(out, found, observed);
        let is_other = of_other(out, found);
        let is_many = write_is(out, found, Kind::Loads);
        let of_store = out.emit(op::LogicalOr, bool, (is_other, is_many));
        let is_same = write_is_same(out, found, description);
        let differs = out.emit(op::LogicalNot, bool, is_same);
        let of_store = out.emit(op::LogicalAnd, bool, (of_store, differs));
        let is_store = write_is(out, found, Kind::Store);
        let of_others = out.emit(op::LogicalAnd, bool, (is_other, is_store));
        let stores = write_is(out, description, Kind::Store);
        let races = out.emit(op::Select, bool, (stores, of_store, of_others));
        let races = out.emit(op::LogicalAnd, bool, (races, is_observed));
        let result = out.calculate(op::Select, (races, found, zero));
        out.branch(outside);
        out.label(outside);
        let returned = out.fresh();
        out.phi(uint, returned, &[(zero, entry), (result, end)]);
        returned
    }
}
