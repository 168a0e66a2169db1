//! Message types in layouts that compilers may emit: physical pointers, arrays of specialised length, gaps at any depth,
//! overlapping members, odd offsets, and no layout at all.

use super::layout_support::{at, check, on_device, payloads, shader, word};
use super::support::{MARK, marked, same_set};
use crate::case::{Case, Context};
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("layout_types::physical_pointers", pointers),
    Case::new("layout_types::arrays_of_specialised_length", specialised),
    Case::new("layout_types::a_specialised_length_beyond_the_limit", beyond_the_limit),
    Case::new("layout_types::gaps_at_every_depth", gaps),
    // The validation layer rejects these layouts, which violate the explicit layout rules.
    Case::new("layout_types::overlapping_members", overlap).on_top(),
    Case::new("layout_types::wide_members_at_narrow_offsets", wide_at_narrow).on_top(),
    Case::new("layout_types::members_at_odd_offsets", odd).on_top(),
    Case::new("layout_types::no_layout_at_all", none).on_top(),
    Case::new("layout_types::a_structure_without_members", empty),
    Case::new("layout_types::a_value_of_a_matching_type", matching),
];

fn pointers(context: &Context) -> Result<()> {
    let assembly = shader("pointers", &[])?.replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64");
    let gpu = Gpu::open(context)?;
    let device = Device::with(&gpu, DeviceOptions::ADDRESSES)?;
    check(&device, &assembly, &[], |i| {
        at(&[
            (0, word(i)),
            (8, [word(i), word(MARK)].concat()),
            (16, [word(MARK), word(i), word(i), word(MARK)].concat()),
        ])
    })
}

/// A message that specialisation makes too large is not recorded, and does not displace other messages.
fn beyond_the_limit(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let payloads = payloads(
        &device,
        &shader("beyond_the_limit", &[])?,
        &[(4, 1 << 20)],
        &[5, 38, 60],
    )?;
    same_set(payloads, vec![word(5), word(60)])
}

/// Loads an array of specialised length from the buffer.
fn specialised(context: &Context) -> Result<()> {
    let assembly = shader("specialised", &[])?.replace("%id %words\n", "%id %words %other\n");
    let gpu = Gpu::open(context)?;
    for (special, count) in [(None, 6), (Some(1), 2), (Some(20), 40)] {
        let device = Device::new(&gpu)?;
        let special: Vec<_> = special.map(|length| (4, length)).into_iter().collect();
        let words = marked(&[5, 38]);
        check(&device, &assembly, &special, |i| {
            let all = words[..count].iter().flat_map(|word| word.to_le_bytes());
            word(i).into_iter().chain(all).collect()
        })?;
    }
    Ok(())
}

fn gaps(context: &Context) -> Result<()> {
    on_device(context, &shader("gaps", &[])?, |i| {
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
    })
}

/// glslang before 16.6 emits this: a member starts before the end of its predecessor and is written after it.
fn overlap(context: &Context) -> Result<()> {
    on_device(context, &shader("overlap", &[])?, |i| {
        at(&[(0, [word(i), word(MARK), word(MARK), word(i)].concat())])
    })
}

fn wide_at_narrow(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let (core, _) = gpu.features();
    gpu.require(core.shader_int64, "shaderInt64")?;
    let device = Device::new(&gpu)?;
    let assembly = shader("wide_at_narrow", &[])?;
    check(&device, &assembly, &[], |i| {
        [word(i), word(MARK), word(i), word(2)].concat()
    })
}

fn odd(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let (core, newer) = gpu.features();
    gpu.require(newer.shader_int8, "shaderInt8")?;
    gpu.require(core.shader_int16, "shaderInt16")?;
    let assembly = shader("odd", &[])?;
    let device = Device::new(&gpu)?;
    check(&device, &assembly, &[], |i| {
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
fn none(context: &Context) -> Result<()> {
    on_device(context, &shader("none", &[])?, |i| {
        let f = word((i as f32).to_bits());
        [word(i), f.repeat(3), word(MARK), f.repeat(4), f.repeat(4)].concat()
    })
}

fn empty(context: &Context) -> Result<()> {
    on_device(context, &shader("empty", &[])?, |_| Vec::new())
}

/// The message's value has a type without a layout; the message type defines the offsets.
fn matching(context: &Context) -> Result<()> {
    on_device(context, &shader("matching", &[])?, |i| {
        let pair = word((i as f32).to_bits()).repeat(2);
        at(&[
            (4, word(2)),
            (20, word(i)),
            (24, pair.clone()),
            (44, word(MARK)),
            (48, pair),
        ])
    })
}
