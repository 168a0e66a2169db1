//! Constant data of the largest size, 65,532 words, in every width: 262,128 elements of 8 bits. It is looked up at indices
//! that are unknown at compile time, and stored as a whole. Each pipeline must compile in seconds.

use super::constant_data::{Table, element, literal, packed, require, shader, table};
use super::support::{run, same_words};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "constant_data_large::tables_of_8_bits" => look_up(gpu, 8), silent();
    "constant_data_large::tables_of_16_bits" => look_up(gpu, 16), silent();
    "constant_data_large::tables_of_32_bits" => look_up(gpu, 32), silent();
    "constant_data_large::tables_of_64_bits" => look_up(gpu, 64), silent();
    "constant_data_large::stored_8_bits" => store(gpu, 8), silent();
    "constant_data_large::stored_16_bits" => store(gpu, 16), silent();
    "constant_data_large::stored_32_bits" => store(gpu, 32), silent();
    "constant_data_large::stored_64_bits" => store(gpu, 64), silent();
};

/// Words of the largest constant data.
const WORDS: u64 = 65_532;
/// Much more than a pipeline and its dispatch take, and much less than a compiler takes that sees every element.
const LIMIT: Duration = Duration::from_secs(20);

fn in_time(run: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    run()?;
    let elapsed = start.elapsed();
    ensure!(elapsed < LIMIT, "it took {elapsed:?}, expected less than {LIMIT:?}");
    Ok(())
}

fn look_up(gpu: &Gpu, width: u32) -> Result<()> {
    let count = WORDS * 32 / u64::from(width);
    in_time(|| table(gpu, &Table::new(width, false, count)))
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
    let expected: Vec<u32> = packed(&elements, width)
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    in_time(|| {
        let after = run(&device, &spirv, &vec![0; expected.len()])?.succeeded()?;
        same_words(&after, &expected)
    })
}
