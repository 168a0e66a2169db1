//! `OpConstantDataKHR` on drivers: as tables and in messages, in every width. Also the helpers that
//! `constant_data_special` uses.

use super::support::{MARK, marked, run_specialised, same_set, same_words};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu};
use crate::word_shader::word_shader;
use anyhow::Result;
use ash::vk;
use vkabort_oracle::words::from_bytes;

pub(super) const CASES: &[Case] = cases! {
    "constant_data::tables_of_8_bits" => tables(gpu, 8), silent();
    "constant_data::tables_of_16_bits" => tables(gpu, 16), silent();
    "constant_data::tables_of_32_bits" => tables(gpu, 32), silent();
    "constant_data::tables_of_64_bits" => tables(gpu, 64), silent();
    "constant_data::a_large_table" => table(gpu, &Table::new(32, false, 301)), silent();
    "constant_data::in_messages" => messages(gpu);
};

/// Assembly of the shader `constant_data/<name>.spvasm`: `%i` is the invocation and `%value` its word.
pub(super) fn shader(name: &str, values: &[(&str, &str)]) -> Result<String> {
    let mark = MARK.to_string();
    let values = [values, &[("mark", &mark)]].concat();
    word_shader(&[&format!("constant_data/{name}"), "constant_data/values"], &values)
}

/// Element `k` of the tables. Some have the sign bit set.
pub(super) fn element(k: u64, width: u32) -> u64 {
    (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - width)
}

/// Elements as literal words in assembly.
pub(super) fn literal(elements: &[u64], width: u32) -> String {
    let mut bytes = packed(elements, width);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = from_bytes(&bytes);
    words.iter().map(|word| format!(" {word:#010x}")).collect()
}

pub(super) fn packed(elements: &[u64], width: u32) -> Vec<u8> {
    let each = elements.iter().map(|element| element.to_le_bytes());
    each.flat_map(|bytes| bytes[..width as usize / 8].to_vec()).collect()
}

/// Skips the case if the device lacks integers of this width; returns their capability.
pub(super) fn require(gpu: &Gpu, width: u32) -> Result<&'static str> {
    let (core, newer) = gpu.features();
    let (has, capability) = match width {
        8 => (newer.shader_int8, "OpCapability Int8"),
        16 => (core.shader_int16, "OpCapability Int16"),
        64 => (core.shader_int64, "OpCapability Int64"),
        _ => (vk::TRUE, ""),
    };
    gpu.require(has, &format!("integers of {width} bits"))?;
    Ok(capability)
}

fn tables(gpu: &Gpu, width: u32) -> Result<()> {
    for count in [1, 3, 61] {
        for signed in [false, true] {
            table(gpu, &Table::new(width, signed, count))?;
        }
    }
    Ok(())
}

/// A table of constant data.
pub(super) struct Table {
    pub(super) width: u32,
    pub(super) signed: bool,
    /// Elements of its type.
    pub(super) count: u64,
    /// The number of elements that its length, `SpecId` 2, is specialised to. They have as many words as `count`.
    pub(super) specialised: Option<u64>,
    /// The data has a `SpecId`, which is not specialised.
    pub(super) spec_data: bool,
}

impl Table {
    pub(super) fn new(width: u32, signed: bool, count: u64) -> Self {
        Self {
            width,
            signed,
            count,
            specialised: None,
            spec_data: false,
        }
    }
}

/// Looks up elements by an index that is unknown at compile time, and one by a constant.
pub(super) fn table(gpu: &Gpu, table: &Table) -> Result<()> {
    require(gpu, table.width)?;
    table_on(&Device::new(gpu)?, table)
}

