//! Ranges of instructions' results, against an interpreter.

use super::super::glsl_operations::computed_glsl;
use super::super::operations::computed;
use super::*;
use vkabort_spirv::op::{self, glsl};

const BINARY: [u16; 14] = [
    op::IAdd,
    op::ISub,
    op::IMul,
    op::UDiv,
    op::SDiv,
    op::UMod,
    op::SRem,
    op::SMod,
    op::BitwiseAnd,
    op::BitwiseOr,
    op::BitwiseXor,
    op::ShiftLeftLogical,
    op::ShiftRightLogical,
    op::ShiftRightArithmetic,
];
const GLSL_BINARY: [u32; 4] = [glsl::UMin, glsl::SMin, glsl::UMax, glsl::SMax];
const UNARY: [u16; 8] = [
    op::SNegate,
    op::Not,
    op::BitCount,
    op::BitReverse,
    op::UConvert,
    op::SConvert,
    op::Bitcast,
    op::CopyObject,
];
const GLSL_UNARY: [u32; 5] = [glsl::SAbs, glsl::SSign, glsl::FindILsb, glsl::FindUMsb, glsl::FindSMsb];

/// Every two intervals of 4 bits, with the computed range and the smallest one. Returns how many of 1,000 are the same.
fn check(
    name: &str,
    range: impl Fn(Range, Range) -> Option<Range>,
    evaluate: impl Fn(u64, u64) -> Option<u64>,
    accept: impl Fn(Range, Range, Range, Range) -> bool,
) -> usize {
    let intervals = intervals();
    let (mut exact, mut all) = (0, 0);
    for right in &intervals {
        // For each left value, the set of results.
        let results: Vec<u16> = (0..16)
            .map(|left| {
                values(*right)
                    .filter_map(|right| evaluate(left, right))
                    .fold(0, |set, value| set | 1 << value)
            })
            .collect();
        for left in &intervals {
            let set = values(*left).fold(0, |set, value| set | results[value as usize]);
            let members = (0..16).filter(|value| set >> value & 1 == 1);
            let computed = range(*left, *right).unwrap_or(Range::full(BITS));
            for value in members.clone() {
                assert!(
                    computed.contains(value),
                    "{name}: {left:?} {right:?}: {value} is not in {computed:?}"
                );
            }
            let Some(hull) = hull(members, BITS) else { continue };
            assert!(
                accept(*left, *right, computed, hull),
                "{name}: {left:?} {right:?}: {computed:?}, not {hull:?}"
            );
            all += 1;
            exact += usize::from(computed == hull);
        }
    }
    exact * 1000 / all
}

#[test]
fn binary_operations_on_every_two_intervals() {
    for opcode in BINARY {
        let is_shift = matches!(opcode, op::ShiftRightLogical..=op::ShiftLeftLogical);
        let accept = |left: Range, right: Range, computed: Range, hull: Range| match opcode {
            op::IAdd | op::ISub | op::BitwiseAnd | op::BitwiseOr | op::BitwiseXor => computed == hull,
            op::IMul => {
                let fits = left.max() * right.max() < 16;
                let ends = [left.smin(), left.smax()].map(|one| [one * right.smin(), one * right.smax()]);
                let signed_fits = ends.iter().flatten().all(|product| (-8..8).contains(product));
                (!fits || (computed.min(), computed.max()) == (hull.min(), hull.max()))
                    && (!signed_fits || (computed.smin(), computed.smax()) == (hull.smin(), hull.smax()))
            }
            // Undefined for some amount: any value.
            _ if is_shift && right.max() >= 4 => computed.is_full(),
            op::ShiftRightLogical | op::ShiftRightArithmetic => computed == hull,
            _ => true,
        };
        let exact = check(
            &format!("opcode {opcode}"),
            |left, right| computed(opcode, &[left, right], BITS),
            |left, right| interpreter::binary(opcode, left, right, BITS),
            accept,
        );
        let least = match opcode {
            op::IAdd | op::ISub | op::BitwiseAnd | op::BitwiseOr | op::BitwiseXor => 1000,
            op::SDiv => 990,
            op::UDiv | op::SRem | op::SMod => 820,
            op::IMul | op::UMod => 620,
            _ => 0,
        };
        assert!(exact >= least, "opcode {opcode}: {exact} of 1000 are exact");
    }
}

