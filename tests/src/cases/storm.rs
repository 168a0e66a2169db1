//! Aborts of a million invocations.

use super::support::expect_lost;
use crate::case::{Case, cases};
use crate::glsl;
use crate::memory::resident;
use crate::vk::{Buffer, Device, Kernel, WordKernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::collections::BTreeSet;

pub(super) const CASES: &[Case] = cases! {
    "storm::with_a_separate_control_block" => storm(device), set(&[("control_block", "device")]), alone(), within(120);
    "storm::a_million_aborts_that_continue" => continued(device), set(&[("on_abort", "continue")]), alone(), within(120);
};

/// The device survives a million aborts, and memory does not grow with their number.
fn continued(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &super::support::marked(&[0]))?;
    let kernel = Kernel::new(device, &glsl::compile("storm/storm.comp")?, &[&buffer])?;
    let mut first = 0;
    for round in 0..17 {
        let result = kernel.run_to_end(STORM_GROUPS / 16)?;
        ensure!(result == vk::Result::SUCCESS, "round {round} ended with {result:?}");
        if round == 0 {
            first = resident()?;
        }
    }
    let grown = resident()?.saturating_sub(first);
    ensure!(grown < 32 << 20, "a million aborts left {grown} bytes");
    buffer.write(&[0]);
    super::support::expect_success(kernel.run_to_end(1)?)?;
    ensure!(buffer.read()[1] == 1, "the device does not run shaders any more");
    Ok(())
}

/// Workgroups of 64 invocations.
const STORM_GROUPS: u32 = 16384;

fn storm(device: &Device<'_>) -> Result<()> {
    let kernel = WordKernel::new(
        device,
        &glsl::compile("storm/storm.comp")?,
        &super::support::marked(&[0]),
    )?;
    expect_lost(kernel.run_to_end(STORM_GROUPS)?)?;
    let payloads = device.payloads()?;
    ensure!(payloads.len() > 1000, "only {} messages", payloads.len());
    let mut numbers = BTreeSet::new();
    for payload in &payloads {
        let text = b"storm %u\0\0\0\0";
        let number = payload.strip_prefix(text).and_then(|rest| rest.first_chunk::<4>());
        let number = u32::from_le_bytes(*number.context("a message is incomplete")?);
        ensure!(payload.len() == text.len() + 4, "a message has {} bytes", payload.len());
        ensure!(number < STORM_GROUPS * 64, "invocation {number} does not exist");
        ensure!(numbers.insert(number), "invocation {number} aborted twice");
    }
    ensure!(
        kernel.words() == super::support::marked(&[0]),
        "an invocation stored after its abort"
    );
    Ok(())
}
