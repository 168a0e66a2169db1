//! The functions that record accesses to shared memory and find races.
//!
//! ```text
//! uint vkabort_read(uint at, uint site)                    0, or the word of an access that this one races with
//!     if (at >= words) return 0                            out of bounds: `bounds` reports it
//!     old = atomicUMax(shadow[at], vkabort_epoch | LOAD | site | who)
//!     if (old is a LOAD of another of this epoch) old = max(old, atomicUMax(shadow[at], vkabort_epoch | LOADS | site | who))
//!     return old is a STORE of another of vkabort_observed ? old : 0
//! uint vkabort_change(uint at, uint site)                  as an ATOMIC, which races with the same
//! uint vkabort_write(uint at, uint site)
//!     old = atomicUMax(shadow[at], vkabort_epoch | STORE | site | who)
//!     return old is of vkabort_observed and (LOADS or of another) ? old : 0
//! void vkabort_next_epoch()                                behind each barrier
//! uint vkabort_line(uint word)                             the line of its site
//! ```
//!
//! There is another set of the first three for variables whose shadow is in a block: they call a function in place of the atomics, and
//! return 0 in a workgroup that has no block.
//!
//! Of loads and stores that race, one sees another in the shadow, in whatever order invocations run (`protocol_tests`). `LOADS` means
//! more than one reader, of which the word has one.
//!
//! `who` is the invocation, or the subgroup in modules with subgroup operations. `vkabort_epoch` is 0 once the epochs are used up, and in
//! workgroups with too many invocations: no other invocation sees such accesses. `vkabort_observed` is the epoch, or one that does not
//! exist while the invocation reports nothing.

use super::super::code::write_function;
use super::super::workgroup::home::{Home, HomeWords};
use super::super::workgroup::shadow::WorkgroupShadow;
use super::epochs::{set_epoch, write_next_epoch};
use super::word::{FIRST_EPOCH, Kind, MAX_INVOCATIONS, NEVER, SITE_SHIFT, SITES, write_is, write_who};
use crate::edit::emitter::Emitter;
use crate::spv::op::storage_class;
use crate::spv::{Code, Id, Literal, op};

/// The functions and variables.
#[derive(Debug)]
pub(super) struct RaceFunctions {
    /// Those that record an access, by its kind, the home of the shadow, and whether it is of several scalars.
    record: Vec<((Kind, Home, bool), Id)>,
    pub(super) next_epoch: Id,
    line: Option<Id>,
    epoch: Id,
    observed: Id,
    who: Id,
    /// Words of the shadow in shared memory.
    words: u32,
}

/// Records accesses of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorder {
    function: Id,
    scalars: u32,
}

impl Recorder {
    /// Writes the record of an access from the word `at` on. Returns 0, or the word of an access that it races with.
    pub(super) fn write(self, out: &mut Emitter, at: Id, site: u32) -> Id {
        let site = out.constant(site << SITE_SHIFT);
        let scalars = (self.scalars != 1).then(|| out.constant(self.scalars));
        out.calculate(op::FunctionCall, (self.function, at, site, scalars))
    }
}

impl RaceFunctions {
    /// `who`: the private variable that identifies an invocation or subgroup. `words`: of the shadow in shared memory.
    pub(super) fn new(
        out: &mut Emitter,
        shadow: &mut WorkgroupShadow,
        functions: &mut Code,
        (who, size): (Id, Id),
        words: u32,
    ) -> Self {
        let (uint, void, first) = (out.uint(), out.void(), out.constant(FIRST_EPOCH));
        let variable = |out: &mut Emitter, name| {
            let variable = out.private(uint, first);
            out.name(variable, name);
            variable
        };
        let epoch = variable(out, "vkabort_epoch");
        let observed = variable(out, "vkabort_observed");
        shadow.globals.extend([epoch, observed]);
        let start = write_function(out, functions, "vkabort_first_epoch", (void, &[]), |out, _, _| {
            let (bool, most) = (out.bool(), out.constant(MAX_INVOCATIONS));
            let size = out.emit(op::Load, uint, size);
            let is_large = out.emit(op::UGreaterThan, bool, (size, most));
            set_epoch(out, [epoch, observed], is_large, first);
            None
        });
        shadow.starts.push(start);
        Self {
            record: Vec::new(),
            next_epoch: write_next_epoch(out, functions, [epoch, observed]),
            line: None,
            epoch,
            observed,
            who,
            words,
        }
    }

