//! The cases, one file for each thing that has to hold.

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
mod own;
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
mod trap;
mod untouched;
mod waiting;
mod ways_in;

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
        &own::all(),
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
        ways_in::CASES,
    ]
    .concat()
}

/// Words in the storage buffer that most shaders work on, and invocations of most dispatches.
const COUNT: usize = 64;
/// Workgroups of most dispatches: 32 invocations each.
const GROUPS: u32 = 2;
/// What makes an invocation abort when it stands in its word.
const MARK: u32 = 7;

/// Words 100, 101, .. with [`MARK`] at `marked`.
fn marked(marked: &[usize]) -> Vec<u32> {
    (0..COUNT)
        .map(|i| if marked.contains(&i) { MARK } else { 100 + i as u32 })
        .collect()
}

/// Runs a shader of `shaders/` over these words. Returns the words afterwards and the payloads, in order; the device
/// has to be lost.
fn run_to_loss(context: &Context, shader: &str, words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    run_words_to_loss(&device, &glsl::compile(shader)?, words)
}

/// The same, on a device that is there, with SPIR-V that is there.
fn run_words_to_loss(device: &Device<'_>, spirv: &[u32], words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let buffer = Buffer::storage(device, words)?;
    let kernel = Kernel::new(device, spirv, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the dispatch ended with {result:?}"
    );
    Ok((buffer.read(), device.payloads()?))
}

/// Runs the simplest shader with an abort: it must lose the device with one message if the abort is taken, and must not
/// otherwise.
fn run_entry_point(device: &Device<'_>, aborts: bool) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(if aborts { &[3] } else { &[] }))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    if !aborts {
        ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
        return Ok(());
    }
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the dispatch ended with {result:?}"
    );
    let count = device.payloads()?.len();
    ensure!(count == 1, "{count} messages");
    Ok(())
}

/// Compares lists that may be in any order, and prints the difference.
fn same_set(mut found: Vec<Vec<u8>>, mut expected: Vec<Vec<u8>>) -> Result<()> {
    found.sort();
    expected.sort();
    for payload in &expected {
        ensure!(
            found.contains(payload),
            "expected {}\nfound    {}",
            vkabort_record::escape::hex(payload),
            found
                .iter()
                .map(|payload| vkabort_record::escape::hex(payload))
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

/// Compares buffers word by word, and prints the first that differs.
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
