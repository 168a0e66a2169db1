//! `OpSpecConstantDataKHR` specialised with other data and other lengths.

use super::constant_data::{Table, payloads, shader, table};
use super::objects::create_module;
use super::support::{bytes, expect_end, expect_payloads, run_specialised, same_set, same_words};
use crate::assembly::{assemble, assemble_file};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Device, Gpu, Image, Pass, ShaderSource, Stage};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "constant_data_special::specialised_tables" => specialised_tables(device), silent();
    "constant_data_special::lengths_of_tables_of_8_bits" => lengths(gpu, 8), silent();
    "constant_data_special::lengths_of_tables_of_16_bits" => lengths(gpu, 16), silent();
    "constant_data_special::the_length_alone_in_a_fragment_shader" => fragment(gpu, true), logs(&["ab"]);
    "constant_data_special::the_length_alone_in_a_fragment_shader_without_an_abort" => fragment(gpu, false), silent();
    "constant_data_special::a_length_without_its_data" => length_without_data(device),
        logs(&["constant data has 3 words, but 4 elements of 32 bits, its specialised length, have 4"]), on_top();
    "constant_data_special::specialised_messages" => specialised_messages(gpu);
    "constant_data_special::specialised_text_without_8_bit_integers" => specialised_text(gpu),
        logs(&["a longer text"]);
    "constant_data_special::a_default_that_is_too_large" => large_default(gpu), logs(&["!"]);
    "constant_data_special::a_default_that_stays_too_large" => too_large(device), on_top(),
        logs(&["the message has 262128 bytes, more than the limit of 65536"]);
    "constant_data_special::a_format_of_two_strings" => format_of_two_strings(gpu),
        logs(&["test: 64", "test: 40"]);
};

/// Data by `SpecId`.
pub(super) type Special = Vec<(u32, Vec<u8>)>;

/// Specialisations of a table with `SpecId` 1, its length with 2 and a factor with 3, each with the resulting table elements and factor.
pub(super) fn specialisations() -> Vec<(Special, Vec<u32>, u32)> {
    vec![
        (vec![], vec![10, 20, 30], 1),
        (vec![(3, bytes(&[7]))], vec![10, 20, 30], 7),
        (vec![(1, bytes(&[4, 5, 6]))], vec![4, 5, 6], 1),
        (
            vec![(2, bytes(&[5])), (3, bytes(&[2])), (1, bytes(&[1, 2, 3, 4, 5]))],
            vec![1, 2, 3, 4, 5],
            2,
        ),
        (vec![(1, bytes(&[99])), (2, bytes(&[1]))], vec![99], 1),
    ]
}

fn specialised_tables(device: &Device<'_>) -> Result<()> {
    let spirv = assemble(&shader("specialised_table", &[])?)?;
    for (special, table, factor) in specialisations() {
        let words: Vec<u32> = (0..64).collect();
        let room = [words.clone(), vec![0; 64]].concat();
        let after = run_specialised(device, &spirv, &special, &room)?.succeeded()?;
        let looked_up = words.iter().map(|&w| table[w as usize % table.len()] * factor);
        let expected: Vec<u32> = looked_up.chain([table.len() as u32; 64]).collect();
        same_words(&after, &expected)?;
    }
    Ok(())
}

fn specialised_messages(gpu: &Gpu) -> Result<()> {
    let assembly = shader("specialised_message", &[])?;
    for (special, table, factor) in specialisations() {
        let device = Device::new(gpu)?;
        let expected = [5, 38].map(|i| message_of(i, factor, &table));
        same_set(payloads(&device, &assembly, &special)?, expected.into())?;
    }
    Ok(())
}

/// Message of invocation `i` of `specialised_message`.
pub(super) fn message_of(i: u32, factor: u32, table: &[u32]) -> Vec<u8> {
    bytes(&[&[i, factor], table].concat())
}

/// Text consists of 8-bit integers. After the rewrite it needs no `Int8`, so devices without it run the shader.
fn specialised_text(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let assembly = shader("specialised_text", &[])?;
    let text = b"a longer text\0".to_vec();
    let special = [(1, text.clone()), (2, (text.len() as u32).to_le_bytes().to_vec())];
    same_set(payloads(&device, &assembly, &special)?, vec![text.clone(), text])?;
    // Only the length: the first elements of the text.
    let device = Device::new(gpu)?;
    let special = [(2, 2u32.to_le_bytes().to_vec())];
    same_set(payloads(&device, &assembly, &special)?, vec![b"ab".to_vec(); 2])
}

