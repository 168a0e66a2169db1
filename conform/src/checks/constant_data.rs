//! `VK_KHR_shader_constant_data` without aborts.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::{bytes, run_healthy, skip};
use crate::shaders::{COUNT, DATA_ID, LENGTH_ID, LOCAL, byte_table, data, table};
use anyhow::{Result, ensure};
use std::ops::Range;
use vkabort_gpu::{Enable, OwnedDevice};
use vkabort_runner::{Case, cases};

/// Most words of constant data: those of an instruction less opcode, type and result.
const LARGEST: u32 = 65_532;

pub(super) const CHECKS: &[Case] = cases! {
    "constant_data.lookup_table" => check(gpu, &table(37, false), &[], &elements(0..37)), rule(rules::DATA);
    "constant_data.large_lookup_table" => check(gpu, &table(300, false), &[], &elements(0..300)), rule(rules::DATA);
    "constant_data.largest_lookup_table" => largest(gpu), rule(rules::DATA);
    "constant_data.not_specialized" => check(gpu, &table(5, true), &[], &elements(0..5)), rule(rules::SPEC_DATA);
    "constant_data.specialized_with_other_data" => other_data(gpu), rule(rules::SPEC_DATA);
    "constant_data.specialized_with_another_length" => other_length(gpu), rule(rules::SPEC_DATA);
    "constant_data.specialized_length_only" => length_only(gpu), rule(rules::SPEC_DATA);
};

/// Runs the lookup table of `spirv` and compares its elements with `expected`.
fn check(gpu: &'static CheckedGpu, spirv: &[u32], special: &[(u32, Vec<u8>)], expected: &[u32]) -> Result<String> {
    check_on(gpu.device(Enable::DATA)?, spirv, special, expected)
}

fn check_on(
    device: &'static OwnedDevice,
    spirv: &[u32],
    special: &[(u32, Vec<u8>)],
    expected: &[u32],
) -> Result<String> {
    let count = (expected.len() as u32).next_multiple_of(LOCAL).max(COUNT);
    let buffer = device.buffer(&vec![0; count as usize])?;
    let kernel = device.kernel(spirv, &[buffer], special, None)?;
    run_healthy(device, kernel, count / LOCAL)?;
    for ((i, &found), &wanted) in buffer.read().iter().enumerate().zip(expected.iter().cycle()) {
        ensure!(
            found == wanted,
            "invocation {i} loaded {found:#x} instead of {wanted:#x} from a table of {} elements",
            expected.len()
        );
    }
    Ok(format!("{} elements", expected.len()))
}

fn elements(range: Range<u32>) -> Vec<u32> {
    range.map(data).collect()
}

/// 65,532 words, the most that one instruction holds.
fn largest(gpu: &'static CheckedGpu) -> Result<String> {
    // With all three extensions, as applications enable them.
    let device = gpu.device(Enable::ABORT).or_else(|_| gpu.device(Enable::DATA))?;
    check_on(device, &table(LARGEST, false), &[], &elements(0..LARGEST))
}

/// The number of words is the same, so that the data need not be specialized.
fn length_only(gpu: &'static CheckedGpu) -> Result<String> {
    if !gpu.has_int8() {
        return skip("the device does not support shaderInt8");
    }
    let bytes_of = |length: u32| -> Vec<u32> {
        let words = elements(0..2);
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(length as usize).map(u32::from).collect()
    };
    for length in [5, 6, 7, 8] {
        check(gpu, &byte_table(7), &[(LENGTH_ID, bytes(&[length]))], &bytes_of(length))?;
    }
    check(gpu, &byte_table(7), &[], &bytes_of(7))?;
    Ok("5, 6, 7 and 8 elements of 8 bits instead of 7".into())
}

fn other_data(gpu: &'static CheckedGpu) -> Result<String> {
    let words = elements(70..75);
    check(gpu, &table(5, true), &[(DATA_ID, bytes(&words))], &words)
}

fn other_length(gpu: &'static CheckedGpu) -> Result<String> {
    for length in [1, 3, 5, 6, 40] {
        let words = elements(100..100 + length);
        let special = [(LENGTH_ID, bytes(&[length])), (DATA_ID, bytes(&words))];
        check(gpu, &table(5, true), &special, &words)?;
    }
    Ok("1, 3, 6 and 40 elements instead of 5".into())
}
