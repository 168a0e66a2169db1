//! Every operation on every two intervals of 4 bits, and on intervals between the edges of wider types, against an interpreter.

mod comparisons;
mod differences;
mod interpreter;
mod intervals;
mod operations;

use super::interval::{Range, mask, signed};

/// Width of the exhaustive tests.
const BITS: u32 = 4;

/// All ranges of 4 bits: an interval or none on each side of the sign boundary.
fn all_ranges() -> Vec<Range> {
    let half = |sign: u64| {
        let intervals = (0..8).flat_map(move |first| (first..8).map(move |last| Some((sign + first, sign + last))));
        intervals.chain([None])
    };
    let range = |(first, last)| Range::unsigned(first, last, BITS);
    let both = half(0).flat_map(|low| half(8).map(move |high| (low.map(range), high.map(range))));
    both.filter_map(|(low, high)| Some(low.or(high)?.join(high.or(low)?)))
        .collect()
}

/// All ranges of 4 bits that are one unsigned or one signed interval.
fn intervals() -> Vec<Range> {
    let is_interval = |range: &Range| {
        let unsigned = Range::unsigned(range.min(), range.max(), BITS);
        *range == unsigned || *range == Range::signed(range.smin(), range.smax(), BITS)
    };
    all_ranges().into_iter().filter(is_interval).collect()
}

/// The values of a range of 4 bits.
fn values(range: Range) -> impl Iterator<Item = u64> + Clone {
    (0..16).filter(move |value| range.contains(*value))
}

/// The smallest range with these values.
fn hull(values: impl Iterator<Item = u64>, bits: u32) -> Option<Range> {
    values.map(|value| Range::only(value, bits)).reduce(Range::join)
}

/// Ranges of a wider type between values at its edges, and these values.
fn edges(bits: u32) -> (Vec<Range>, Vec<u64>) {
    let (max, half) = (mask(bits), mask(bits) >> 1);
    let values = vec![
        0,
        1,
        3,
        u64::from(bits) - 1,
        half - 1,
        half,
        half + 1,
        half + 2,
        max - 2,
        max - 1,
        max,
    ];
    let mut ranges = Vec::new();
    for first in &values {
        for last in &values {
            if first <= last {
                ranges.push(Range::unsigned(*first, *last, bits));
            }
            if signed(*first, bits) < 0 && signed(*last, bits) >= 0 {
                ranges.push(Range::signed(signed(*first, bits), signed(*last, bits), bits));
            }
        }
    }
    (ranges, values)
}
