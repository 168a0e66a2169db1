//! The bytes of messages, and their framing.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu, Query};
use crate::rules;
use crate::scenario::{GROUPS, await_loss, bytes, hex, lose, lost_by, marked, skip, success_or_lost};
use crate::shaders::{COUNT, DATA_ID, LENGTH_ID, MARK, Message, TEXT, aborting, data, gaps_expected};
use crate::verdict::{CheckOutput, hold, should};
use std::collections::BTreeSet;
use vk_ext::EXTENSION_NAMES;

pub(super) const CHECKS: &[Check] = &[
    Check::lost("message.uint", rules::PAYLOAD, |gpu| {
        compare(&one_message(gpu, Message::Uint)?, &bytes(&[MARK + ABORTING]))
    }),
    Check::lost("message.structure_with_gaps", rules::PAYLOAD, gaps),
    Check::lost("message.string_of_8_bits", rules::PAYLOAD, text8),
    Check::lost("message.string_of_32_bits", rules::PAYLOAD, |gpu| {
        text(&one_message(gpu, Message::Text32)?)
    }),
    Check::lost("message.empty_string", rules::PAYLOAD, |gpu| {
        compare(&one_message(gpu, Message::EmptyText)?, &[0; 4])
    }),
    Check::lost("message.empty_structure", rules::PAYLOAD, |gpu| {
        compare(&one_message(gpu, Message::Empty)?, &[])
    }),
    Check::lost("message.array_sized_by_SpecId", rules::PAYLOAD, |gpu| {
        loaded(gpu, Message::LoadedBySpecId, 37, &[(LENGTH_ID, bytes(&[37]))])
    }),
    Check::lost(
        "message.of_exactly_the_largest_size",
        rules::MESSAGE_SIZE_LIMIT,
        |gpu| at_limit(gpu, 0),
    ),
    Check::lost(
        "message.with_its_size_of_the_largest_size",
        rules::MESSAGE_SIZE_LIMIT,
        |gpu| at_limit(gpu, 8),
    ),
    Check::lost("message.specialized_constant_data", rules::SPEC_DATA, specialized),
    Check::lost("message.many_in_aligned_pairs", rules::PAIRS, pairs),
    Check::lost("message.first_is_reported", rules::FIRST, first),
];

/// The aborting invocation of most of these checks.
const ABORTING: u32 = 9;

/// Loses a device by the abort of [`ABORTING`] and returns its only message.
fn one_message(gpu: &'static Gpu, message: Message) -> CheckOutput<Vec<u8>> {
    let (_, fault, _) = lost_by(gpu, message, &[ABORTING])?;
    only(fault.payloads()?)
}

fn only(mut payloads: Vec<Vec<u8>>) -> CheckOutput<Vec<u8>> {
    hold!(payloads.len() == 1, "one abort has {} messages", payloads.len());
    Ok(payloads.pop().unwrap_or_default())
}