#[test]
fn extremes_of_every_two_intervals_are_exact() {
    for number in GLSL_BINARY {
        let exact = check(
            &format!("instruction {number}"),
            |left, right| computed_glsl(number, &[left, right]),
            |left, right| interpreter::glsl(number, &[left, right], BITS),
            |_, _, computed, hull| computed == hull,
        );
        assert_eq!(exact, 1000);
    }
    let exact = check(
        "select",
        |left, right| computed(op::Select, &[left, right], BITS),
        |left, _| Some(left),
        |left, right, computed, _| computed == left.join(right),
    );
    assert!(exact > 0);
}

#[test]
fn unary_operations_on_every_range() {
    let all = all_ranges();
    for opcode in UNARY {
        for bits in [1, 2, 3, 4, 5, 8, 64] {
            let is_conversion = matches!(opcode, op::UConvert | op::SConvert | op::BitCount);
            let range = |value| computed(opcode, &[value], bits);
            if bits != BITS && !is_conversion {
                assert_eq!(range(Range::full(BITS)), None);
                continue;
            }
            for value in &all {
                let results = values(*value).map(|value| interpreter::unary(opcode, value, BITS));
                let hull = hull(results, bits);
                let computed = range(*value);
                assert!(
                    hull.zip(computed)
                        .is_some_and(|(hull, computed)| computed.join(hull) == computed)
                );
                let is_exact = opcode != op::BitReverse && (opcode != op::BitCount || bits > 3);
                assert!(
                    !is_exact || computed == hull,
                    "opcode {opcode}: {value:?}: {computed:?}, not {hull:?}"
                );
            }
        }
    }
    for number in GLSL_UNARY {
        for value in &all {
            let hull = hull(
                values(*value).filter_map(|value| interpreter::glsl(number, &[value], BITS)),
                BITS,
            );
            let computed = computed_glsl(number, &[*value]);
            assert_eq!(computed, hull, "instruction {number}: {value:?}");
        }
    }
}

#[test]
fn clamps_and_bit_fields() {
    let all = all_ranges();
    let some = || all.iter().step_by(61);
    for number in [glsl::UClamp, glsl::SClamp] {
        for (value, low, high) in some().flat_map(|a| some().flat_map(move |b| some().map(move |c| (a, b, c)))) {
            let computed = computed_glsl(number, &[*value, *low, *high]).expect("a clamp");
            for (a, b) in values(*value).flat_map(|a| values(*low).map(move |b| (a, b))) {
                let results = values(*high).filter_map(|c| interpreter::glsl(number, &[a, b, c], BITS));
                results.for_each(|result| assert!(computed.contains(result), "{value:?} {low:?} {high:?}: {result}"));
            }
        }
    }
    let amounts = || (0..5u64).flat_map(|first| (first..5).map(move |last| (first, last)));
    for ((o, o_last), (c, c_last)) in amounts().flat_map(|offset| amounts().map(move |count| (offset, count))) {
        let (offset, count) = (Range::unsigned(o, o_last, 32), Range::unsigned(c, c_last, 8));
        for base in all.iter().step_by(7) {
            for opcode in [op::BitFieldSExtract, op::BitFieldUExtract] {
                let range = computed(opcode, &[*base, offset, count], BITS);
                assert_eq!(range.is_none(), o_last + c_last > 4);
                let results = values(*base).flat_map(|base| {
                    let offsets = (o..=o_last).flat_map(|offset| (c..=c_last).map(move |count| (offset, count)));
                    offsets.filter_map(move |(o, c)| interpreter::field(opcode, base, o, c, BITS))
                });
                let range = range.unwrap_or(Range::full(BITS));
                results.for_each(|result| assert!(range.contains(result), "{base:?} {offset:?} {count:?}: {result}"));
            }
            let insert = all[(base.min() * 80 + base.max() + o * 16 + c) as usize];
            let range = computed(op::BitFieldInsert, &[*base, insert, offset, count], BITS);
            let range = range.unwrap_or(Range::full(BITS));
            for (a, b) in values(*base).flat_map(|a| values(insert).map(move |b| (a, b))) {
                let results = (o..=o_last).flat_map(|o| (c..=c_last).map(move |c| (o, c)));
                let results = results.filter_map(|(o, c)| interpreter::inserted(a, b, o, c, BITS));
                results.for_each(|result| assert!(range.contains(result), "{base:?} {insert:?} {o} {c}: {result}"));
            }
        }
    }
}

