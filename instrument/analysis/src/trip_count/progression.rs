//! Number of steps until a counter that changes by a constant, modulo a power of 2, first reaches certain values.

use vkabort_spirv::index::constant::wrapped;
use vkabort_spirv::op;

/// The values `first`, `first + step`, `first + 2 * step`, .., modulo 2 to the power of `bits` (1 to 64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    /// `None`: not known.
    pub(super) first: Option<u64>,
    pub(super) step: u64,
    pub(super) bits: u32,
}

/// `count` values from `start` on, modulo 2 to the power of the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    start: u64,
    /// Up to 2 to the power of the bits.
    count: u128,
}

impl Values {
    pub(super) fn contains(self, value: u64, bits: u32) -> bool {
        u128::from(wrapped(value.wrapping_sub(self.start), bits)) < self.count
    }

    /// All other values.
    pub(super) fn others(self, bits: u32) -> Self {
        let all = 1 << bits;
        Self {
            start: wrapped((u128::from(self.start) + self.count) as u64, bits),
            count: all - self.count,
        }
    }
}

/// The values for which a comparison with `bound` holds. `None` for other opcodes than integer comparisons.
pub(super) fn values_where(opcode: u16, bound: u64, is_left: bool, bits: u32) -> Option<Values> {
    // `bound < value` is `value > bound`.
    let opcode = match opcode {
        _ if is_left => opcode,
        op::ULessThan => op::UGreaterThan,
        op::UGreaterThan => op::ULessThan,
        op::ULessThanEqual => op::UGreaterThanEqual,
        op::UGreaterThanEqual => op::ULessThanEqual,
        op::SLessThan => op::SGreaterThan,
        op::SGreaterThan => op::SLessThan,
        op::SLessThanEqual => op::SGreaterThanEqual,
        op::SGreaterThanEqual => op::SLessThanEqual,
        _ => opcode,
    };
    let smallest = 1_u64 << (bits - 1);
    let bound = wrapped(bound, bits);
    let below = |start: u64, more: u128| Values {
        start,
        count: u128::from(wrapped(bound.wrapping_sub(start), bits)) + more,
    };
    let equal = Values { start: bound, count: 1 };
    Some(match opcode {
        op::IEqual => equal,
        op::INotEqual => equal.others(bits),
        op::ULessThan => below(0, 0),
        op::ULessThanEqual => below(0, 1),
        op::UGreaterThan => below(0, 1).others(bits),
        op::UGreaterThanEqual => below(0, 0).others(bits),
        op::SLessThan => below(smallest, 0),
        op::SLessThanEqual => below(smallest, 1),
        op::SGreaterThan => below(smallest, 1).others(bits),
        op::SGreaterThanEqual => below(smallest, 0).others(bits),
        _ => return None,
    })
}

impl Progression {
    /// The position of the first value in `values`, at most. `None` if there is none, or if it is not known. O(bits).
    pub(super) fn first_in(self, values: Values) -> Option<u64> {
        let Self { first, step, bits } = self;
        if values.count == 0 {
            return None;
        }
        let Some(first) = first else {
            return longest_way(step, bits, values.count);
        };
        let low = wrapped(values.start.wrapping_sub(first), bits);
        let modulus = 1 << bits;
        let high = u128::from(low) + values.count - 1;
        if low == 0 || high >= modulus {
            return Some(0);
        }
        let found = first_multiple(wrapped(step, bits).into(), modulus, low.into(), high)?;
        u64::try_from(found).ok()
    }
}

/// The most steps until a value is one of `count` consecutive ones, wherever it begins: through all others. `None` if a step may leap over
/// them.
fn longest_way(step: u64, bits: u32, count: u128) -> Option<u64> {
    let forward = u128::from(wrapped(step, bits));
    let modulus = 1_u128 << bits;
    let stride = forward.min(modulus - forward);
    let others = modulus - count;
    (stride > 0 && stride <= count)
        .then(|| u64::try_from(others.div_ceil(stride)).ok())
        .flatten()
}

