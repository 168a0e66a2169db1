//! A model of the functions that `functions` writes, against all pairs of accesses: invocations run in random order, and each
//! atomic of the shadow is a step of its own.

use super::word::Kind;
use std::collections::BTreeSet;

const INVOCATIONS: usize = 4;
const SCALARS: usize = 2;

/// A generator of random numbers (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// The accesses of an invocation between two barriers: kind and scalar.
type Epoch = Vec<(Kind, usize)>;

fn word(epoch: usize, kind: Kind, who: usize) -> usize {
    epoch << 8 | (kind as usize) << 4 | who
}

/// Runs one epoch of all invocations. Returns the scalars with a report.
fn run(random: &mut Random, shadow: &mut [usize; SCALARS], epoch: usize, invocations: &[Epoch]) -> BTreeSet<usize> {
    let mut reports = BTreeSet::new();
    let mut next = [0; INVOCATIONS];
    // A reader that has found another one, and has to write so.
    let mut found_reader = [false; INVOCATIONS];
    loop {
        let is_running = |who: &usize| invocations.get(*who).is_some_and(|all| next[*who] < all.len());
        let running: Vec<usize> = (0..INVOCATIONS).filter(is_running).collect();
        if running.is_empty() {
            return reports;
        }
        let who = running[random.below(running.len())];
        let (kind, scalar) = invocations[who][next[who]];
        let written = if found_reader[who] { Kind::Loads } else { kind };
        let old = shadow[scalar];
        shadow[scalar] = old.max(word(epoch, written, who));
        let (old_kind, old_who) = (old >> 4 & 0xF, old & 0xF);
        let is_now = old >> 8 == epoch;
        let is_other = old_who != who;
        let is = |kind: Kind| old_kind == kind as usize;
        let races = match kind {
            Kind::Store => is_other || is(Kind::Loads),
            _ => is_other && is(Kind::Store),
        };
        if is_now && races {
            reports.insert(scalar);
        }
        if kind == Kind::Load && !found_reader[who] && is_now && is_other && is(Kind::Load) {
            found_reader[who] = true;
        } else {
            found_reader[who] = false;
            next[who] += 1;
        }
    }
}

/// The scalars that two invocations access, one of them with a store, and not both atomics or loads.
fn racy(invocations: &[Epoch]) -> BTreeSet<usize> {
    let of = |who: usize| invocations[who].iter().map(move |access| (who, *access));
    let all: Vec<_> = (0..INVOCATIONS).flat_map(of).collect();
    let mut found = BTreeSet::new();
    for (a, (kind, scalar)) in &all {
        let races = |(b, (_, other)): &(usize, (Kind, usize))| a != b && scalar == other;
        if *kind == Kind::Store && all.iter().any(races) {
            found.insert(*scalar);
        }
    }
    found
}

/// Random epochs over one shadow, which nothing clears.
fn check(kinds: &[Kind], is_exact: bool) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut races = 0;
    for _ in 0..2_000 {
        let mut shadow = [0; SCALARS];
        for epoch in 1..6 {
            let mut access = || (kinds[random.below(kinds.len())], random.below(SCALARS));
            let invocations: Vec<Epoch> = (0..INVOCATIONS)
                .map(|who| (0..who % 3 + 1).map(|_| access()).collect())
                .collect();
            let (found, expected) = (run(&mut random, &mut shadow, epoch, &invocations), racy(&invocations));
            assert!(
                found.is_subset(&expected),
                "reported {found:?} of {expected:?}: {invocations:?}"
            );
            assert!(
                !is_exact || found == expected,
                "found {found:?} of {expected:?}: {invocations:?}"
            );
            races += expected.len();
        }
    }
    assert!(races > 1_000, "{races} races");
}

#[test]
fn every_race_of_loads_and_stores_is_found_in_any_order() {
    check(&[Kind::Load, Kind::Load, Kind::Load, Kind::Load, Kind::Store], true);
}

#[test]
fn no_other_is_reported() {
    check(&[Kind::Load, Kind::Load, Kind::Load, Kind::Atomic, Kind::Store], false);
    // An atomic hides one of another invocation from a later store of its own; who has executed one reports nothing anyway.
    check(&[Kind::Atomic, Kind::Atomic, Kind::Atomic, Kind::Store], false);
}
