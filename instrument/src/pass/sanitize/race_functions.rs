//! The functions that record accesses to shared memory and find races.
//!
//! A word of the shadow is the greatest of those that the accesses of its scalar have written since an invocation began:
//!
//! ```text
//! epoch (12 bits) | kind (3) | site (7) | who (10)
//!
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
//! Of loads and stores that race, one sees another at the shadow, however invocations run (`race_protocol_tests`). `LOADS` is more than one reader, of which the word has one.
//!
//! `who` is the invocation, or the subgroup in modules with subgroup operations. `vkabort_epoch` is 0 once the epochs are used up, and in
//! workgroups with too many invocations: such accesses are found by nobody. `vkabort_observed` is the epoch, or one that does not exist
//! while the invocation reports nothing.

use super::workgroup_shadow::WorkgroupShadow;
use crate::edit::emitter::Emitter;
use crate::spv::op::{scope, storage_class};
use crate::spv::{Code, Id, Literal, op};

const WHO_BITS: u32 = 10;
const SITE_BITS: u32 = 7;
const KIND_BITS: u32 = 3;
const SITE_SHIFT: u32 = WHO_BITS;
const KIND_SHIFT: u32 = WHO_BITS + SITE_BITS;
const EPOCH_SHIFT: u32 = KIND_SHIFT + KIND_BITS;

/// Most invocations of a workgroup.
pub(super) const MAX_INVOCATIONS: u32 = 1 << WHO_BITS;
/// Numbers of sites. The last one stands for all others.
pub(super) const SITES: u32 = 1 << SITE_BITS;
const WHO: u32 = MAX_INVOCATIONS - 1;
const KINDS: u32 = ((1 << KIND_BITS) - 1) << KIND_SHIFT;
const FIRST_EPOCH: u32 = 1 << EPOCH_SHIFT;
/// An epoch that no invocation is in.
const NEVER: u32 = u32::MAX << EPOCH_SHIFT;

/// What an access does; of two of one epoch, the greater one stays in the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Atomic = 1,
    Load = 2,
    /// Loads of more than one invocation.
    Loads = 3,
    Store = 4,
}

impl Kind {
    fn bits(self) -> u32 {
        (self as u32) << KIND_SHIFT
    }
}