/// [`table`] on a device.
pub(super) fn table_on(device: &Device<'_>, table: &Table) -> Result<()> {
    let (width, signed, declared) = (table.width, table.signed, table.count);
    let count = table.specialised.unwrap_or(declared);
    let capability = require(device.gpu, width)?;
    // The data words of the shorter length have elements that only the longer one uses.
    let all: Vec<u64> = (0..count.max(declared)).map(|k| element(k, width)).collect();
    let elements = &all[..count as usize];
    let (scalar_type, scalar) = match (width, signed) {
        (32, false) => (String::new(), "%uint"),
        _ => (format!("%scalar = OpTypeInt {width} {}", u32::from(signed)), "%scalar"),
    };
    let widened = |name: &str, from: &str| match (width, signed) {
        (64, _) => format!(
            "%{name}_both = OpBitcast %uvec2 {from}
             %{name}_low = OpCompositeExtract %uint %{name}_both 0
             %{name}_high = OpCompositeExtract %uint %{name}_both 1
             %{name} = OpBitwiseXor %uint %{name}_low %{name}_high"
        ),
        (32, false) => format!("%{name} = OpCopyObject %uint {from}"),
        (32, true) => format!("%{name} = OpBitcast %uint {from}"),
        (_, true) => format!("%{name} = OpSConvert %uint {from}"),
        (_, false) => format!("%{name} = OpUConvert %uint {from}"),
    };
    let values = [
        ("capability", capability),
        ("scalar_type", &scalar_type),
        ("scalar", scalar),
        (
            "decorations",
            match (table.specialised, table.spec_data) {
                (None, _) => "",
                (Some(_), false) => "OpDecorate %length SpecId 2",
                (Some(_), true) => "OpDecorate %length SpecId 2\nOpDecorate %data SpecId 1",
            },
        ),
        (
            "length",
            if table.specialised.is_some() {
                "OpSpecConstant"
            } else {
                "OpConstant"
            },
        ),
        (
            "constant",
            if table.spec_data {
                "OpSpecConstantDataKHR"
            } else {
                "OpConstantDataKHR"
            },
        ),
        ("count", &declared.to_string()),
        ("data", &literal(&all, width)),
        ("word", &widened("word", "%found")),
        ("last", &(count.min(declared) - 1).to_string()),
        ("last_word", &widened("last_word", "%last")),
    ];
    let words: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let room = [words.clone(), vec![0; 64]].concat();
    let special = table
        .specialised
        .map(|count| (2, (count as u32).to_le_bytes().to_vec()));
    let spirv = assemble(&shader("table", &values)?)?;
    let after = run_specialised(device, &spirv, special.as_slice(), &room)?.succeeded()?;
    let word = |element: u64| match (width, signed) {
        (64, _) => element as u32 ^ (element >> 32) as u32,
        (8, true) => element as u8 as i8 as u32,
        (16, true) => element as u16 as i16 as u32,
        _ => element as u32,
    };
    let looked_up = words.iter().map(|&w| word(elements[w as usize % elements.len()]));
    let last = word(elements[count.min(declared) as usize - 1]);
    let expected: Vec<u32> = looked_up.chain([last; 64]).collect();
    same_words(&after, &expected)
}

/// Runs a specialised shader that aborts at two marked words. Returns the payloads.
pub(super) fn payloads(device: &Device<'_>, assembly: &str, special: &[(u32, Vec<u8>)]) -> Result<Vec<Vec<u8>>> {
    let words = [marked(&[5, 38]), vec![0; 64]].concat();
    let (_, payloads) = run_specialised(device, &assemble(assembly)?, special, &words)?.lost()?;
    Ok(payloads)
}

fn messages(gpu: &Gpu) -> Result<()> {
    for width in [8, 16, 32, 64] {
        // Data used only by messages needs no device support for its width, but the module still declares the capability.
        let capability = match require(gpu, width) {
            Ok(capability) => capability,
            Err(_) if width == 8 => "OpCapability Int8",
            Err(_) => continue,
        };
        for count in [1u64, 7, 200] {
            let elements: Vec<u64> = (0..count).map(|k| element(k, width)).collect();
            let behind = (elements.len() * width as usize / 8).next_multiple_of(4);
            let values = [
                ("capability", capability),
                ("width", &width.to_string()),
                ("signed", if width == 32 { "1" } else { "0" }),
                ("count", &count.to_string()),
                ("data", &literal(&elements, width)),
                ("stride", &(width / 8).to_string()),
                ("behind", &behind.to_string()),
            ];
            let assembly = shader("message", &values)?;
            let device = Device::new(gpu)?;
            let expected = |i: u32| {
                let mut bytes = packed(&elements, width);
                bytes.resize(behind, 0);
                bytes.extend(i.to_le_bytes());
                bytes
            };
            same_set(payloads(&device, &assembly, &[])?, vec![expected(5), expected(38)])?;
        }
    }
    Ok(())
}
