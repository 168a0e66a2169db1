//! Message types in layouts that compilers may emit: physical pointers, arrays of specialised length, gaps at any depth,
//! overlapping members, odd offsets, and no layout at all.

use super::layout_support::{at, check, check_file, check_specialised, payloads, shader, word};
use super::support::{MARK, marked, same_set};
use crate::case::{Case, cases};
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = cases! {
    "layout_types::physical_pointers" => pointers(gpu);
    "layout_types::arrays_of_specialised_length" => specialised(gpu);
    "layout_types::a_specialised_length_beyond_the_limit" => beyond_the_limit(device);
    "layout_types::gaps_at_every_depth" => check_file(device, "gaps", gaps);
    // The validation layer rejects these layouts, which violate the explicit layout rules.
    "layout_types::overlapping_members" => check_file(device, "overlap", overlap), on_top(), set(&[("log_level", "warning")]),
        logs(&["have parts that overlap, so that values are lost"]);
    "layout_types::wide_members_at_narrow_offsets" => wide_at_narrow(gpu), on_top();
    "layout_types::members_at_odd_offsets" => odd(gpu), on_top();
    "layout_types::no_layout_at_all" => check_file(device, "none", none), on_top();
    "layout_types::a_structure_without_members" => check_file(device, "empty", empty);
    "layout_types::a_value_of_a_matching_type" => check_file(device, "matching", matching);
};

fn pointers(gpu: &Gpu) -> Result<()> {
    let assembly = shader("pointers", &[])?.replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64");
    let device = Device::with(gpu, DeviceOptions::ADDRESSES)?;
    check(&device, &assembly, |i| {
        at(&[
            (0, word(i)),
            (8, [word(i), word(MARK)].concat()),
            (16, [word(MARK), word(i), word(i), word(MARK)].concat()),
        ])
    })
}

/// A message that specialisation makes too large is not recorded, and does not displace other messages.
fn beyond_the_limit(device: &Device<'_>) -> Result<()> {
    let payloads = payloads(device, &shader("beyond_the_limit", &[])?, &[(4, 1 << 20)], &[5, 38, 60])?;
    same_set(payloads, vec![word(5), word(60)])
}

/// Loads an array of specialised length from the buffer.
fn specialised(gpu: &Gpu) -> Result<()> {
    let assembly = shader("specialised", &[("interface", "%other")])?;
    for (special, count) in [(None, 6), (Some(1), 2), (Some(20), 40)] {
        let device = Device::new(gpu)?;
        let special: Vec<_> = special.map(|length| (4, length)).into_iter().collect();
        let words = marked(&[5, 38]);
        check_specialised(&device, &assembly, &special, |i| {
            let all = words[..count].iter().flat_map(|word| word.to_le_bytes());
            word(i).into_iter().chain(all).collect()
        })?;
    }
    Ok(())
}

fn gaps(i: u32) -> Vec<u8> {
    let f = word((i as f32).to_bits());
    at(&[
        (0, word(i)),
        (16 + 8 + 4, f.clone()),
        (16 + 8 + 16, [word(i), word(MARK)].concat()),
        (16 + 40, word(MARK)),
        (16 + 40 + 12, f.clone()),
        (16 + 40 + 20, word(i)),
        (16 + 40 + 32, f),
        (120, word(2)),
    ])
}

/// glslang before 16.6 emits this: a member starts before the end of its predecessor and is written after it.
fn overlap(i: u32) -> Vec<u8> {
    at(&[(0, [word(i), word(MARK), word(MARK), word(i)].concat())])
}

fn wide_at_narrow(gpu: &Gpu) -> Result<()> {
    let (core, _) = gpu.features();
    gpu.require(core.shader_int64, "shaderInt64")?;
    let device = Device::new(gpu)?;
    let assembly = shader("wide_at_narrow", &[])?;
    check(&device, &assembly, |i| [word(i), word(MARK), word(i), word(2)].concat())
}

fn odd(gpu: &Gpu) -> Result<()> {
    let (core, newer) = gpu.features();
    gpu.require(newer.shader_int8, "shaderInt8")?;
    gpu.require(core.shader_int16, "shaderInt16")?;
    let assembly = shader("odd", &[])?;
    let device = Device::new(gpu)?;
    check(&device, &assembly, |i| {
        let sum = 0x1234_5678 + i;
        at(&[
            (1, vec![i as u8]),
            (3, (sum as u16).to_le_bytes().to_vec()),
            (5, word(sum)),
            (9, [word(sum), word(0x1234_5678)].concat()),
            (18, vec![i as u8]),
        ])
    })
}

/// Without layout decorations, scalars are packed at multiples of their sizes.
fn none(i: u32) -> Vec<u8> {
    let f = word((i as f32).to_bits());
    [word(i), f.repeat(3), word(MARK), f.repeat(4), f.repeat(4)].concat()
}

fn empty(_: u32) -> Vec<u8> {
    Vec::new()
}

/// The message's value has a type without a layout; the message type defines the offsets.
fn matching(i: u32) -> Vec<u8> {
    let pair = word((i as f32).to_bits()).repeat(2);
    at(&[
        (4, word(2)),
        (20, word(i)),
        (24, pair.clone()),
        (44, word(MARK)),
        (48, pair),
    ])
}
