//! Effects of `OpAbortKHR` on its invocation, on other invocations and on the device.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::should;
use crate::scenario::{GROUPS, await_loss, hex, lose, lost_by, no_reports, part, prepare, run_without_abort, success};
use crate::shaders::{COUNT, LOCAL, MARK, Message, waiting};
use anyhow::{Result, ensure};
use ash::vk;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use vkabort_gpu::{Enable, show};
use vkabort_runner::{Case, cases};

/// Name of the check on which those with `after_loss` depend.
pub const LOSES: &str = "abort.loses_the_device";

pub(super) const CHECKS: &[Case] = cases! {
    "abort.not_taken_changes_nothing" => not_taken(gpu), rule(rules::NOT_TAKEN);
    LOSES => loses(gpu), rule(rules::LOSES);
    "abort.has_a_message" => has_message(gpu), rule(rules::LOSES), after_loss();
    "abort.store_before_it_is_visible" => store_before(gpu), rule(rules::BEFORE), after_loss();
    "abort.store_after_it_is_absent" => store_after(gpu), rule(rules::CEASES), after_loss();
    "abort.of_the_last_invocation" => last(gpu), rule(rules::LOSES), after_loss();
    "abort.ends_invocations_that_wait" => waiting_invocations(gpu), rule(rules::OTHERS_END), after_loss();
    "abort.storm_keeps_whole_messages" => storm(gpu), rule(rules::FIRST), after_loss();
    "abort.time_to_loss" => time_to_loss(gpu), rule(rules::LOSES), after_loss();
};

/// The aborting invocations of these checks.
const ABORTING: [u32; 2] = [5, 38];

fn not_taken(gpu: &'static CheckedGpu) -> Result<String> {
    let device = gpu.device(Enable::ABORT)?;
    for _ in 0..3 {
        run_without_abort(device)?;
    }
    success("a submission afterwards", device.submit_nothing())?;
    no_reports(
        "vkGetDeviceFaultReportsKHR afterwards",
        device.fault_queries()?.report_count(0),
    )?;
    Ok(String::new())
}

fn loses(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, ..) = lost_by(gpu, Message::Uint, &ABORTING)?;
    let result = device.submit_nothing();
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "an empty vkQueueSubmit on the lost device returned {}",
        show(result)
    );
    Ok(String::new())
}

fn has_message(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Uint, &ABORTING)?;
    let messages = fault.payloads()?.len();
    ensure!(messages > 0, "the device is lost, but there are no messages");
    Ok(format!("{messages} of 2 aborts"))
}

fn store_before(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, _, buffer) = lost_by(gpu, Message::Uint, &ABORTING)?;
    let words = buffer.read();
    let stored = ABORTING.map(|i| part(&words, 1).get(i as usize).copied().unwrap_or_default());
    // The memory of a lost device is undefined, so this alone does not violate the specification.
    should!(
        stored == [MARK + 1; 2],
        "the aborting invocations stored {} before the abort, but the buffer contains {stored:?}; Khronos' conformance \
         tests require the store",
        MARK + 1
    );
    Ok(String::new())
}

fn store_after(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, _, buffer) = lost_by(gpu, Message::Uint, &ABORTING)?;
    let words = buffer.read();
    for i in ABORTING {
        let word = part(&words, 2).get(i as usize).copied().unwrap_or_default();
        // The memory is undefined, but no other store has this value.
        ensure!(word != MARK + 2, "invocation {i} stored {word} after its abort");
    }
    Ok(String::new())
}

fn last(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Uint, &[COUNT - 1])?;
    let expected = (MARK + COUNT - 1).to_ne_bytes();
    let payloads = fault.payloads()?;
    ensure!(
        payloads == [expected],
        "the messages are {payloads:?} instead of {expected:?}"
    );
    Ok(String::new())
}

fn waiting_invocations(gpu: &'static CheckedGpu) -> Result<String> {
    let device = gpu.device(Enable::ABORT)?;
    let buffer = device.buffer(&[0; 4])?;
    let kernel = device.kernel(&waiting(), &[buffer], &[], None)?;
    let start = Instant::now();
    lose(device, kernel, 64)?;
    let time = start.elapsed();
    let waited = buffer.read().get(2).copied().unwrap_or_default();
    Ok(format!(
        "{waited} invocations waited; lost after {} ms",
        time.as_millis()
    ))
}

/// Workgroups of the storm: 2^20 invocations.
const STORM: u32 = (1 << 20) / LOCAL;

fn storm(gpu: &'static CheckedGpu) -> Result<String> {
    let everyone: Vec<u32> = (0..COUNT).collect();
    let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Whole, &everyone)?;
    let start = Instant::now();
    lose(device, kernel, STORM)?;
    let time = start.elapsed();
    let payloads = device.fault_queries()?.payloads()?;
    ensure!(!payloads.is_empty(), "there are no messages");
    let mut seen = BTreeSet::new();
    for payload in &payloads {
        let words: Vec<u32> = payload
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_ne_bytes(*word))
            .collect();
        let whole = matches!(words[..], [v, inverse, i] if v == MARK && inverse == !i && i < STORM * LOCAL);
        ensure!(whole && payload.len() == 12, "a message is torn: {}", hex(payload));
        ensure!(
            seen.insert(words.last().copied()),
            "invocation {:?} has two messages",
            words.last()
        );
    }
    Ok(format!(
        "{} of {} messages, {} ms",
        payloads.len(),
        STORM * LOCAL,
        time.as_millis()
    ))
}

/// Number of measurements.
const ROUNDS: usize = 7;

fn time_to_loss(gpu: &'static CheckedGpu) -> Result<String> {
    let mut times = [[Duration::ZERO; ROUNDS]; 2];
    for (invocations, times) in [&[][..], &ABORTING[..]].into_iter().zip(&mut times) {
        for time in &mut *times {
            let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Uint, invocations)?;
            let submission = device.record(kernel, GROUPS)?;
            let start = Instant::now();
            if submission.run() == vk::Result::SUCCESS && !invocations.is_empty() {
                await_loss(device)?;
            }
            *time = start.elapsed();
            device.destroy();
        }
        times.sort();
    }
    let [healthy, lost] = times.map(|times| times.get(ROUNDS / 2).map_or(0.0, |t| t.as_secs_f64() * 1e3));
    Ok(format!(
        "{lost:.2} ms from vkQueueSubmit to VK_ERROR_DEVICE_LOST; {healthy:.2} ms to the fence without the abort"
    ))
}