#[test]
fn operations_are_sound_at_edges() {
    for bits in [8, 16, 32, 64] {
        let (ranges, values) = edges(bits);
        let members = |range: Range| values.iter().copied().filter(move |value| range.contains(*value));
        for (left, right) in ranges
            .iter()
            .step_by(2)
            .flat_map(|a| ranges.iter().step_by(3).map(move |b| (*a, *b)))
        {
            let pairs = || members(left).flat_map(|a| members(right).map(move |b| (a, b)));
            for opcode in BINARY {
                let range = computed(opcode, &[left, right], bits).unwrap_or(Range::full(bits));
                let results = pairs().filter_map(|(a, b)| interpreter::binary(opcode, a, b, bits));
                results.for_each(|result| assert!(range.contains(result), "{opcode}: {left:?} {right:?}: {result}"));
            }
            for number in GLSL_BINARY {
                let range = computed_glsl(number, &[left, right]).expect("two operands");
                let results = pairs().filter_map(|(a, b)| interpreter::glsl(number, &[a, b], bits));
                results.for_each(|result| assert!(range.contains(result), "{number}: {left:?} {right:?}: {result}"));
            }
        }
        for value in &ranges {
            for (opcode, to) in UNARY.iter().flat_map(|opcode| [8, 16, 32, 64].map(|to| (*opcode, to))) {
                let range = computed(opcode, &[*value], to).unwrap_or(Range::full(to));
                let results = members(*value).map(|value| interpreter::unary(opcode, value, bits));
                results.for_each(|result| assert!(range.contains(result), "{opcode}: {value:?}: {result}"));
            }
            for number in GLSL_UNARY {
                let range = computed_glsl(number, &[*value]).expect("one operand");
                let results = members(*value).filter_map(|value| interpreter::glsl(number, &[value], bits));
                results.for_each(|result| assert!(range.contains(result), "{number}: {value:?}: {result}"));
            }
        }
    }
}

#[test]
fn other_instructions_and_widths_are_unknown() {
    let (narrow, wide) = (Range::full(8), Range::full(16));
    assert_eq!(computed(op::FAdd, &[wide, wide], 16), None);
    assert_eq!(computed(op::IAdd, &[narrow, wide], 16), None);
    assert_eq!(computed(op::IAdd, &[], 16), None);
    assert_eq!(computed_glsl(glsl::UMin, &[narrow, wide]), None);
    assert_eq!(computed_glsl(glsl::UMin, &[]), None);
    // The amount may have a width of its own.
    let shifted = computed(op::ShiftRightLogical, &[wide, Range::only(12, 8)], 16);
    assert_eq!(shifted, Some(Range::unsigned(0, 15, 16)));
    // A constant that only sets bits which the conversion drops.
    let set = computed(op::BitwiseOr, &[Range::full(32), Range::only(256, 32)], 32);
    let narrowed = set.and_then(|set| computed(op::UConvert, &[set], 8));
    assert!(narrowed.is_some_and(|narrowed| narrowed.contains(0)));
}
