//! The set operations of ranges.

use super::*;

#[test]
fn ranges_contain_what_they_are_made_of() {
    for bits in [1, 4, 8, 16, 32, 64] {
        let (full, max, half) = (Range::full(bits), mask(bits), mask(bits) >> 1);
        assert!(full.is_full() && full.bits() == bits && full.value().is_none());
        assert_eq!((full.min(), full.max()), (0, max));
        assert_eq!((full.smin(), full.smax()), (signed(half + 1, bits), half as i64));
        for value in [0, 1, half, half + 1, max] {
            let only = Range::only(value, bits);
            assert_eq!((only.value(), only.smin()), (Some(value & max), signed(value, bits)));
            assert!(only.contains(value) && !only.is_full());
        }
    }
    let around_zero = Range::signed(-2, 3, 8);
    assert_eq!((around_zero.min(), around_zero.max()), (0, 255));
    assert!(around_zero.contains(254) && around_zero.contains(0) && !around_zero.contains(4));
    assert!(Range::unsigned(5, 4, 8).is_full() && Range::signed(5, 4, 8).is_full());
}

#[test]
fn every_interval_has_its_values() {
    for first in 0..16u64 {
        for last in first..16 {
            assert!(values(Range::unsigned(first, last, BITS)).eq(first..=last));
            let range = Range::signed(first as i64 - 8, last as i64 - 8, BITS);
            let mut members: Vec<i64> = values(range).map(|value| signed(value, BITS)).collect();
            members.sort_unstable();
            assert!(members.into_iter().eq(first as i64 - 8..=last as i64 - 8));
        }
        for more in 0..16u64 {
            let members = hull((first..=first + more).map(|value| value & 15), BITS);
            assert_eq!(Some(Range::wrapping(first, more.into(), BITS)), members);
        }
    }
}

#[test]
fn join_and_meet_are_exact() {
    let all = all_ranges();
    assert_eq!((all.len(), intervals().len()), (1368, 199));
    for one in all.iter().step_by(3) {
        assert_eq!(hull(values(*one), BITS), Some(*one));
        for other in all.iter().step_by(7) {
            let joined = one.join(*other);
            assert_eq!(hull(values(*one).chain(values(*other)), BITS), Some(joined));
            let both = values(*one).filter(|value| other.contains(*value));
            assert_eq!(hull(both, BITS), one.meet(*other));
        }
    }
}

#[test]
fn widening_ends() {
    let all = all_ranges();
    for start in &all {
        for new in &all {
            let wide = start.widen(*new);
            assert_eq!(wide.join(start.join(*new)), wide, "{start:?} {new:?}");
            assert_eq!(wide == *start, start.join(*new) == *start);
        }
    }
    // The longest chain: every next range is one of those that move a bound.
    let mut reached = all.clone();
    let mut steps = 0;
    while !reached.is_empty() {
        let mut next = Vec::new();
        for range in &reached {
            let moved = all.iter().map(|new| range.widen(*new)).filter(|wide| wide != range);
            next.extend(moved);
        }
        next.sort_by_key(|range| (range.min(), range.max(), range.smin(), range.smax()));
        next.dedup();
        reached = next;
        steps += 1;
    }
    assert_eq!(steps - 1, 4);
    let counter = Range::only(0, 32).widen(Range::unsigned(0, 1, 32));
    assert_eq!((counter.min(), counter.smax()), (0, i64::from(i32::MAX)));
    assert_eq!(counter.max(), i32::MAX as u64);
    assert!(counter.widen(Range::only(1 << 31, 32)).is_full());
}