    /// Writes that the invocation reports nothing until the next barrier.
    pub(super) fn write_silence(&self, out: &mut Emitter) {
        let never = out.constant(NEVER);
        out.op(op::Store, (self.observed, never));
    }

    /// What records accesses of a kind to a number of scalars.
    pub(super) fn recorder(
        &mut self,
        (out, shadow, functions): (&mut Emitter, &mut WorkgroupShadow, &mut Code),
        (kind, home): (Kind, Home),
        scalars: u32,
    ) -> Recorder {
        let key = (kind, home, scalars != 1);
        if let Some((_, function)) = self.record.iter().find(|(of, _)| *of == key) {
            let function = *function;
            return Recorder { function, scalars };
        }
        let function = match scalars {
            1 => self.write_record((out, shadow, functions), kind, home),
            _ => {
                let one = self.recorder((out, shadow, functions), (kind, home), 1);
                write_several(out, functions, one.function)
            }
        };
        self.record.push((key, function));
        Recorder { function, scalars }
    }

    /// The function that returns the line of a word's site. `lines`: by site.
    pub(super) fn line(&mut self, out: &mut Emitter, functions: &mut Code, lines: &[u32]) -> Id {
        *self.line.get_or_insert_with(|| write_line(out, functions, lines))
    }

    /// Writes the function that records an access of a kind to one scalar.
    fn write_record(
        &self,
        (out, shadow, functions): (&mut Emitter, &mut WorkgroupShadow, &mut Code),
        kind: Kind,
        home: Home,
    ) -> Id {
        let Some(shadow) = HomeWords::new(out, shadow, home) else {
            return Id::NONE;
        };
        let name = match kind {
            Kind::Store => "vkabort_write",
            Kind::Atomic => "vkabort_change",
            Kind::Load | Kind::Loads => "vkabort_read",
        };
        let (_, uint) = (out.bool(), out.uint());
        write_function(out, functions, name, (uint, &[uint; 2]), |out, entry, parameters| {
            let [at, site] = *parameters else { return None };
            Some(self.write_body(out, kind, shadow, [entry, at, site]))
        })
    }

    /// Writes its body, behind the label `entry`. Returns the result.
    fn write_body(&self, out: &mut Emitter, kind: Kind, shadow: HomeWords<'_>, [entry, at, site]: [Id; 3]) -> Id {
        let (bool, uint) = (out.bool(), out.uint());
        let [inside, outside] = [(); 2].map(|()| out.fresh());
        let (zero, words) = (out.constant(0), out.constant(shadow.words().unwrap_or(self.words)));
        let has_word = shadow.write_has(out, at, words);
        out.branch_if(has_word, inside, outside, outside);
        out.label(inside);
        let [epoch, observed, who] = [self.epoch, self.observed, self.who].map(|v| out.emit(op::Load, uint, v));
        let own = out.calculate(op::BitwiseOr, (site, who));
        let own = out.calculate(op::BitwiseOr, (own, epoch));
        let place = shadow.write_place(out, at);
        let maximum = |out: &mut Emitter, kind: Kind| {
            let bits = out.constant(kind.bits());
            let word = out.calculate(op::BitwiseOr, (own, bits));
            shadow.write_maximum(out, place, word)
        };
        let of_epoch = |out: &mut Emitter, word: Id, epoch: Id| {
            let mask = out.constant(NEVER);
            let of = out.calculate(op::BitwiseAnd, (word, mask));
            out.emit(op::IEqual, bool, (of, epoch))
        };
        let of_other = |out: &mut Emitter, word: Id| {
            let of = write_who(out, word);
            out.emit(op::INotEqual, bool, (of, who))
        };
        let mut found = maximum(out, kind);
        let mut last = inside;
        if kind == Kind::Load {
            let [more, end, both] = [(); 3].map(|()| out.fresh());
            let is_now = of_epoch(out, found, epoch);
            let is_other = of_other(out, found);
            let is_load = write_is(out, found, Kind::Load);
            let is_second = out.emit(op::LogicalAnd, bool, (is_now, is_other));
            let is_second = out.emit(op::LogicalAnd, bool, (is_second, is_load));
            out.branch_if(is_second, more, end, end);
            out.label(more);
            let second = maximum(out, Kind::Loads);
            out.branch(end);
            out.label(end);
            // The second one is not less than the first.
            out.phi(uint, both, &[(found, inside), (second, more)]);
            (found, last) = (both, end);
        }
        let is_observed = of_epoch(out, found, observed);
        let is_other = of_other(out, found);
        let races = match kind {
            Kind::Store => {
                let is_many = write_is(out, found, Kind::Loads);
                out.emit(op::LogicalOr, bool, (is_other, is_many))
            }
            _ => {
                let is_store = write_is(out, found, Kind::Store);
                out.emit(op::LogicalAnd, bool, (is_other, is_store))
            }
        };
        let races = out.emit(op::LogicalAnd, bool, (races, is_observed));
        let result = out.calculate(op::Select, (races, found, zero));
        out.branch(outside);
        out.label(outside);
        let returned = out.fresh();
        out.phi(uint, returned, &[(zero, entry), (result, last)]);
        returned
    }
}

