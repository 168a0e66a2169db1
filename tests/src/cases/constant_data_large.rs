//! Constant data of the largest size, 65,532 words, in every width: 262,128 elements of 8 bits. It is looked up at indices
//! that are unknown at compile time, and stored as a whole. Each pipeline must compile in seconds. Also large constant data in
//! composites, and in variables that are written.

use super::constant_data::{Table, element, literal, packed, require, shader, table, table_on};
use super::support::{run, same_words};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::processor_time::processor_time;
use crate::vk::{Device, DeviceOptions, ExtraDeviceInfo, Gpu, khr};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::Duration;
use vkabort_oracle::words::from_bytes;

pub(super) const CASES: &[Case] = cases! {
    "constant_data_large::tables_of_8_bits" => look_up(gpu, 8), silent();
    "constant_data_large::tables_of_16_bits" => look_up(gpu, 16), silent();
    "constant_data_large::tables_of_32_bits" => look_up(gpu, 32), silent();
    "constant_data_large::tables_of_64_bits" => look_up(gpu, 64), silent();
    "constant_data_large::without_the_other_extensions" => without_the_others(gpu), silent();
    "constant_data_large::in_a_composite" => in_a_composite(gpu), silent();
    "constant_data_large::stored_8_bits" => store(gpu, 8), silent();
    "constant_data_large::stored_16_bits" => store(gpu, 16), silent();
    "constant_data_large::stored_32_bits" => store(gpu, 32), silent();
    "constant_data_large::stored_64_bits" => store(gpu, 64), silent();
};

/// Words of the largest constant data.
const WORDS: u64 = 65_532;
/// Processor time: much more than a pipeline and its dispatch take, and much less than a compiler takes that sees every element.
const LIMIT: Duration = Duration::from_secs(20);

fn in_time(run: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = processor_time();
    run()?;
    let time = processor_time().saturating_sub(start);
    ensure!(
        time < LIMIT,
        "it took {time:?} of processor time, expected less than {LIMIT:?}"
    );
    Ok(())
}

fn look_up(gpu: &Gpu, width: u32) -> Result<()> {
    let count = WORDS * 32 / u64::from(width);
    in_time(|| table(gpu, &Table::new(width, false, count)))
}

/// Only `VK_KHR_shader_constant_data` is enabled.
fn without_the_others(gpu: &Gpu) -> Result<()> {
    let mut data = khr::ShaderConstantDataFeatures::new(true);
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let more = ExtraDeviceInfo {
        extensions: vec![khr::SHADER_CONSTANT_DATA_NAME],
        features: vec![&mut data],
    };
    let device = Device::extended(gpu, options, more)?;
    in_time(|| table_on(&device, &Table::new(32, false, WORDS)))
}

fn in_a_composite(gpu: &Gpu) -> Result<()> {
    const COUNT: u32 = 1_500;
    let elements: Vec<u64> = (0..2 * COUNT).map(|k| element(k.into(), 32)).collect();
    let (first, second) = elements.split_at(COUNT as usize);
    let values = [
        ("count", COUNT.to_string()),
        ("first", literal(first, 32)),
        ("second", literal(second, 32)),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let spirv = assemble(&shader("composite", &values)?)?;
    let words: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let device = Device::new(gpu)?;
    in_time(|| {
        let after = run(&device, &spirv, &[words.clone(), vec![0; 64]].concat())?.succeeded()?;
        let found = words.iter().map(|word| {
            let at = (word % COUNT) as usize;
            let side = if word % 2 == 0 { first } else { second };
            (second[at] ^ side[at]) as u32
        });
        same_words(&after, &found.chain(0..64).collect::<Vec<u32>>())
    })
}

/// Stores the data to a buffer, in its own layout.
fn store(gpu: &Gpu, width: u32) -> Result<()> {
    let capability = require(gpu, width)?;
    let mut storage = vk::PhysicalDevice16BitStorageFeatures::default();
    gpu.ask(&mut storage);
    let (storage, storage_capability) = match width {
        8 => (
            gpu.features().1.storage_buffer8_bit_access,
            "OpCapability StorageBuffer8BitAccess",
        ),
        16 => (
            storage.storage_buffer16_bit_access,
            "OpCapability StorageBuffer16BitAccess",
        ),
        _ => (vk::TRUE, ""),
    };
    gpu.require(storage, &format!("storage of {width}-bit values"))?;
    let count = WORDS * 32 / u64::from(width);
    let elements: Vec<u64> = (0..count).map(|k| element(k, width)).collect();
    let capabilities = format!("{capability}\n{storage_capability}");
    let (scalar_type, scalar) = match width {
        32 => (String::new(), "%uint"),
        _ => (format!("%scalar = OpTypeInt {width} 0"), "%scalar"),
    };
    let values = [
        ("capability", capabilities.as_str()),
        ("scalar_type", &scalar_type),
        ("scalar", scalar),
        ("stride", &(width / 8).to_string()),
        ("count", &count.to_string()),
        ("data", &literal(&elements, width)),
    ];
    let spirv = assemble(&shader("copied", &values)?)?;
    let device = Device::new(gpu)?;
    let expected = from_bytes(&packed(&elements, width));
    in_time(|| {
        let after = run(&device, &spirv, &vec![0; expected.len()])?.succeeded()?;
        same_words(&after, &expected)
    })
}