/// The functions and variables.
#[derive(Debug)]
pub(super) struct RaceFunctions {
    /// Those that record an access, by its kind: of one scalar, and of several.
    record: [(Kind, Option<Id>, Option<Id>); 3],
    pub(super) next_epoch: Id,
    line: Option<Id>,
    epoch: Id,
    observed: Id,
    who: Id,
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
    /// `who`: the private variable that identifies an invocation or subgroup. `words`: of the shadow of all variables.
    pub(super) fn new(
        out: &mut Emitter,
        shadow: &mut WorkgroupShadow,
        functions: &mut Code,
        (who, size): (Id, Id),
        words: u32,
    ) -> Self {
        let (uint, first) = (out.uint(), out.constant(FIRST_EPOCH));
        let variable = |out: &mut Emitter, name| {
            let variable = out.private(uint, first);
            out.name(variable, name);
            variable
        };
        let epoch = variable(out, "vkabort_epoch");
        let observed = variable(out, "vkabort_observed");
        shadow.globals.extend([epoch, observed]);
        let start = write_function(out, functions, "vkabort_first_epoch", |out| {
            let (bool, most) = (out.bool(), out.constant(MAX_INVOCATIONS));
            let size = out.emit(op::Load, uint, size);
            let is_large = out.emit(op::UGreaterThan, bool, (size, most));
            set_epoch(out, [epoch, observed], is_large, first);
        });
        shadow.starts.push(start);
        Self {
            record: [Kind::Load, Kind::Store, Kind::Atomic].map(|kind| (kind, None, None)),
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
        kind: Kind,
        scalars: u32,
    ) -> Recorder {
        let mut function = self.function(out, shadow, functions, kind);
        if scalars != 1
            && let Some((.., several)) = self.record.iter_mut().find(|(of, ..)| *of == kind)
        {
            function = *several.get_or_insert_with(|| write_several(out, functions, function));
        }
        Recorder { function, scalars }
    }

    /// The function that returns the line of a word's site. `lines`: by site.
    pub(super) fn line(&mut self, out: &mut Emitter, functions: &mut Code, lines: &[u32]) -> Id {
        *self.line.get_or_insert_with(|| write_line(out, functions, lines))
    }

    /// Writes whether a word is of a kind.
    pub(super) fn write_is(out: &mut Emitter, word: Id, kind: Kind) -> Id {
        let (bool, kinds, bits) = (out.bool(), out.constant(KINDS), out.constant(kind.bits()));
        let masked = out.calculate(op::BitwiseAnd, (word, kinds));
        out.emit(op::IEqual, bool, (masked, bits))
    }

    /// Writes whether a word is of a store at one of `count` sites from `first` on.
    pub(super) fn write_is_store_at(out: &mut Emitter, word: Id, (first, count): (u32, u32)) -> Id {
        let bool = out.bool();
        let below = out.constant(Kind::Store.bits() | first << SITE_SHIFT);
        let [mask, count] = [!(u32::MAX << EPOCH_SHIFT), count << SITE_SHIFT].map(|value| out.constant(value));
        let masked = out.calculate(op::BitwiseAnd, (word, mask));
        let from_first = out.calculate(op::ISub, (masked, below));
        out.emit(op::ULessThan, bool, (from_first, count))
    }

    /// Writes the invocation or subgroup of a word.
    pub(super) fn write_who(out: &mut Emitter, word: Id) -> Id {
        let who = out.constant(WHO);
        out.calculate(op::BitwiseAnd, (word, who))
    }

    /// The function that records an access of a kind to one scalar.
    fn function(&mut self, out: &mut Emitter, shadow: &mut WorkgroupShadow, functions: &mut Code, kind: Kind) -> Id {
        let found = self.record.iter().find(|(of, ..)| *of == kind);
        if let Some((_, Some(function), _)) = found {
            return *function;
        }
        let variable = shadow.variable(out);
        let function = out.continue_code(functions, |out| self.write_record(out, variable, kind));
        if let Some((_, one, _)) = self.record.iter_mut().find(|(of, ..)| *of == kind) {
            *one = Some(function);
        }
        function
    }

    fn write_record(&self, out: &mut Emitter, shadow: Id, kind: Kind) -> Id {
        let (bool, uint) = (out.bool(), out.uint());
        let ty = out.function_type(uint, &[uint, uint]);
        let function = out.fresh();
        out.name(
            function,
            match kind {
                Kind::Store => "vkabort_write",
                Kind::Atomic => "vkabort_change",
                Kind::Load | Kind::Loads => "vkabort_read",
            },
        );
        out.op(op::Function, (uint, function, Literal(0), ty));
        let [at, site] = [(); 2].map(|()| out.emit(op::FunctionParameter, uint, ()));
        let [entry, inside, outside] = [(); 3].map(|()| out.fresh());
        let (zero, words) = (out.constant(0), out.constant(self.words));
        out.label(entry);
        let is_inside = out.emit(op::ULessThan, bool, (at, words));
        out.branch_if(is_inside, inside, outside, outside);
        out.label(inside);
        let [epoch, observed, who] = [self.epoch, self.observed, self.who].map(|v| out.emit(op::Load, uint, v));
        let own = out.calculate(op::BitwiseOr, (site, who));
        let own = out.calculate(op::BitwiseOr, (own, epoch));
        let pointer = WorkgroupShadow::word_of(out, shadow, at);
        let maximum = |out: &mut Emitter, kind: Kind| {
            let [bits, workgroup, relaxed] = [kind.bits(), scope::Workgroup, 0].map(|value| out.constant(value));
            let word = out.calculate(op::BitwiseOr, (own, bits));
            out.calculate(op::AtomicUMax, (pointer, workgroup, relaxed, word))
        };
        let of_epoch = |out: &mut Emitter, word: Id, epoch: Id| {
            let mask = out.constant(NEVER);
            let of = out.calculate(op::BitwiseAnd, (word, mask));
            out.emit(op::IEqual, bool, (of, epoch))
        };
        let of_other = |out: &mut Emitter, word: Id| {
            let of = Self::write_who(out, word);
            out.emit(op::INotEqual, bool, (of, who))
        };
        let mut found = maximum(out, kind);
        let mut last = inside;
        if kind == Kind::Load {
            let [more, end, both] = [(); 3].map(|()| out.fresh());
            let is_now = of_epoch(out, found, epoch);
            let is_other = of_other(out, found);
            let is_load = Self::write_is(out, found, Kind::Load);
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
                let is_many = Self::write_is(out, found, Kind::Loads);
                out.emit(op::LogicalOr, bool, (is_other, is_many))
            }
            _ => {
                let is_store = Self::write_is(out, found, Kind::Store);
                out.emit(op::LogicalAnd, bool, (is_other, is_store))
            }
        };
        let races = out.emit(op::LogicalAnd, bool, (races, is_observed));
        let result = out.calculate(op::Select, (races, found, zero));
        out.branch(outside);
        out.label(outside);
        let returned = out.fresh();
        out.phi(uint, returned, &[(zero, entry), (result, last)]);
        out.op(op::ReturnValue, returned);
        out.op(op::FunctionEnd, ());
        function
    }
}

