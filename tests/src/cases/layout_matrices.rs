//! Matrices in messages: every width, row-major and column-major, with padded strides.

use super::layout_support::{at, check, shader};
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "layout_matrices::of_32_bits" => matrices(gpu, 32);
    "layout_matrices::of_64_bits" => matrices(gpu, 64);
    "layout_matrices::of_16_bits" => matrices(gpu, 16);
};

/// A column-major 2x3 matrix with a padded stride, a row-major one with another stride, and an array of row-major ones.
fn matrices(gpu: &Gpu, bits: u32) -> Result<()> {
    let (core, newer) = gpu.features();
    let supported = match bits {
        16 => newer.shader_float16,
        64 => core.shader_float64,
        _ => vk::TRUE,
    };
    gpu.require(supported, &format!("floats of {bits} bits"))?;
    let size = bits as usize / 8;
    // Rows of two, columns of three; strides of four and three scalars.
    let (column, row) = (4 * size, 3 * size);
    let by_rows = 2 * column;
    let array = by_rows + 3 * row;
    let element = 3 * row + size;
    let (needs, real) = match bits {
        32 => (String::new(), String::new()),
        _ => (
            format!("OpCapability Float{bits}"),
            format!("%real = OpTypeFloat {bits}"),
        ),
    };
    let convert = if bits == 32 {
        "%g = OpFMul %real %f %f_one"
    } else {
        "%g = OpFConvert %real %f"
    };
    let values = [
        ("needs", &*needs),
        ("real", &real),
        ("convert", convert),
        ("column", &column.to_string()),
        ("row", &row.to_string()),
        ("by_rows", &by_rows.to_string()),
        ("array", &array.to_string()),
        ("element", &element.to_string()),
    ];
    let mut assembly = shader("matrices", &values)?;
    if bits == 32 {
        assembly = assembly.replace("%real ", "%float ");
    }
    let device = Device::new(gpu)?;
    check(&device, &assembly, |i| {
        let scalar = |value: u32| match bits {
            16 => half(value).to_le_bytes().to_vec(),
            64 => f64::from(value).to_le_bytes().to_vec(),
            _ => (value as f32).to_le_bytes().to_vec(),
        };
        let (c0, c1) = ([i, 2 * i, 3 * i], [3 * i, 3 * i, i]);
        let mut parts = Vec::new();
        for r in 0..3 {
            parts.push((r * size, scalar(c0[r])));
            parts.push((column + r * size, scalar(c1[r])));
            for (start, first, second) in [(by_rows, &c1, &c0), (array, &c1, &c0), (array + element, &c0, &c1)] {
                parts.push((start + r * row, scalar(first[r])));
                parts.push((start + r * row + size, scalar(second[r])));
            }
        }
        at(&parts)
    })
}

/// Converts an integer below 2048 to binary16.
fn half(value: u32) -> u16 {
    let Some(top) = value.checked_ilog2() else { return 0 };
    let exponent = top + 15;
    ((exponent << 10) | (value << (10 - top) & 0x3FF)) as u16
}
