//! `SPV_KHR_poison_freeze` on drivers: arithmetic with poison as its undefined result works in every width, and a frozen
//! value is stable.
//!
//! The validation layer never runs above ours here: it rejects the capability, which no Vulkan extension provides.

mod frozen;
mod specialised;
mod text;

use self::frozen::frozen;
use self::text::{Body, Words, resolve, shader, types};
use super::GROUPS;
use super::expect_success;
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::fmt::Write;

pub(super) const CASES: &[Case] = &[
    case("poison::division_of_8_bits", |context| division(context, 8, true)),
    case("poison::division_of_16_bits", |context| division(context, 16, true)),
    case("poison::division_of_32_bits", |context| division(context, 32, true)),
    case("poison::division_of_64_bits", |context| division(context, 64, true)),
    case("poison::division_of_specialisation_constants", specialised::division),
    case("poison::division_without_the_mode", |context| {
        division(context, 32, false)
    }),
    case("poison::conversion_of_16_bits", |context| conversion(context, 16)),
    case("poison::conversion_of_32_bits", |context| conversion(context, 32)),
    case("poison::conversion_of_64_bits", |context| conversion(context, 64)),
    case("poison::a_frozen_value_is_the_same_at_every_use", frozen),
];

const fn case(name: &'static str, run: fn(&Context) -> Result<()>) -> Case {
    Case::new(name, run).on_top().silent()
}