/// The smallest `x` with `low <= factor * x % modulus <= high`, where `0 < low <= high < modulus` and `factor < modulus`.
///
/// If no multiple of `factor` is between `low` and `high`, the product passes the modulus some `y` times, with
/// `modulus * y + low <= factor * x <= modulus * y + high`: so `modulus * y % factor` is between `-high` and `-low` modulo `factor`,
/// a smaller question of the same form, as in Euclid's algorithm.
fn first_multiple(factor: u128, modulus: u128, low: u128, high: u128) -> Option<u128> {
    let (mut factor, mut modulus, mut low, mut high) = (factor, modulus, low, high);
    let mut around = Vec::new();
    let mut found = loop {
        if factor == 0 {
            return None;
        }
        let x = low.div_ceil(factor);
        if factor * x <= high {
            break x;
        }
        around.push((factor, modulus, low));
        (factor, modulus, low, high) = (modulus % factor, factor, factor - high % factor, factor - low % factor);
    };
    for (factor, modulus, low) in around.into_iter().rev() {
        found = (low + modulus * found).div_ceil(factor);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_spirv::index::constant::binary;

    /// How often a comparison has the expected result first, by counting.
    fn counted(of: Progression, opcode: u16, bound: u64, is_left: bool, expected: bool) -> Option<u64> {
        let mut value = of.first?;
        (0..=1 << of.bits).find(|_| {
            let (a, b) = if is_left { (value, bound) } else { (bound, value) };
            value = wrapped(value.wrapping_add(of.step), of.bits);
            binary(opcode, a, b, of.bits).map(|result| result != 0) != Some(expected)
        })
    }

    fn computed(of: Progression, opcode: u16, bound: u64, is_left: bool, expected: bool) -> Option<u64> {
        let holds = values_where(opcode, bound, is_left, of.bits)?;
        of.first_in(if expected { holds.others(of.bits) } else { holds })
    }

    #[test]
    fn the_closed_form_counts_as_a_loop_does_at_4_bits() {
        const BITS: u32 = 4;
        for opcode in op::IEqual..=op::SLessThanEqual {
            for number in 0..1 << (3 * BITS + 2) {
                let part = |position: u32| wrapped(number >> (BITS * position), BITS);
                let (is_left, expected) = (number >> (3 * BITS) & 1 != 0, number >> (3 * BITS + 1) & 1 != 0);
                let of = Progression {
                    first: Some(part(0)),
                    step: part(1),
                    bits: BITS,
                };
                assert_eq!(
                    computed(of, opcode, part(2), is_left, expected),
                    counted(of, opcode, part(2), is_left, expected),
                    "{opcode} {of:?} {} {is_left} {expected}",
                    part(2)
                );
            }
        }
    }

    #[test]
    fn a_loop_from_an_unknown_value_counts_as_the_longest() {
        const BITS: u32 = 4;
        let mut counts = 0;
        for opcode in op::IEqual..=op::SLessThanEqual {
            for (step, bound) in (0..1 << (2 * BITS)).map(|number| (number >> BITS, wrapped(number, BITS))) {
                for expected in [false, true] {
                    let of = |first| Progression {
                        first,
                        step,
                        bits: BITS,
                    };
                    let all = (0..1 << BITS).map(|first| counted(of(Some(first)), opcode, bound, true, expected));
                    let longest = all.reduce(|one, other| Some(one?.max(other?))).flatten();
                    if let Some(most) = computed(of(None), opcode, bound, true, expected) {
                        counts += 1;
                        assert_eq!(Some(most), longest, "{opcode} {step} {bound} {expected}");
                    }
                }
            }
        }
        assert!(counts > 3000, "{counts}");
    }

    #[test]
    fn long_loops_are_counted_at_64_bits() {
        let of = |first, step| Progression {
            first: Some(first),
            step,
            bits: 64,
        };
        assert_eq!(computed(of(0, 1), op::ULessThan, u64::MAX, true, true), Some(u64::MAX));
        assert_eq!(
            computed(of(0, 3), op::IEqual, 1, true, false),
            Some(12_297_829_382_473_034_411)
        );
        assert_eq!(computed(of(0, 2), op::INotEqual, 1, true, true), None);
        assert_eq!(computed(of(1, u64::MAX), op::SGreaterThanEqual, 0, true, true), Some(2));
    }
}
