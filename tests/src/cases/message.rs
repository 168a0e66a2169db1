//! Exact bytes of messages of each type.

use super::support::{COUNT, GROUPS, expect_lost, incremented, marked, run_to_loss, same_set, same_words};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "message::empty" => check(gpu, "message/empty.comp", empty);
    "message::text_alone" => check(gpu, "message/text.comp", text), logs(&["naïve – 文字, no arguments"]);
    "message::scalars" => check(gpu, "message/scalars.comp", scalars), logs(&["-5 7000 7 deadbef4 5.5"]);
    "message::vectors" => check(gpu, "message/vectors.comp", vectors);
    "message::matrices" => check(gpu, "message/matrices.comp", matrices);
    "message::structures_and_arrays" => check(gpu, "message/structures.comp", structures);
    "message::scalars_of_64_bits" => wide_scalars(gpu);
    "message::scalars_of_8_and_16_bits" => narrow_scalars(gpu);
    "message::with_a_separate_control_block" => check(gpu, "message/structures.comp", structures),
        set(&[("control_block", "device")]), alone();
    "message::of_exactly_the_largest_size_with_a_separate_control_block" => largest(device),
        set(&[("control_block", "device")]), alone();
};

/// The two invocations that abort in these cases.
const ABORTING: [usize; 2] = [5, 38];

/// Runs a shader in which invocations [`ABORTING`] abort with `message` and the others add 1000 to their word.
fn check(gpu: &Gpu, shader: &str, message: impl Fn(u32) -> Payload) -> Result<()> {
    let words = marked(&ABORTING);
    let (after, payloads) = run_to_loss(gpu, shader, &words)?;
    same_set(payloads, ABORTING.map(|i| message(i as u32).bytes()).to_vec())?;
    let expected: Vec<u32> = incremented(&words);
    same_words(&after, &expected)
}

fn empty(_: u32) -> Payload {
    Payload::text("")
}

fn text(_: u32) -> Payload {
    Payload::text("naïve – 文字, no arguments")
}

fn scalars(i: u32) -> Payload {
    Payload::text("%d %i %u %x %f %u")
        .scalar(-(i as i32))
        .scalar(7000i32)
        .scalar(7u32)
        .scalar(0xDEAD_BEEFu32.wrapping_add(i))
        .scalar(i as f32 + 0.5)
        .scalar(u32::from(i == 5))
}

fn vectors(i: u32) -> Payload {
    let f = i as f32;
    Payload::text("%v2f|%u|%v3f|%u|%v4f|%v3d|%v2u|%v4u")
        .scalars(&[f, -f])
        .scalar(i)
        .scalars(&[f + 0.25, 1.0, 2.0])
        .scalar(i + 1)
        .scalars(&[1.0, f, 3.0, 4.0])
        .scalars(&[-1, i as i32, -3])
        .scalars(&[i, 77])
        .scalars(&[1, 0, u32::from(i == 5), u32::from(i != 5)])
}

fn matrices(i: u32) -> Payload {
    let f = i as f32;
    Payload::text("matrices")
        .scalars(&[f, 2.0, 3.0, 4.0])
        .scalars(&[1.0, f, 3.0, 4.0, 5.0, 6.0])
        .scalars(&[1.0, 2.0, f, 4.0, 5.0, 6.0, 7.0, 8.0])
}

fn structures(i: u32) -> Payload {
    let f = i as f32;
    let a = |payload: Payload| payload.scalar(-(i as i32)).scalars(&[f, 0.5]);
    let b = |payload: Payload| payload.scalar(100i32).scalars(&[-1.0f32, -2.0]);
    let outer = a(a(Payload::text("nested"))).scalars(&[1.0, 2.0, f]);
    a(b(outer))
        .scalars(&[1.0, 2.0, 3.0, f])
        .scalars(&[f, f, f, 1.0, 2.0, 3.0])
        .scalars(&[1, 2, 3, 4, 5, i])
}

fn wide_scalars(gpu: &Gpu) -> Result<()> {
    let (core, _) = gpu.features();
    gpu.require(core.shader_int64, "shaderInt64")?;
    gpu.require(core.shader_float64, "shaderFloat64")?;
    check(gpu, "message/wide_scalars.comp", |i| {
        let big = 0x0123_4567_89AB_CDE0u64 + u64::from(i);
        Payload::text("%lu %u %ld %f")
            .scalar(big)
            .scalar(i)
            .scalar(-(big as i64))
            .scalar(f64::from(i) + 0.125)
    })
}

fn narrow_scalars(gpu: &Gpu) -> Result<()> {
    let (core, newer) = gpu.features();
    gpu.require(core.shader_int16, "shaderInt16")?;
    gpu.require(newer.shader_int8, "shaderInt8")?;
    gpu.require(newer.shader_float16, "shaderFloat16")?;
    // Binary16 of half of each invocation number.
    let half = |i: u32| if i == 5 { 0x4100u16 } else { 0x4CC0 };
    check(gpu, "message/narrow_scalars.comp", |i| {
        Payload::text("%d %u %d %u %f %u")
            .scalar(-(i as i8))
            .scalar(250u8.wrapping_add(i as u8))
            .scalar(-300 - i as i16)
            .scalar(65000 + i as u16)
            .scalar(half(i))
            .scalar(i)
    })
}

fn largest(device: &Device<'_>) -> Result<()> {
    let words = marked(&ABORTING);
    let block: Vec<u32> = (0..4095 * 4).map(|i: u32| i.wrapping_mul(0x9E37_79B9)).collect();
    let buffer = Buffer::storage(device, &words)?;
    let uniform = Buffer::uniform(device, &block)?;
    let kernel = Kernel::new(device, &glsl::compile("message/largest.comp")?, &[&buffer, &uniform])?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    let payloads = device.payloads()?;
    let expected = Payload::text("exactly 64 KiB.").scalars(&block).bytes();
    ensure!(expected.len() == 65536, "the test itself is wrong");
    ensure!(matches!(payloads.len(), 1 | 2), "{} messages", payloads.len());
    for payload in payloads {
        ensure!(payload.len() == expected.len(), "{} bytes", payload.len());
        let wrong = payload
            .iter()
            .zip(&expected)
            .position(|(found, expected)| found != expected);
        ensure!(wrong.is_none(), "byte {wrong:?} is wrong");
    }
    ensure!(buffer.read().len() == COUNT, "the test itself is wrong");
    Ok(())
}