fn compare(found: &[u8], expected: &[u8]) -> CheckOutput {
    let difference = found.iter().zip(expected).position(|(a, b)| a != b);
    hold!(
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

fn gaps(gpu: &'static Gpu) -> CheckOutput {
    let found = one_message(gpu, Message::Gaps)?;
    let members = gaps_expected(MARK, ABORTING);
    let end = members.last().map_or(0, |(offset, _)| offset + 4);
    hold!(
        (end..=end.next_multiple_of(16)).contains(&found.len()),
        "the message has {} bytes, but its last member ends at {end}",
        found.len()
    );
    for (offset, expected) in members {
        let word = found.get(offset..).and_then(|rest| rest.first_chunk::<4>());
        let word = word.map(|word| u32::from_ne_bytes(*word));
        hold!(
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

fn text(found: &[u8]) -> CheckOutput {
    let mut expected = TEXT.as_bytes().to_vec();
    let padded = expected.len().next_multiple_of(4);
    // The padding between the string and its arguments is undefined.
    expected.extend(found.get(expected.len()..padded).unwrap_or_default());
    expected.extend(bytes(&[MARK, ABORTING]));
    compare(found, &expected)
}

fn text8(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    if !gpu.has_int8() {
        return skip("the device does not have shaderInt8");
    }
    text(&one_message(gpu, Message::Text8)?)
}

/// Checks a message of `length` words that the shader loads from a buffer.
fn loaded(gpu: &'static Gpu, message: Message, length: u32, special: &[(u32, Vec<u8>)]) -> CheckOutput {
    let device = Device::new(gpu, Enable::ABORT)?;
    let words: Vec<u32> = (0..length).map(data).collect();
    let buffers = [device.buffer(&marked(&[ABORTING]))?, device.buffer(&words)?];
    let kernel = device.kernel(&aborting(message), &buffers, special, None)?;
    lose(device, kernel, GROUPS)?;
    compare(&only(device.fault()?.payloads()?)?, &bytes(&words))
}

/// Maximum size of the tested messages in bytes, for implementations with a larger limit.
const LARGE: u64 = 1 << 20;

/// Checks a message of `maxShaderAbortMessageSize` minus `less` bytes.
fn at_limit(gpu: &'static Gpu, less: u64) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    let limit = gpu.query(Query::default()).max_message_size;
    let size = limit.saturating_sub(less).min(LARGE);
    let words = u32::try_from(size / 4).unwrap_or(u32::MAX);
    hold!(words > 0, "maxShaderAbortMessageSize is {limit}");
    loaded(gpu, Message::Loaded(words), words, &[])
}

fn specialized(gpu: &'static Gpu) -> CheckOutput {
    let (_, fault, _) = lost_by(gpu, Message::SpecData, &[ABORTING])?;
    compare(&only(fault.payloads()?)?, &bytes(&[data(0), data(1)]))?;
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = device.buffer(&marked(&[ABORTING]))?;
    let words: Vec<u32> = (50..55).map(data).collect();
    let special = [(LENGTH_ID, bytes(&[5])), (DATA_ID, bytes(&words))];
    let kernel = device.kernel(&aborting(Message::SpecData), &[buffer], &special, None)?;
    lose(device, kernel, GROUPS)?;
    compare(&only(device.fault()?.payloads()?)?, &bytes(&words))
}

fn pairs(gpu: &'static Gpu) -> CheckOutput {
    let everyone: Vec<u32> = (0..COUNT).collect();
    let (_, fault, _) = lost_by(gpu, Message::Uint, &everyone)?;
    let payloads = fault.payloads()?;
    hold!(!payloads.is_empty(), "there are no messages");
    let mut seen = BTreeSet::new();
    for payload in &payloads {
        let number = payload.as_slice().try_into().map(u32::from_ne_bytes);
        let number = number
            .ok()
            .and_then(|word| word.checked_sub(MARK))
            .filter(|&i| i < COUNT);
        hold!(number.is_some(), "no invocation sent {}", hex(payload));
        hold!(seen.insert(number), "invocation {number:?} has two messages");
    }
    Ok(format!("{} messages of {COUNT} aborts", payloads.len()))
}

fn first(gpu: &'static Gpu) -> CheckOutput {
    let device = Device::new(gpu, Enable::ABORT)?;
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
    let payloads = device.fault()?.payloads()?;
    let expected = bytes(&[MARK + early]);
    hold!(
        payloads.contains(&expected),
        "the message of the first submission is missing; the messages are {payloads:?}"
    );
    Ok(format!("{} messages of 2 aborts", payloads.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Stop;

    #[test]
    fn a_wrong_byte_or_length_fails() {
        assert!(matches!(compare(&[1, 2], &[1, 2]), Ok(detail) if detail == "2 bytes"));
        for wrong in [&[1, 3][..], &[1], &[1, 2, 0], &[]] {
            let result = compare(wrong, &[1, 2]);
            assert!(matches!(result, Err(Stop::Fail(_))), "{result:?}");
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
