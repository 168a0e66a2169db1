//! The bytes of messages, and their framing.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::should;
use crate::scenario::{GROUPS, await_loss, bytes, hex, lose, lost_by, marked, skip, success_or_lost};
use crate::shaders::{COUNT, DATA_ID, LENGTH_ID, MARK, Message, TEXT, aborting, data, gaps_expected};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use vk_ext::EXTENSION_NAMES;
use vkabort_gpu::{Enable, Query};
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "message.uint" => equals(gpu, Message::Uint, &bytes(&[MARK + ABORTING])), rule(rules::PAYLOAD), after_loss();
    "message.structure_with_gaps" => gaps(gpu), rule(rules::PAYLOAD), after_loss();
    "message.string_of_8_bits" => text8(gpu), rule(rules::PAYLOAD), after_loss();
    "message.string_of_32_bits" => text32(gpu), rule(rules::PAYLOAD), after_loss();
    "message.empty_string" => equals(gpu, Message::EmptyText, &[0; 4]), rule(rules::PAYLOAD), after_loss();
    "message.empty_structure" => equals(gpu, Message::Empty, &[]), rule(rules::PAYLOAD), after_loss();
    "message.array_sized_by_SpecId" => loaded(gpu, Message::LoadedBySpecId, 37, &[(LENGTH_ID, bytes(&[37]))]), rule(rules::PAYLOAD), after_loss();
    "message.of_exactly_the_largest_size" => at_limit(gpu, 0), rule(rules::MESSAGE_SIZE_LIMIT), after_loss();
    "message.with_its_size_of_the_largest_size" => at_limit(gpu, 8), rule(rules::MESSAGE_SIZE_LIMIT), after_loss();
    "message.specialized_constant_data" => specialized(gpu), rule(rules::SPEC_DATA), after_loss();
    "message.many_in_aligned_pairs" => pairs(gpu), rule(rules::PAIRS), after_loss();
    "message.first_is_reported" => first(gpu), rule(rules::FIRST), after_loss();
};

/// The aborting invocation of most of these checks.
const ABORTING: u32 = 9;

/// Loses a device by the abort of [`ABORTING`] and returns its only message.
fn one_message(gpu: &'static CheckedGpu, message: Message) -> Result<Vec<u8>> {
    let (_, fault, _) = lost_by(gpu, message, &[ABORTING])?;
    only(fault.payloads()?)
}

fn only(mut payloads: Vec<Vec<u8>>) -> Result<Vec<u8>> {
    ensure!(payloads.len() == 1, "one abort has {} messages", payloads.len());
    Ok(payloads.pop().unwrap_or_default())
}

fn equals(gpu: &'static CheckedGpu, message: Message, expected: &[u8]) -> Result<String> {
    compare(&one_message(gpu, message)?, expected)
}

fn text32(gpu: &'static CheckedGpu) -> Result<String> {
    text(&one_message(gpu, Message::Text32)?)
}

fn compare(found: &[u8], expected: &[u8]) -> Result<String> {
    let difference = found.iter().zip(expected).position(|(a, b)| a != b);
    ensure!(
        found.len() == expected.len() && difference.is_none(),
        "{} bytes instead of {}; the first difference is in byte {}: {} instead of {}",
        found.len(),
        expected.len(),
        difference.unwrap_or(found.len().min(expected.len())),
        hex(found),
        hex(expected)
    );
    Ok(format!("{} bytes", found.len()))
}

fn gaps(gpu: &'static CheckedGpu) -> Result<String> {
    let found = one_message(gpu, Message::Gaps)?;
    let members = gaps_expected(MARK, ABORTING);
    let end = members.last().map_or(0, |(offset, _)| offset + 4);
    ensure!(
        (end..=end.next_multiple_of(16)).contains(&found.len()),
        "the message has {} bytes, but its last member ends at {end}",
        found.len()
    );
    for (offset, expected) in members {
        let word = found.get(offset..).and_then(|rest| rest.first_chunk::<4>());
        let word = word.map(|word| u32::from_ne_bytes(*word));
        ensure!(
            word == Some(expected),
            "the word at offset {offset} is {word:?} instead of {expected}: {}",
            hex(&found)
        );
    }
    should!(
        found.len() == end,
        "the message has {} bytes, {} of them after its last member: a reader may take them for data",
        found.len(),
        found.len() - end
    );
    Ok(format!("{} bytes", found.len()))
}

fn text(found: &[u8]) -> Result<String> {
    let mut expected = TEXT.as_bytes().to_vec();
    let padded = expected.len().next_multiple_of(4);
    // The padding between the string and its arguments is undefined.
    expected.extend(found.get(expected.len()..padded).unwrap_or_default());
    expected.extend(bytes(&[MARK, ABORTING]));
    compare(found, &expected)
}

fn text8(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    if !gpu.has_int8() {
        return skip("the device does not have shaderInt8");
    }
    text(&one_message(gpu, Message::Text8)?)
}

