//! Number of steps until a counter that is shifted or divided by a constant in each iteration first reaches certain values.

use super::progression::Values;
use vkabort_spirv::index::constant::{binary, wrapped};
use vkabort_spirv::op;

/// The values `first`, `first OP by`, `first OP by OP by`, .. of `bits` bits (1 to 64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shifting {
    /// `None`: any.
    pub(super) first: Option<u64>,
    /// They begin with the second one.
    pub(super) is_behind: bool,
    pub(super) opcode: u16,
    pub(super) by: u64,
    pub(super) bits: u32,
}

/// Whether a repeated operation leads to a value that it does not change, if its second operand is large enough.
pub(super) fn is_shift(opcode: u16) -> bool {
    matches!(
        opcode,
        op::ShiftLeftLogical | op::ShiftRightLogical | op::ShiftRightArithmetic | op::UDiv | op::SDiv
    )
}

impl Shifting {
    /// The position of the first value in `values`, or a later one if it begins with any. `None` if there may be none. O(bits).
    pub(super) fn first_in(self, values: Values) -> Option<u64> {
        if !self.is_defined() {
            return None;
        }
        let Some(first) = self.first else {
            // Each step removes a bit.
            let last = [0, u64::MAX].map(|last| wrapped(last, self.bits));
            let ends = match self.opcode {
                op::ShiftRightArithmetic => last.as_slice(),
                _ => &last[..1],
            };
            let stops = ends.iter().all(|end| values.contains(*end, self.bits));
            return stops.then_some(self.bits.into());
        };
        let step = |value: &u64| Some(wrapped(binary(self.opcode, *value, self.by, self.bits)?, self.bits));
        let all = std::iter::successors(Some(first), step).skip(self.is_behind.into());
        let all = all.take(self.bits as usize + 1);
        let position = all.into_iter().position(|value| values.contains(value, self.bits))?;
        u64::try_from(position).ok()
    }

    /// Whether the operation is defined and changes each value but those at its end.
    fn is_defined(&self) -> bool {
        let half = wrapped(u64::MAX, self.bits) >> 1;
        match self.opcode {
            op::UDiv => self.by >= 2,
            op::SDiv => (2..=half).contains(&self.by),
            _ => (1..u64::from(self.bits)).contains(&self.by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::progression::values_where;
    use super::*;

    const BITS: u32 = 4;
    const OPCODES: [u16; 5] = [
        op::ShiftLeftLogical,
        op::ShiftRightLogical,
        op::ShiftRightArithmetic,
        op::UDiv,
        op::SDiv,
    ];

    /// How often a comparison has the expected result first, by counting.
    fn counted(of: Shifting, first: u64, (opcode, bound, expected): (u16, u64, bool)) -> Option<u64> {
        let step = |value| wrapped(binary(of.opcode, value, of.by, BITS).expect("a value"), BITS);
        let mut value = if of.is_behind { step(first) } else { first };
        (0..=1 << BITS).find(|_| {
            let holds = binary(opcode, value, bound, BITS).map(|result| result != 0) == Some(expected);
            value = step(value);
            !holds
        })
    }

    #[test]
    fn the_limit_is_that_of_a_loop_at_4_bits() {
        for opcode in op::IEqual..=op::SLessThanEqual {
            for number in 0..1_u64 << (2 * BITS + 2) {
                let (bound, by) = (number & 15, number >> BITS & 15);
                let (is_behind, expected) = (number >> (2 * BITS) & 1 != 0, number >> (2 * BITS + 1) & 1 != 0);
                let holds = values_where(opcode, bound, true, BITS).expect("a comparison");
                let stops = if expected { holds.others(BITS) } else { holds };
                for of in OPCODES {
                    let of = Shifting {
                        first: None,
                        is_behind,
                        opcode: of,
                        by,
                        bits: BITS,
                    };
                    let comparison = (opcode, bound, expected);
                    if !of.is_defined() {
                        assert_eq!(of.first_in(stops), None);
                        continue;
                    }
                    let counts = (0..16).map(|first| (first, counted(of, first, comparison)));
                    for (first, count) in counts.clone() {
                        let exact = Shifting {
                            first: Some(first),
                            ..of
                        };
                        assert_eq!(exact.first_in(stops), count, "{exact:?} {comparison:?}");
                    }
                    let most = counts
                        .map(|(_, count)| count)
                        .reduce(|one, other| Some(one?.max(other?)));
                    match (of.first_in(stops), most.flatten()) {
                        (Some(limit), most) => assert!(most.is_some_and(|most| most <= limit), "{of:?} {comparison:?}"),
                        (None, most) => assert_eq!(most, None, "{of:?} {comparison:?}"),
                    }
                }
            }
        }
    }
}
