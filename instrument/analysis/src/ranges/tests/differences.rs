//! Differences of compared numbers.

use super::super::differences::compared_difference;
use super::super::facts::Fact;
use super::interpreter::compare;
use super::{BITS, hull, intervals, values};
use vkabort_spirv::op;

#[test]
fn a_difference_has_the_values_that_the_comparison_allows() {
    for opcode in op::IEqual..=op::SLessThanEqual {
        for result in [false, true] {
            let (fact, number) = Fact::of_value(opcode, result);
            for left in intervals() {
                for right in intervals() {
                    let pairs = values(left).flat_map(|a| values(right).map(move |b| (a, b)));
                    let pairs = pairs.filter(|(a, b)| compare(opcode, *a, *b, BITS) == result);
                    let exact = hull(pairs.map(|(a, b)| a.wrapping_sub(b)), BITS);
                    let found = compared_difference(std::iter::once(&fact), number, left, right);
                    let (Some(found), Some(exact)) = (found, exact) else {
                        continue;
                    };
                    assert!(
                        found.join(exact) == found,
                        "{opcode} {result} {left:?} {right:?}: {found:?} is not {exact:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_difference_behind_a_comparison_does_not_wrap() {
    let (fact, number) = Fact::of_value(op::UGreaterThanEqual, true);
    let full = super::Range::full(BITS);
    let range = |min, max| super::Range::unsigned(min, max, BITS);
    let difference = |left, right| compared_difference(std::iter::once(&fact), number, left, right);
    assert_eq!(difference(range(0, 5), range(1, 15)), Some(range(0, 4)));
    assert_eq!(difference(full, full), Some(full));
    let (fact, _) = Fact::of_value(op::ULessThan, true);
    assert_eq!(
        compared_difference(std::iter::once(&fact), number, range(0, 5), full),
        None
    );
}