/// Sets both variables to the first epoch or the next one, or ends the recording.
fn set_epoch(out: &mut Emitter, [epoch, observed]: [Id; 2], is_over: Id, next: Id) {
    let (zero, never) = (out.constant(0), out.constant(NEVER));
    let recorded = out.calculate(op::Select, (is_over, zero, next));
    let seen = out.calculate(op::Select, (is_over, never, next));
    out.op(op::Store, (epoch, recorded));
    out.op(op::Store, (observed, seen));
}

fn write_next_epoch(out: &mut Emitter, functions: &mut Code, variables: [Id; 2]) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let [epoch, _] = variables;
    write_function(out, functions, "vkabort_next_epoch", |out| {
        let epoch = out.emit(op::Load, uint, epoch);
        // Of 0, this is the greatest.
        let [one, most] = [FIRST_EPOCH, NEVER - 2 * FIRST_EPOCH].map(|value| out.constant(value));
        let before = out.calculate(op::ISub, (epoch, one));
        let is_over = out.emit(op::UGreaterThanEqual, bool, (before, most));
        let next = out.calculate(op::IAdd, (epoch, one));
        set_epoch(out, variables, is_over, next);
    })
}

/// Writes a function without parameters, result and branches.
fn write_function(out: &mut Emitter, functions: &mut Code, name: &str, write: impl FnOnce(&mut Emitter)) -> Id {
    let void = out.void();
    let ty = out.function_type(void, &[]);
    let [function, entry] = [(); 2].map(|()| out.fresh());
    out.name(function, name);
    out.continue_code(functions, |out| {
        out.op(op::Function, (void, function, Literal(0), ty));
        out.label(entry);
        write(out);
        out.op(op::Return, ());
        out.op(op::FunctionEnd, ());
    });
    function
}

/// Writes a function that records an access to several scalars by `one`, and returns the greatest of what it finds.
fn write_several(out: &mut Emitter, functions: &mut Code, one: Id) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let ty = out.function_type(uint, &[uint, uint, uint]);
    let function = out.fresh();
    out.continue_code(functions, |out| {
        out.op(op::Function, (uint, function, Literal(0), ty));
        let [at, site, count] = [(); 3].map(|()| out.emit(op::FunctionParameter, uint, ()));
        let [entry, header, test, body, next, end] = [(); 6].map(|()| out.fresh());
        let [number, following, found, greatest] = [(); 4].map(|()| out.fresh());
        let [zero, increment, all] = [0, 1, u32::MAX].map(|value| out.constant(value));
        out.label(entry);
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
        out.op(op::ReturnValue, found);
        out.op(op::FunctionEnd, ());
    });
    function
}

fn write_line(out: &mut Emitter, functions: &mut Code, lines: &[u32]) -> Id {
    let uint = out.uint();
    let ty = out.function_type(uint, &[uint]);
    let all: Vec<Id> = lines.iter().map(|line| out.constant(*line)).collect();
    let length = out.constant(lines.len() as u32);
    let array = out.array(uint, length);
    let table = out.value(op::ConstantComposite, array, all.as_slice());
    let to_array = out.pointer(storage_class::Function, array);
    let to_line = out.pointer(storage_class::Function, uint);
    let [function, entry] = [(); 2].map(|()| out.fresh());
    out.name(function, "vkabort_line");
    out.continue_code(functions, |out| {
        out.op(op::Function, (uint, function, Literal(0), ty));
        let word = out.emit(op::FunctionParameter, uint, ());
        out.label(entry);
        let class = Literal(storage_class::Function);
        let variable = out.emit(op::Variable, to_array, (class, table));
        let [shift, mask] = [SITE_SHIFT, SITES - 1].map(|value| out.constant(value));
        let site = out.calculate(op::ShiftRightLogical, (word, shift));
        let site = out.calculate(op::BitwiseAnd, (site, mask));
        let pointer = out.emit(op::AccessChain, to_line, (variable, site));
        let line = out.emit(op::Load, uint, pointer);
        out.op(op::ReturnValue, line);
        out.op(op::FunctionEnd, ());
    });
    function
}
