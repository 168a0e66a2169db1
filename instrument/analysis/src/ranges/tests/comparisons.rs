//! Refinement by comparisons.

use super::super::comparisons::{decided, mirrored, refined};
use super::*;
use vkabort_spirv::op;

const COMPARISONS: std::ops::RangeInclusive<u16> = op::IEqual..=op::SLessThanEqual;

#[test]
fn refinement_is_exact_on_every_two_intervals() {
    assert_eq!(COMPARISONS.len(), 10);
    let intervals = intervals();
    for opcode in COMPARISONS {
        for value in &intervals {
            for other in &intervals {
                let mut kept = [Vec::new(), Vec::new()];
                for one in values(*value) {
                    let results = values(*other).map(|other| interpreter::compare(opcode, one, other, BITS));
                    let (mut any, mut all) = (false, true);
                    results.for_each(|result| (any, all) = (any | result, all & result));
                    kept[1].extend(any.then_some(one));
                    kept[0].extend((!all).then_some(one));
                }
                for result in [false, true] {
                    let hull = hull(kept[usize::from(result)].iter().copied(), BITS);
                    let refined = refined(*value, opcode, result, *other);
                    assert_eq!(refined, hull, "{value:?} {opcode} {other:?} is {result}");
                }
                let result = decided(*value, opcode, *other);
                assert_eq!(result == Some(true), kept[0].is_empty());
                assert_eq!(result == Some(false), kept[1].is_empty());
            }
        }
    }
}

#[test]
fn comparisons_mirror() {
    for opcode in COMPARISONS {
        for left in 0..16 {
            for right in 0..16 {
                let result = interpreter::compare(opcode, left, right, BITS);
                assert_eq!(result, interpreter::compare(mirrored(opcode), right, left, BITS));
            }
        }
    }
}

#[test]
fn refinement_is_sound_at_edges() {
    for bits in [8, 16, 32, 64] {
        let (ranges, values) = edges(bits);
        for opcode in COMPARISONS {
            for value in &ranges {
                for other in ranges.iter().step_by(3) {
                    let refined = [false, true].map(|result| refined(*value, opcode, result, *other));
                    for one in values.iter().filter(|one| value.contains(**one)) {
                        for two in values.iter().filter(|two| other.contains(**two)) {
                            let result = interpreter::compare(opcode, *one, *two, bits);
                            assert!(refined[usize::from(result)].is_some_and(|range| range.contains(*one)));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons_of_signed_numbers_narrow_ranges() {
    let full = Range::full(32);
    let at = |range, opcode, result, value| refined(range, opcode, result, Range::only(value, 32));
    assert_eq!(at(full, op::ULessThan, true, 64), Some(Range::unsigned(0, 63, 32)));
    assert_eq!(
        at(full, op::SLessThan, true, 64),
        Some(Range::signed(i32::MIN.into(), 63, 32))
    );
    let positive = at(full, op::SGreaterThanEqual, true, 0);
    let below = positive.and_then(|range| at(range, op::SLessThan, true, 64));
    assert_eq!(below, Some(Range::unsigned(0, 63, 32)));
    assert_eq!(at(full, op::ULessThan, true, 0), None);
    assert_eq!(at(full, 0, true, 0), Some(full));
}
