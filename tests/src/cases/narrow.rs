//! 16-bit values, which the module may only load and store, across the border of a continue construct that becomes a
//! function.

use super::support::{COUNT, run, same_set, same_words};
use crate::assembly::assemble_file;
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "narrow::in_an_increment" => in_an_increment(gpu);
};

fn in_an_increment(gpu: &Gpu) -> Result<()> {
    let mut storage = vk::PhysicalDevice16BitStorageFeatures::default();
    gpu.ask(&mut storage);
    gpu.require(storage.storage_buffer16_bit_access, "storage of 16-bit values")?;
    let device = Device::new(gpu)?;
    let count = COUNT as u32;
    let when = (0..count).map(|i| i % 7);
    // Two normal halves in each.
    let halves = (0..count).map(|i| (0x4000 + i) << 16 | (0x3C00 + i));
    let before: Vec<u32> = when
        .clone()
        .chain(halves.clone())
        .chain((0..count).map(|_| 0))
        .collect();
    let (after, payloads) = run(&device, &assemble_file("assembly/narrow_values.spvasm")?, &before)?.lost()?;
    let stored = when.clone().zip(halves.clone()).map(|(at, word)| match at {
        0 => 0,
        1..5 => word & 0xFFFF,
        _ => word,
    });
    let expected: Vec<u32> = when.clone().chain(halves.clone()).chain(stored).collect();
    let messages = when.filter(|at| *at < 5).map(|at| at.to_le_bytes().to_vec());
    same_set(payloads, messages.collect())?;
    same_words(&after, &expected)
}
