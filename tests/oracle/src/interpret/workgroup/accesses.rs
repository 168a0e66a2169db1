//! The accesses to shared memory between two barriers, and their happens-before order.
//!
//! "If two operations access the same memory location, at least one is a write, one of them is not atomic, and neither happens before
//! the other, there is a data race" (Vulkan specification, Memory Model, Data Races). Only barriers order invocations here: programs
//! that order them by atomics are not an input.

use super::super::value::Value;
use crate::module::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// It loads.
    Load,
    /// It stores.
    Store,
    /// It is an atomic.
    Atomic,
}

/// An access of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The invocation.
    pub invocation: u32,
    /// Word offset of the instruction.
    pub offset: usize,
    /// Its kind.
    pub kind: AccessKind,
}

/// Two accesses that race.
pub type Race = (Access, Access);

/// The invocations that were at a barrier when others were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Word offset of the barrier.
    pub offset: usize,
    /// Their number.
    pub reached: u32,
    /// The invocations that no abort has ended.
    pub of: u32,
}

/// An access, and the constant that it stores.
type Stored = (Access, Option<Id>);

/// Whether two accesses to a scalar race. Several may store one constant: `races` documents that it says nothing then.
fn races((one, stored): &Stored, (other, constant): &Stored) -> bool {
    let is_store = |access: &Access| access.kind == AccessKind::Store;
    let is_same = constant.is_some() && constant == stored;
    one.invocation != other.invocation && (is_store(one) || is_store(other)) && !is_same
}

/// Whether the invocation of an access also stores the constant that the other one stores. Its own store then hides the other's.
fn stores_itself(accesses: &[Stored], (one, _): &Stored, (_, constant): &Stored) -> bool {
    let mut own = accesses
        .iter()
        .filter(|(access, _)| access.invocation == one.invocation);
    constant.is_some() && own.any(|(_, stored)| stored == constant)
}

/// The accesses since the last barrier, and the findings so far.
#[derive(Debug)]
pub(super) struct Accesses {
    invocations: u32,
    /// By scalar.
    current: HashMap<(Id, Vec<u32>), Vec<Stored>>,
    pub(super) races: BTreeSet<Race>,
    /// A race that is found in whatever order invocations run, unless one of them has executed an atomic.
    pub(super) has_certain_race: bool,
    pub(super) divergences: Vec<Vec<Arrivals>>,
    pub(super) has_atomics: bool,
}

impl Accesses {
    pub(super) fn new(invocations: u32) -> Self {
        Self {
            invocations,
            current: HashMap::new(),
            races: BTreeSet::new(),
            has_certain_race: false,
            divergences: Vec::new(),
            has_atomics: false,
        }
    }

    /// Adds an access to `value`, which is at a path in a variable.
    pub(super) fn add(
        &mut self,
        (invocation, offset, kind): (u32, usize, AccessKind),
        (variable, path, value): (Id, &[u32], &Value),
        constant: Option<Id>,
    ) {
        let access = Access {
            invocation,
            offset,
            kind,
        };
        self.has_atomics |= kind == AccessKind::Atomic;
        let mut parts = vec![(path.to_vec(), value)];
        while let Some((path, value)) = parts.pop() {
            let Some(inner) = value.parts() else {
                self.current
                    .entry((variable, path))
                    .or_default()
                    .push((access, constant));
                continue;
            };
            parts.extend(
                (0..)
                    .zip(inner)
                    .map(|(number, part)| ([&path[..], &[number]].concat(), part)),
            );
        }
    }

    /// Finds the races between the accesses since the last barrier.
    fn find_races(&mut self) {
        for accesses in std::mem::take(&mut self.current).into_values() {
            for (at, one) in accesses.iter().enumerate() {
                for other in accesses.iter().skip(at + 1).filter(|other| races(one, other)) {
                    self.races.extend([(one.0, other.0), (other.0, one.0)]);
                    self.has_certain_race |=
                        !stores_itself(&accesses, one, other) && !stores_itself(&accesses, other, one);
                }
            }
        }
    }

    /// Forgets the accesses once every invocation that goes on is at a barrier. `aborted`: how many an abort has ended. `waiting`: the word
    /// offset of the barrier that each of the others waits at; the rest have returned.
    pub(super) fn pass_barriers(&mut self, aborted: u32, waiting: impl Iterator<Item = usize>) {
        self.find_races();
        let of = self.invocations - aborted;
        let mut at: BTreeMap<usize, u32> = BTreeMap::new();
        for offset in waiting {
            *at.entry(offset).or_default() += 1;
        }
        if at.values().any(|reached| *reached != of) {
            let arrivals = at.into_iter();
            let arrivals = arrivals.map(|(offset, reached)| Arrivals { offset, reached, of });
            self.divergences.push(arrivals.collect());
        }
    }
}