/// The default text is as large as constant data can be, and larger than a message.
fn large_text() -> Result<String> {
    let text = shader("specialised_text", &[])?;
    Ok(text
        .replace("OpSpecConstant %uint 4", "OpSpecConstant %uint 262128")
        .replace("\"abc\"", &"0x20202020 ".repeat(65_532)))
}

fn large_default(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let special = [(1, b"!".to_vec()), (2, 1u32.to_le_bytes().to_vec())];
    // Without an abort first.
    let spirv = assemble(&large_text()?)?;
    run_specialised(&device, &spirv, &special, &[0; 128])?.succeeded()?;
    same_set(payloads(&device, &large_text()?, &special)?, vec![b"!".to_vec(); 2])
}

fn too_large(device: &Device<'_>) -> Result<()> {
    let spirv = assemble(&large_text()?)?;
    create_module(device, &spirv)?;
    ensure!(
        run_specialised(device, &spirv, &[], &[0; 128]).is_err(),
        "a pipeline with a message of 262,128 bytes was created"
    );
    Ok(())
}

/// The length alone is specialised, where both lengths have the same number of words.
fn lengths(gpu: &Gpu, width: u32) -> Result<()> {
    let per_word = 32 / u64::from(width);
    for (count, specialised) in [
        (8 * per_word, 8 * per_word - 1),
        (1, per_word),
        (2 * per_word, 2 * per_word),
    ] {
        for spec_data in [false, true] {
            let specialised = Some(specialised);
            let base = Table::new(width, true, count);
            table(
                gpu,
                &Table {
                    specialised,
                    spec_data,
                    ..base
                },
            )?;
        }
    }
    Ok(())
}

/// A graphics pipeline specialises the length of its fragment shader's text, with every length that the data has.
fn fragment(gpu: &Gpu, aborts: bool) -> Result<()> {
    let vertex = glsl::compile("stage/cover.vert")?;
    let spirv = assemble_file("assembly/constant_data/fragment_text.spvasm")?;
    for length in 1..=4u32 {
        let device = &Device::new(gpu)?;
        let special = [(2, length.to_le_bytes().to_vec())];
        let stages = [
            Stage::new(vk::ShaderStageFlags::VERTEX, &vertex),
            Stage {
                special: &special,
                ..Stage::new(vk::ShaderStageFlags::FRAGMENT, &spirv)
            },
        ];
        let image = Image::new(device)?;
        let pass = Pass::with(device, &stages, &[], ShaderSource::Modules)?;
        let result = pass.record(&image, if aborts { [17, 42] } else { [1000; 2] })?.run();
        expect_end(result, aborts)?;
        image.expect_white(&[(0, 0), (18, 42)])?;
        if aborts {
            expect_payloads(device, &[b"abc\0"[..length as usize].to_vec()])?;
        }
    }
    Ok(())
}

/// More elements than the data has: the pipeline is refused with a reason.
fn length_without_data(device: &Device<'_>) -> Result<()> {
    let spirv = assemble(&shader("specialised_table", &[])?)?;
    let special = [(2, 4u32.to_le_bytes().to_vec())];
    ensure!(
        run_specialised(device, &spirv, &special, &[0; 128]).is_err(),
        "a pipeline with 3 words of data for 4 elements was created"
    );
    Ok(())
}

/// The example of SPV_KHR_abort, "Using SPV_KHR_abort to output string messages": a format in two strings, the second one
/// specialised.
fn format_of_two_strings(gpu: &Gpu) -> Result<()> {
    let assembly = shader("two_strings", &[])?;
    let format: Special = vec![(1, b"%x".to_vec())];
    for (special, text) in [(vec![], b"test: %u"), (format, b"test: %x")] {
        let device = Device::new(gpu)?;
        let message = [text.as_slice(), &64u32.to_le_bytes()].concat();
        same_set(payloads(&device, &assembly, &special)?, vec![message.clone(), message])?;
    }
    Ok(())
}
