//! `OpSpecConstantDataKHR` specialised with other data and other lengths.

use super::constant_data::{ABORT, abort, payloads, run_special, shader};
use super::support::{expect_success, same_set, same_words};
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("constant_data_special::specialised_tables", specialised_tables).silent(),
    Case::new("constant_data_special::specialised_messages", specialised_messages),
    Case::new(
        "constant_data_special::specialised_text_without_8_bit_integers",
        specialised_text,
    )
    .logs(&["a longer text"]),
];

/// A table with `SpecId` 1, its length with `SpecId` 2 and a factor with `SpecId` 3.
const SPECIALISED: &str = "%scalar = OpTypeInt 32 1
    %length = OpSpecConstant %uint 3
    %factor = OpSpecConstant %uint 1
    %table = OpTypeArray %scalar %length
    %data = OpSpecConstantDataKHR %table 10 20 30";
const SPEC_IDS: &str = "OpDecorate %data SpecId 1
    OpDecorate %length SpecId 2
    OpDecorate %factor SpecId 3";

/// Data by `SpecId`.
type Special = Vec<(u32, Vec<u8>)>;

/// Specialisations, each with the resulting table elements and factor.
fn specialisations() -> Vec<(Special, Vec<u32>, u32)> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    vec![
        (vec![], vec![10, 20, 30], 1),
        (vec![(3, words(&[7]))], vec![10, 20, 30], 7),
        (vec![(1, words(&[4, 5, 6]))], vec![4, 5, 6], 1),
        (
            vec![(2, words(&[5])), (3, words(&[2])), (1, words(&[1, 2, 3, 4, 5]))],
            vec![1, 2, 3, 4, 5],
            2,
        ),
        (vec![(1, words(&[99])), (2, words(&[1]))], vec![99], 1),
    ]
}

fn specialised_tables(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let types = format!(
        "{SPECIALISED}
         %table_pointer = OpTypePointer Function %table
         %scalar_pointer = OpTypePointer Function %scalar"
    );
    let body = "%at = OpUMod %uint %value %length
         %place = OpAccessChain %scalar_pointer %variable %at
         %found = OpLoad %scalar %place
         %word = OpBitcast %uint %found
         %product = OpIMul %uint %word %factor
         OpStore %pointer %product
         OpStore %pointer_behind %length";
    let variable = "%variable = OpVariable %table_pointer Function %data";
    let assembly = shader("", SPEC_IDS, &types, variable, body);
    for (special, table, factor) in specialisations() {
        let words: Vec<u32> = (0..64).collect();
        let buffer = Buffer::storage(&device, &[words.clone(), vec![0; 64]].concat())?;
        let (_kernel, result) = run_special(&device, &assembly, &special, &buffer)?;
        expect_success(result)?;
        let looked_up = words.iter().map(|&w| table[w as usize % table.len()] * factor);
        let expected: Vec<u32> = looked_up.chain([table.len() as u32; 64]).collect();
        same_words(&buffer.read(), &expected)?;
    }
    Ok(())
}

fn specialised_messages(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let types = format!(
        "{SPECIALISED}
         %plain = OpTypeStruct %uint %uint %table
         %laid_out = OpTypeArray %scalar %length
         %type = OpTypeStruct %uint %uint %laid_out"
    );
    let decorations = format!(
        "{SPEC_IDS}
         OpDecorate %laid_out ArrayStride 4
         OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 4
         OpMemberDecorate %type 2 Offset 8"
    );
    let body = abort(
        "%message = OpCompositeConstruct %plain %i %factor %data
         OpAbortKHR %type %message",
    );
    let assembly = shader(ABORT, &decorations, &types, "", &body);
    for (special, table, factor) in specialisations() {
        let device = Device::new(&gpu)?;
        let expected = |i: u32| {
            let words = [vec![i, factor], table.clone()].concat();
            words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        same_set(payloads(&device, &assembly, &special)?, vec![expected(5), expected(38)])?;
    }
    Ok(())
}

/// Text consists of 8-bit integers. After the rewrite it needs no `Int8`, so devices without it run the shader.
fn specialised_text(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let types = "%char = OpTypeInt 8 0
         %length = OpSpecConstant %uint 4
         %table = OpTypeArray %char %length
         %data = OpSpecConstantDataKHR %table \"abc\"
         %plain = OpTypeStruct %table
         %laid_out = OpTypeArray %char %length
         %type = OpTypeStruct %laid_out";
    let decorations = "OpDecorate %data SpecId 1
         OpDecorate %length SpecId 2
         OpDecorate %table UTFEncodedKHR
         OpDecorate %laid_out UTFEncodedKHR
         OpDecorate %laid_out ArrayStride 1
         OpMemberDecorate %type 0 Offset 0";
    let body = abort(
        "%message = OpCompositeConstruct %plain %data
         OpAbortKHR %type %message",
    );
    let assembly = shader(&format!("OpCapability Int8\n{ABORT}"), decorations, types, "", &body);
    let text = b"a longer text\0".to_vec();
    let special = [(1, text.clone()), (2, (text.len() as u32).to_le_bytes().to_vec())];
    same_set(payloads(&device, &assembly, &special)?, vec![text.clone(), text])
}
