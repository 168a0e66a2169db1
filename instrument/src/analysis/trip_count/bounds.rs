//! Loops up to a bound, or from a value, of which only the range is known.
//!
//! A loop that goes on while `i < n` goes on only while `i` is below the greatest `n`, whether `n` changes or not. One that begins with
//! any of a range repeats as often as one that begins with the least, as long as no step wraps.

use super::Condition;
use super::induction::Inductions;
use super::progression::{self, Progression};
use crate::analysis::index::constant::wrapped;
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::ranges::{Range, Ranges, mirrored, negated};
use crate::analysis::view::FunctionView;
use crate::spv::{Id, op};

/// The most times that a comparison of an induction with a number of known range has the expected result before it has the other.
/// `None`: not known, or for ever.
pub(super) fn passes<'v, 'a, 'w>(
    ranges: &mut Ranges<'v, 'a, 'w>,
    view: &'v FunctionView<'a, 'w>,
    inductions: &mut Inductions<'v, 'a, 'w>,
    condition: Condition,
) -> Option<u64> {
    let comparison = view.index.def(condition.id).filter(|inst| inst.words.len() == 5)?;
    let block = view.block_of(condition.id)?;
    let opcode = match condition.expected {
        true => comparison.opcode(),
        false => negated(comparison.opcode()),
    };
    let (left, right) = (comparison.id(3), comparison.id(4));
    let mut range = |value: Id, block: BlockIndex| {
        ranges.bits(value)?;
        let point = ranges.at(view, block, &[]);
        Some(ranges.range(&point, value, None))
    };
    [(left, opcode, right), (right, mirrored(opcode), left)]
        .into_iter()
        .find_map(|(value, opcode, bound)| {
            let steps = inductions.steps(value)?;
            let bounds = range(bound, block)?;
            let entries = steps.entries.iter().map(|(value, from)| range(*value, *from));
            let entries = entries.reduce(|one, other| Some(one?.join(other?)))??;
            most_passes(entries, (steps.step, steps.added), opcode, bounds)
        })
}

/// How often a comparison with numbers of the range `bounds` holds at most before it does not, for a counter that is one of `entries` and
/// then changes by `step`, and is compared with `added` more. `None`: not known, or for ever.
fn most_passes(entries: Range, (step, added): (u64, u64), opcode: u16, bounds: Range) -> Option<u64> {
    let bits = entries.bits();
    let bound = weakest(opcode, bounds)?;
    let first = match entries.value() {
        Some(only) => wrapped(only.wrapping_add(added), bits),
        None if added == 0 => first(entries, step, opcode, bound)?,
        None => return None,
    };
    let stops = progression::values_where(opcode, bound, true, bits)?.others(bits);
    Progression { first, step, bits }.first_in(stops)
}

/// The bound with which a comparison holds whenever it holds with one of a range. `None` for comparisons that have none.
fn weakest(opcode: u16, bounds: Range) -> Option<u64> {
    let bound = match opcode {
        op::ULessThan | op::ULessThanEqual => bounds.max(),
        op::UGreaterThan | op::UGreaterThanEqual => bounds.min(),
        op::SLessThan | op::SLessThanEqual => bounds.smax() as u64,
        op::SGreaterThan | op::SGreaterThanEqual => bounds.smin() as u64,
        _ => return None,
    };
    Some(wrapped(bound, bounds.bits()))
}

/// The value from which a counter takes the most steps up to a bound. `None` if a step may wrap.
fn first(entries: Range, step: u64, opcode: u16, bound: u64) -> Option<u64> {
    let (bits, full) = (entries.bits(), Range::full(entries.bits()));
    let rising = i64::try_from(step)
        .ok()
        .filter(|step| (1..=full.smax()).contains(step))?;
    match opcode {
        op::ULessThan | op::ULessThanEqual => {
            let end = bound.checked_add(step)?;
            (end <= full.max()).then_some(entries.min())
        }
        op::SLessThan | op::SLessThanEqual => {
            let end = Range::only(bound, bits).smin().checked_add(rising)?;
            (end <= full.smax()).then_some(wrapped(entries.smin() as u64, bits))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::index::constant::binary;

    const BITS: u32 = 4;

    fn intervals() -> impl Iterator<Item = Range> + Clone {
        (0..16).flat_map(|first| (first..16).map(move |last| Range::unsigned(first, last, BITS)))
    }

    /// How often a counter passes at most, if the bound may be any of a range each time. `None`: for ever.
    fn counted(first: u64, (step, added): (u64, u64), opcode: u16, bounds: Range) -> Option<u64> {
        let passes = |count: u64| {
            let value = wrapped(first + step * count + added, BITS);
            let mut bounds = (0..16).filter(|bound| bounds.contains(*bound));
            bounds.any(|bound| binary(opcode, value, bound, BITS) == Some(1))
        };
        (0..=16).find(|count| !passes(*count))
    }

    #[test]
    fn the_limit_is_one_of_loops_at_4_bits() {
        for opcode in op::IEqual..=op::SLessThanEqual {
            for step in [0, 1, 2, 3, 7, 8, 15] {
                for added in [0, 1, 14] {
                    for bounds in intervals() {
                        let counts: Vec<Option<u64>> = (0..16)
                            .map(|first| counted(first, (step, added), opcode, bounds))
                            .collect();
                        for entries in intervals() {
                            let Some(limit) = most_passes(entries, (step, added), opcode, bounds) else {
                                continue;
                            };
                            let all = (0..16_u64).zip(&counts).filter(|(first, _)| entries.contains(*first));
                            for (first, count) in all {
                                assert!(
                                    count.is_some_and(|count| count <= limit),
                                    "{opcode} {step} {added} {bounds:?} {first} of {entries:?}: {limit}, not {count:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_loop_of_strides_up_to_any_small_bound_ends_soon() {
        let (entries, bounds) = (Range::unsigned(0, 63, 32), Range::unsigned(0, 1000, 32));
        assert_eq!(most_passes(entries, (64, 0), op::ULessThan, bounds), Some(16));
        assert_eq!(most_passes(entries, (64, 0), op::SLessThanEqual, bounds), Some(16));
        assert_eq!(most_passes(entries, (64, 0), op::INotEqual, bounds), None);
        assert_eq!(most_passes(entries, (64, 0), op::ULessThan, Range::full(32)), None);
    }
}