/// Pairs of operands. In every width, some divide by zero or overflow.
const OPERANDS: [(u64, u64); 16] = [
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

const DIVISIONS: [&str; 5] = ["OpUDiv", "OpSDiv", "OpUMod", "OpSRem", "OpSMod"];

/// Expected result of a division; `None` where it is poison, or undefined in Vulkan: a remainder of negative operands.
fn divided(operation: &str, a: u64, b: u64, width: u32) -> Option<u64> {
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

/// Capability for integers of a width, if the device supports them.
fn integers(gpu: &Gpu, width: u32) -> Option<&'static str> {
    let (core, newer) = gpu.features();
    let (supported, capability) = match width {
        8 => (newer.shader_int8, "OpCapability Int8\n"),
        16 => (core.shader_int16, "OpCapability Int16\n"),
        64 => (core.shader_int64, "OpCapability Int64\n"),
        _ => (vk::TRUE, ""),
    };
    (supported == vk::TRUE).then_some(capability)
}

fn run(device: &Device<'_>, assembly: &str, words: &[u32]) -> Result<Vec<u32>> {
    let buffer = Buffer::storage(device, words)?;
    let kernel = Kernel::new(device, &assemble(assembly)?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_success(result)?;
    Ok(buffer.read())
}

fn division(context: &Context, width: u32, mode: bool) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let capabilities = integers(&gpu, width);
    gpu.require(capabilities.is_some().into(), &format!("integers of {width} bits"))?;
    let device = Device::new(&gpu)?;
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
        let body = Body {
            capabilities: capabilities.unwrap_or_default().into(),
            types: types(width, components) + &words.types,
            code: words.code,
        };
        let assembly = resolve(shader(&body, mode), width, components);
        let room = [input.clone(), vec![0; 64 * stride as usize]].concat();
        let after = run(&device, &assembly, &room)?;
        for i in 0..64 {
            for (number, operation) in DIVISIONS.iter().enumerate() {
                for k in 0..components as usize {
                    let at = 256 + i * stride as usize + 2 * (number * components as usize + k);
                    let found = u64::from(after[at]) | u64::from(after[at + 1]) << 32;
                    let (a, b) = lane((i + k) & 63);
                    let expected = divided(operation, a, b, width);
                    ensure!(
                        expected.is_none_or(|expected| found == expected),
                        "component {k} of {components}: {operation} {a:#x} {b:#x} of {width} bits is {found:#x}, \
                         expected {expected:x?}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// Floats around the bounds of every width; binary16 represents each, or rounds it to infinity.
const FLOATS: [f32; 32] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    -0.75,
    1.0,
    -1.0,
    100.5,
    127.5,
    128.0,
    -128.5,
    -129.0,
    255.5,
    256.0,
    -256.0,
    2048.0,
    32752.0,
    32768.0,
    -32768.0,
    -32800.0,
    65504.0,
    65536.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_040.0,
    4_294_967_296.0,
    1e30,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// Expected result of a conversion; `None` where it is poison.
fn converted(value: f32, signed: bool, width: u32, float_width: u32) -> Option<u64> {
    if !value.is_finite() || float_width == 16 && value.abs() > 65504.0 {
        return None;
    }
    let whole = f64::from(value).trunc();
    let (least, most) = if signed {
        (-(2f64.powi(width as i32 - 1)), 2f64.powi(width as i32 - 1))
    } else {
        (0.0, 2f64.powi(width as i32))
    };
    let fits = whole >= least && whole < most;
    let bits = if whole < 0.0 { whole as i64 as u64 } else { whole as u64 };
    fits.then_some(bits & u64::MAX >> (64 - width))
}

fn conversion(context: &Context, float_width: u32) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let (core, newer) = gpu.features();
    let (supported, capability) = match float_width {
        16 => (newer.shader_float16, "OpCapability Float16\n"),
        64 => (core.shader_float64, "OpCapability Float64\n"),
        _ => (vk::TRUE, ""),
    };
    gpu.require(supported, &format!("floats of {float_width} bits"))?;
    let device = Device::new(&gpu)?;
    let input: Vec<u32> = (0..64).map(|i| FLOATS[i % 32].to_bits()).collect();
    for width in [8, 16, 32, 64] {
        let Some(integers) = integers(&gpu, width) else {
            continue;
        };
        for components in 1..=4u32 {
            let mut words = Words::default();
            let stride = 2 * components * 2;
            let mut values = Vec::new();
            for k in 0..components {
                let lane = words.lane(k);
                let word = words.load(0, 1, &lane);
                let mut value = words.value(&format!("OpBitcast %float {word}"));
                if float_width != 32 {
                    value = words.value(&format!("OpFConvert %real {value}"));
                }
                values.push(value);
            }
            let value = match values.as_slice() {
                [value] => value.clone(),
                _ => words.value(&format!("OpCompositeConstruct %reals {}", values.join(" "))),
            };
            for (number, operation) in (0..).zip(["OpConvertFToU", "OpConvertFToS"]) {
                let result = words.value(&format!("{operation} %value {value}"));
                let result = words.value(&format!("OpFreezeKHR %value {result}"));
                words.store_all(64 + number * 2 * components, stride, &result, components, width);
            }
            let mut types = types(width, components);
            if float_width != 32 {
                let _ = writeln!(types, "%real = OpTypeFloat {float_width}");
            }
            if components > 1 {
                let _ = writeln!(types, "%reals = OpTypeVector %real {components}");
            }
            let body = Body {
                capabilities: format!("{capability}{integers}"),
                types: types + &words.types,
                code: words.code,
            };
            let mut assembly = resolve(shader(&body, true), width, components);
            if float_width == 32 {
                // The head declares no other vectors of floats.
                assembly = assembly.replace("%real ", "%float ");
            }
            let room = [input.clone(), vec![0; 64 * stride as usize]].concat();
            let after = run(&device, &assembly, &room)?;
            for i in 0..64 {
                for number in 0..2 {
                    for k in 0..components as usize {
                        let at = 64 + i * stride as usize + 2 * (number * components as usize + k);
                        let found = u64::from(after[at]) | u64::from(after[at + 1]) << 32;
                        let value = FLOATS[(i + k) % 32];
                        let expected = converted(value, number == 1, width, float_width);
                        ensure!(
                            expected.is_none_or(|expected| found == expected),
                            "component {k} of {components}: {value} of {float_width} bits to {width} bits (signed: {}) \
                             is {found:#x}, expected {expected:x?}",
                            number == 1
                        );
                    }
                }
            }
        }
    }
    Ok(())
}
