//! The end-to-end cases, one file per feature.

mod abort;
mod bad_input;
mod binaries;
mod constant_data;
mod constant_data_special;
mod control_flow;
mod deliver;
mod device_creation;
mod fault_queries;
mod geometry;
mod layout;
mod layout_matrices;
mod layout_types;
mod lost;
mod lost_objects;
mod lost_threads;
mod mesh;
mod message;
mod more_queries;
mod narrow;
mod pipeline_creation;
mod poison;
mod present;
mod programs;
mod queries;
mod ray;
mod real_trap;
mod recovery;
mod report;
mod self_check;
mod settings;
mod shader_object;
mod shared_callee;
mod side_effects;
mod stage;
mod storm;
mod test_driver;
mod trap;
mod untouched;
mod waiting;

use crate::case::Case;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use crate::{case::Context, glsl};
use anyhow::{Result, ensure};
use ash::vk;

/// Every case.
pub fn all() -> Vec<Case> {
    [
        abort::CASES,
        bad_input::CASES,
        binaries::CASES,
        constant_data::CASES,
        constant_data_special::CASES,
        control_flow::CASES,
        deliver::CASES,
        device_creation::CASES,
        fault_queries::CASES,
        geometry::CASES,
        layout::CASES,
        layout_matrices::CASES,
        layout_types::CASES,
        lost::CASES,
        lost_objects::CASES,
        lost_threads::CASES,
        mesh::CASES,
        message::CASES,
        more_queries::CASES,
        narrow::CASES,
        poison::CASES,
        present::CASES,
        programs::CASES,
        &test_driver::all(),
        queries::CASES,
        ray::CASES,
        real_trap::CASES,
        recovery::CASES,
        report::CASES,
        self_check::CASES,
        settings::CASES,
        shader_object::CASES,
        shared_callee::CASES,
        side_effects::CASES,
        stage::CASES,
        storm::CASES,
        trap::CASES,
        untouched::CASES,
        waiting::CASES,
        pipeline_creation::CASES,
    ]
    .concat()
}

/// Words in the storage buffer of most shaders, and invocations of most dispatches.
const COUNT: usize = 64;
/// Workgroups of most dispatches, with 32 invocations each.
const GROUPS: u32 = 2;
/// Value of a word that makes its invocation abort.
const MARK: u32 = 7;

/// Words 100, 101, .. with [`MARK`] at `indices`.
fn marked(indices: &[usize]) -> Vec<u32> {
    (0..COUNT)
        .map(|i| if indices.contains(&i) { MARK } else { 100 + i as u32 })
        .collect()
}

/// Checks that a submission lost the device.
fn expect_lost(result: vk::Result) -> Result<()> {
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the submission ended with {result:?}, expected ERROR_DEVICE_LOST"
    );
    Ok(())
}

/// Checks that a submission succeeded.
fn expect_success(result: vk::Result) -> Result<()> {
    ensure!(
        result == vk::Result::SUCCESS,
        "the submission ended with {result:?}, expected SUCCESS"
    );
    Ok(())
}

/// Runs a shader of `shaders/` over these words and expects a lost device. Returns the final words and the payloads in
/// order.
fn run_to_loss(context: &Context, shader: &str, words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    run_words_to_loss(&device, &glsl::compile(shader)?, words)
}

/// [`run_to_loss`] with SPIR-V on an existing device.
fn run_words_to_loss(device: &Device<'_>, spirv: &[u32], words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let buffer = Buffer::storage(device, words)?;
    let kernel = Kernel::new(device, spirv, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    Ok((buffer.read(), device.payloads()?))
}

/// Checks that a submission lost the device if `aborts`, and succeeded otherwise.
fn expect_end(result: vk::Result, aborts: bool) -> Result<()> {
    if aborts {
        expect_lost(result)
    } else {
        expect_success(result)
    }
}

/// Runs the simplest shader with an abort. Expects a lost device with one message if `aborts`, success otherwise.
fn run_entry_point(device: &Device<'_>, aborts: bool) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(if aborts { &[3] } else { &[] }))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    if !aborts {
        expect_success(result)?;
        return Ok(());
    }
    expect_lost(result)?;
    let count = device.payloads()?.len();
    ensure!(count == 1, "{count} messages");
    Ok(())
}

/// Compares lists of payloads regardless of order.
fn same_set(mut found: Vec<Vec<u8>>, mut expected: Vec<Vec<u8>>) -> Result<()> {
    found.sort();
    expected.sort();
    for payload in &expected {
        ensure!(
            found.contains(payload),
            "expected {}\nfound    {}",
            vkabort_record::hex::hex(payload),
            found
                .iter()
                .map(|payload| vkabort_record::hex::hex(payload))
                .collect::<Vec<_>>()
                .join("\n         ")
        );
    }
    ensure!(
        found.len() == expected.len(),
        "{} messages, expected {}",
        found.len(),
        expected.len()
    );
    Ok(())
}

/// Compares buffers word by word.
fn same_words(found: &[u32], expected: &[u32]) -> Result<()> {
    ensure!(
        found.len() == expected.len(),
        "{} words, expected {}",
        found.len(),
        expected.len()
    );
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        ensure!(found == expected, "word {i} is {found}, expected {expected}");
    }
    Ok(())
}
