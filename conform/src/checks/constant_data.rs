//! `VK_KHR_shader_constant_data` without aborts.

use super::{Buffer, Check, Checked, Device, Enable, Gpu, Kernel, healthy, hold};
use crate::rules;
use crate::shaders::{COUNT, DATA_ID, LENGTH_ID, LOCAL, data, table};

pub(super) const CHECKS: &[Check] = &[
    Check::new("constant_data.lookup_table", rules::DATA, lookup),
    Check::new("constant_data.large_lookup_table", rules::DATA, large),
    Check::new("constant_data.not_specialized", rules::SPEC_DATA, default),
    Check::new(
        "constant_data.specialized_with_other_data",
        rules::SPEC_DATA,
        other_data,
    ),
    Check::new(
        "constant_data.specialized_with_another_length",
        rules::SPEC_DATA,
        other_length,
    ),
];

/// Looks `expected` up in the table of `spirv`.
fn check(gpu: &'static Gpu, spirv: &[u32], special: &[(u32, Vec<u32>)], expected: &[u32]) -> Checked {
    let device = Device::new(gpu, Enable::DATA)?;
    let count = (expected.len() as u32).next_multiple_of(LOCAL).max(COUNT);
    let buffer = Buffer::new(device, &vec![0; count as usize])?;
    let kernel = Kernel::new(device, spirv, &[buffer], special, None)?;
    healthy(&kernel, count / LOCAL)?;
    for ((i, &found), &wanted) in buffer.read().iter().enumerate().zip(expected.iter().cycle()) {
        hold!(
            found == wanted,
            "invocation {i} found {found:#x} instead of {wanted:#x} in a table of {}",
            expected.len()
        );
    }
    Ok(format!("{} elements", expected.len()))
}

fn of(range: std::ops::Range<u32>) -> Vec<u32> {
    range.map(data).collect()
}

fn lookup(gpu: &'static Gpu) -> Checked {
    check(gpu, &table(37, false), &[], &of(0..37))
}

fn large(gpu: &'static Gpu) -> Checked {
    check(gpu, &table(300, false), &[], &of(0..300))
}

fn default(gpu: &'static Gpu) -> Checked {
    check(gpu, &table(5, true), &[], &of(0..5))
}

fn other_data(gpu: &'static Gpu) -> Checked {
    let words = of(70..75);
    check(gpu, &table(5, true), &[(DATA_ID, words.clone())], &words)
}

fn other_length(gpu: &'static Gpu) -> Checked {
    for length in [1, 3, 5, 6, 40] {
        let words = of(100..100 + length);
        let special = [(LENGTH_ID, vec![length]), (DATA_ID, words.clone())];
        check(gpu, &table(5, true), &special, &words)?;
    }
    Ok("1, 3, 6 and 40 elements instead of 5".into())
}
