//! Conversions of floats whose undefined behaviour is poison.

use super::support::{check, run};
use super::text::{Words, resolve, shader, types};
use crate::cases::constant_data::require;
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;
use std::fmt::Write;

/// Floats around the bounds of every width; binary16 represents each, or rounds it to infinity.
pub(super) const FLOATS: [f32; 32] = [
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
pub(super) fn converted(value: f32, signed: bool, width: u32, float_width: u32) -> Option<u64> {
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

pub(super) fn conversion(gpu: &Gpu, float_width: u32) -> Result<()> {
    let (core, newer) = gpu.features();
    let (supported, capability) = match float_width {
        16 => (newer.shader_float16, "OpCapability Float16"),
        64 => (core.shader_float64, "OpCapability Float64"),
        _ => (vk::TRUE, ""),
    };
    gpu.require(supported, &format!("floats of {float_width} bits"))?;
    let device = Device::new(gpu)?;
    let input: Vec<u32> = (0..64).map(|i| FLOATS[i % 32].to_bits()).collect();
    for width in [8, 16, 32, 64] {
        let Ok(integers) = require(gpu, width) else { continue };
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
            let needs = format!("{capability}\n{integers}");
            let assembly = shader(true, &needs, &(types + &words.types), &words.code)?;
            let mut assembly = resolve(assembly, width, components);
            if float_width == 32 {
                // The head declares no other vectors of floats.
                assembly = assembly.replace("%real ", "%float ");
            }
            let room = [input.clone(), vec![0; 64 * stride as usize]].concat();
            let after = run(&device, &assembly, &room)?;
            let expected = |number, at| converted(FLOATS[at % 32], number == 1, width, float_width);
            check(&after[64..], 2, components as usize, expected, |number, at| {
                let (value, signed) = (FLOATS[at % 32], number == 1);
                format!("{value} of {float_width} bits to {width} bits (signed: {signed})")
            })?;
        }
    }
    Ok(())
}