/// Checks a message of `length` words that the shader loads from a buffer.
fn loaded(gpu: &'static CheckedGpu, message: Message, length: u32, special: &[(u32, Vec<u8>)]) -> Result<String> {
    let device = gpu.device(Enable::ABORT)?;
    let words: Vec<u32> = (0..length).map(data).collect();
    let buffers = [device.buffer(&marked(&[ABORTING]))?, device.buffer(&words)?];
    let kernel = device.kernel(&aborting(message), &buffers, special, None)?;
    lose(device, kernel, GROUPS)?;
    compare(&only(device.fault_queries()?.payloads()?)?, &bytes(&words))
}

/// Maximum size of the tested messages in bytes, for implementations with a larger limit.
const LARGE: u64 = 1 << 20;

/// Checks a message of `maxShaderAbortMessageSize` minus `less` bytes.
fn at_limit(gpu: &'static CheckedGpu, less: u64) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    let limit = gpu.abort_support(Query::default()).max_message_size;
    let size = limit.saturating_sub(less).min(LARGE);
    let words = u32::try_from(size / 4).unwrap_or(u32::MAX);
    ensure!(words > 0, "maxShaderAbortMessageSize is {limit}");
    loaded(gpu, Message::Loaded(words), words, &[])
}

fn specialized(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::SpecData, &[ABORTING])?;
    compare(&only(fault.payloads()?)?, &bytes(&[data(0), data(1)]))?;
    let device = gpu.device(Enable::ABORT)?;
    let buffer = device.buffer(&marked(&[ABORTING]))?;
    let words: Vec<u32> = (50..55).map(data).collect();
    let special = [(LENGTH_ID, bytes(&[5])), (DATA_ID, bytes(&words))];
    let kernel = device.kernel(&aborting(Message::SpecData), &[buffer], &special, None)?;
    lose(device, kernel, GROUPS)?;
    compare(&only(device.fault_queries()?.payloads()?)?, &bytes(&words))
}

fn pairs(gpu: &'static CheckedGpu) -> Result<String> {
    let everyone: Vec<u32> = (0..COUNT).collect();
    let (_, fault, _) = lost_by(gpu, Message::Uint, &everyone)?;
    let payloads = fault.payloads()?;
    ensure!(!payloads.is_empty(), "there are no messages");
    let mut seen = BTreeSet::new();
    for payload in &payloads {
        let number = payload.as_slice().try_into().map(u32::from_ne_bytes);
        let number = number
            .ok()
            .and_then(|word| word.checked_sub(MARK))
            .filter(|&i| i < COUNT);
        ensure!(number.is_some(), "no invocation sent {}", hex(payload));
        ensure!(seen.insert(number), "invocation {number:?} has two messages");
    }
    Ok(format!("{} messages of {COUNT} aborts", payloads.len()))
}

fn first(gpu: &'static CheckedGpu) -> Result<String> {
    let device = gpu.device(Enable::ABORT)?;
    let (early, late) = (3, 40);
    let buffers = [device.buffer(&marked(&[early]))?, device.buffer(&marked(&[late]))?];
    let spirv = aborting(Message::Uint);
    let kernels = [0, 1].map(|i| device.kernel(&spirv, &buffers[i..=i], &[], None));
    let [one, two] = kernels;
    let (one, two) = (device.record(one?, GROUPS)?, device.record(two?, GROUPS)?);
    // The barrier at the end of the first submission orders the second one after it.
    success_or_lost("the first vkQueueSubmit", one.submit())?;
    success_or_lost("the second vkQueueSubmit", two.submit())?;
    success_or_lost("vkWaitForFences", one.wait())?;
    await_loss(device)?;
    let payloads = device.fault_queries()?.payloads()?;
    let expected = bytes(&[MARK + early]);
    ensure!(
        payloads.contains(&expected),
        "the message of the first submission is missing; the messages are {payloads:?}"
    );
    Ok(format!("{} messages of 2 aborts", payloads.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_or_length_fails() {
        assert!(matches!(compare(&[1, 2], &[1, 2]), Ok(detail) if detail == "2 bytes"));
        for wrong in [&[1, 3][..], &[1], &[1, 2, 0], &[]] {
            let result = compare(wrong, &[1, 2]);
            assert!(result.is_err(), "{result:?}");
        }
    }

    #[test]
    fn only_the_padding_after_a_string_is_ignored() {
        let message = |padding: &[u8], i: u32| [TEXT.as_bytes(), padding, &bytes(&[MARK, i])].concat();
        assert!(text(&message(&[0, 0], ABORTING)).is_ok());
        assert!(text(&message(&[1, 2], ABORTING)).is_ok());
        assert!(text(&message(&[], ABORTING)).is_err());
        assert!(text(&message(&[0, 0], ABORTING + 1)).is_err());
    }

    #[test]
    fn one_abort_has_one_message() {
        assert!(only(vec![]).is_err());
        assert!(only(vec![vec![], vec![]]).is_err());
        assert!(matches!(only(vec![vec![5]]), Ok(payload) if payload == [5]));
    }
}
