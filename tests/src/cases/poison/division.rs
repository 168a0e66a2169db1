//! Integer division whose undefined behaviour is poison.

use super::support::{check, run};
use super::text::{Words, resolve, shader, types};
use crate::cases::constant_data::require;
use crate::vk::{Device, Gpu};
use anyhow::Result;

/// Pairs of operands. In every width, some divide by zero or overflow.
pub(super) const OPERANDS: [(u64, u64); 16] = [
    (7, 2),
    (7, 0),
    (0, 0),
    (u64::MAX, 0),
    (1 << 7, 0xFF),
    (1 << 15, 0xFFFF),
    (1 << 31, 0xFFFF_FFFF),
    (1 << 63, u64::MAX),
    (u64::MAX, u64::MAX),
    (100, u64::MAX),
    (0x1234_5678_9ABC_DEF0, 7),
    (0xFFFF_FFFF_FFFF_FFF9, 2),
    (7, 0xFFFF_FFFF_FFFF_FFFE),
    (1 << 63, 1),
    (1, 1 << 63),
    (0, 5),
];

pub(super) const DIVISIONS: [&str; 5] = ["OpUDiv", "OpSDiv", "OpUMod", "OpSRem", "OpSMod"];

/// Expected result of a division; `None` where it is poison, or undefined in Vulkan: a remainder of negative operands.
pub(super) fn divided(operation: &str, a: u64, b: u64, width: u32) -> Option<u64> {
    let mask = u64::MAX >> (64 - width);
    let signed = |v: u64| i128::from(((v << (64 - width)) as i64) >> (64 - width));
    let (x, y) = (signed(a & mask), signed(b & mask));
    let (a, b) = (a & mask, b & mask);
    let overflow = y == -1 && x == -(1i128 << (width - 1));
    let negative = x < 0 || y < 0;
    if b == 0 || overflow && operation.starts_with("OpS") || negative && matches!(operation, "OpSRem" | "OpSMod") {
        return None;
    }
    let value = match operation {
        "OpUDiv" => i128::from(a / b),
        "OpUMod" => i128::from(a % b),
        "OpSDiv" => x / y,
        _ => x % y,
    };
    Some(value as u64 & mask)
}

pub(super) fn division(gpu: &Gpu, width: u32, mode: bool) -> Result<()> {
    let capability = require(gpu, width)?;
    let device = Device::new(gpu)?;
    // Without the mode, only defined operations may run.
    let lane = |i: usize| {
        if mode {
            OPERANDS[i % 16]
        } else {
            [(7, 2), (100, 7), (5, 9)][i % 3]
        }
    };
    let input: Vec<u32> = (0..64)
        .map(lane)
        .flat_map(|(a, b)| [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
        .collect();
    for components in 1..=4u32 {
        let mut words = Words::default();
        let stride = 2 * components * DIVISIONS.len() as u32;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for k in 0..components {
            let lane = words.lane(k);
            for (start, side) in [(0, &mut left), (2, &mut right)] {
                let (low, high) = (words.load(start, 4, &lane), words.load(start + 1, 4, &lane));
                side.push(words.narrow(&low, &high, width));
            }
        }
        let (left, right) = (words.vector(&left), words.vector(&right));
        for (number, operation) in (0..).zip(DIVISIONS) {
            let result = words.value(&format!("{operation} %value {left} {right}"));
            let result = words.value(&format!("OpFreezeKHR %value {result}"));
            let start = 256 + number * 2 * components;
            words.store_all(start, stride, &result, components, width);
        }
        let types = types(width, components) + &words.types;
        let assembly = shader(mode, capability, &types, &words.code)?;
        let assembly = resolve(assembly, width, components);
        let room = [input.clone(), vec![0; 64 * stride as usize]].concat();
        let after = run(&device, &assembly, &room)?;
        let results = &after[input.len()..];
        let expected = |number: usize, at: usize| {
            let (a, b) = lane(at & 63);
            divided(DIVISIONS[number], a, b, width)
        };
        check(results, DIVISIONS.len(), components as usize, expected, |number, at| {
            let (a, b) = lane(at & 63);
            format!("{} {a:#x} {b:#x} of {width} bits", DIVISIONS[number])
        })?;
    }
    Ok(())
}