/// Writes a function that records an access to several scalars by `one`, and returns the greatest of what it finds.
fn write_several(out: &mut Emitter, functions: &mut Code, one: Id) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let name = "vkabort_record_several";
    write_function(out, functions, name, (uint, &[uint; 3]), |out, entry, parameters| {
        let [at, site, count] = *parameters else { return None };
        let [header, test, body, next, end] = [(); 5].map(|()| out.fresh());
        let [number, following, found, greatest] = [(); 4].map(|()| out.fresh());
        let [zero, increment, all] = [0, 1, u32::MAX].map(|value| out.constant(value));
        // None of an access that is out of bounds.
        let is_outside = out.emit(op::IEqual, bool, (at, all));
        let count = out.calculate(op::Select, (is_outside, zero, count));
        out.branch(header);
        out.label(header);
        out.phi(uint, number, &[(zero, entry), (following, next)]);
        out.phi(uint, found, &[(zero, entry), (greatest, next)]);
        out.op(op::LoopMerge, (end, next, Literal(0)));
        out.branch(test);
        out.label(test);
        let is_left = out.emit(op::ULessThan, bool, (number, count));
        out.op(op::BranchConditional, (is_left, body, end));
        out.label(body);
        let word = out.calculate(op::IAdd, (at, number));
        let old = out.calculate(op::FunctionCall, (one, word, site));
        let is_greater = out.emit(op::UGreaterThan, bool, (old, found));
        out.op(op::Select, (uint, greatest, is_greater, old, found));
        out.branch(next);
        out.label(next);
        out.op(op::IAdd, (uint, following, number, increment));
        out.branch(header);
        out.label(end);
        Some(found)
    })
}

fn write_line(out: &mut Emitter, functions: &mut Code, lines: &[u32]) -> Id {
    let uint = out.uint();
    let all: Vec<Id> = lines.iter().map(|line| out.constant(*line)).collect();
    let length = out.constant(lines.len() as u32);
    let array = out.array(uint, length);
    let table = out.value(op::ConstantComposite, array, all.as_slice());
    let to_array = out.pointer(storage_class::Function, array);
    let to_line = out.pointer(storage_class::Function, uint);
    write_function(out, functions, "vkabort_line", (uint, &[uint]), |out, _, parameters| {
        let [word] = *parameters else { return None };
        let class = Literal(storage_class::Function);
        let variable = out.emit(op::Variable, to_array, (class, table));
        let [shift, mask] = [SITE_SHIFT, SITES - 1].map(|value| out.constant(value));
        let site = out.calculate(op::ShiftRightLogical, (word, shift));
        let site = out.calculate(op::BitwiseAnd, (site, mask));
        let pointer = out.emit(op::AccessChain, to_line, (variable, site));
        Some(out.emit(op::Load, uint, pointer))
    })
}
