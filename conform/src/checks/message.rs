//! The bytes of messages, and their framing.

use super::super::gpu::khr::EXTENSION_NAMES;
use super::{
    Buffer, Check, Checked, Device, Enable, GROUPS, Gpu, Kernel, Message, aborting, bytes, fine, hex, hold, lose,
    lost_by, marked, skip,
};
use crate::gpu::Ask;
use crate::rules;
use crate::shaders::{COUNT, DATA_ID, LENGTH_ID, MARK, TEXT, data, holes_expected};
use crate::verdict::should;

pub(super) const CHECKS: &[Check] = &[
    Check::lost("message.uint", rules::PAYLOAD, uint),
    Check::lost("message.structure_with_gaps", rules::PAYLOAD, gaps),
    Check::lost("message.string_of_8_bits", rules::PAYLOAD, text8),
    Check::lost("message.string_of_32_bits", rules::PAYLOAD, text32),
    Check::lost("message.empty_string", rules::PAYLOAD, empty_text),
    Check::lost("message.empty_structure", rules::PAYLOAD, nothing),
    Check::lost("message.array_sized_by_SpecId", rules::PAYLOAD, by_spec_id),
    Check::lost(
        "message.of_exactly_the_largest_size",
        rules::MESSAGE_SIZE_LIMIT,
        largest,
    ),
    Check::lost(
        "message.with_its_size_of_the_largest_size",
        rules::MESSAGE_SIZE_LIMIT,
        largest_pair,
    ),
    Check::lost("message.specialized_constant_data", rules::SPEC_DATA, specialized),
    Check::lost("message.many_in_aligned_pairs", rules::PAIRS, pairs),
    Check::lost("message.first_is_reported", rules::FIRST, first),
];

/// The one invocation that aborts in most of these checks.
const WHO: u32 = 9;

/// The one message of a device on which [`WHO`] aborted.
fn one(gpu: &'static Gpu, message: Message) -> Checked<Vec<u8>> {
    let (_, fault, _) = lost_by(gpu, message, &[WHO])?;
    sole(fault.payloads()?)
}

fn sole(mut payloads: Vec<Vec<u8>>) -> Checked<Vec<u8>> {
    hold!(
        payloads.len() == 1,
        "there are {} messages of one abort",
        payloads.len()
    );
    Ok(payloads.pop().unwrap_or_default())
}

fn same(found: &[u8], expected: &[u8]) -> Checked {
    let wrong = found.iter().zip(expected).position(|(a, b)| a != b);
    hold!(
        found.len() == expected.len() && wrong.is_none(),
        "{} bytes instead of {}, byte {} is the first that differs: {} instead of {}",
        found.len(),
        expected.len(),
        wrong.unwrap_or(found.len().min(expected.len())),
        hex(found),
        hex(expected)
    );
    Ok(format!("{} bytes", found.len()))
}

fn uint(gpu: &'static Gpu) -> Checked {
    same(&one(gpu, Message::Uint)?, &bytes(&[MARK + WHO]))
}

fn gaps(gpu: &'static Gpu) -> Checked {
    let found = one(gpu, Message::Holes)?;
    let members = holes_expected(MARK, WHO);
    let end = members.last().map_or(0, |(offset, _)| offset + 4);
    hold!(
        (end..=end.next_multiple_of(16)).contains(&found.len()),
        "it has {} bytes; its last member ends at {end}",
        found.len()
    );
    for (offset, expected) in members {
        let word = found.get(offset..).and_then(|rest| rest.first_chunk::<4>());
        let word = word.map(|word| u32::from_ne_bytes(*word));
        hold!(
            word == Some(expected),
            "the word at offset {offset} is {word:?} and should be {expected}: {}",
            hex(&found)
        );
    }
    should!(
        found.len() == end,
        "it has {} bytes, {} of them after its last member: a reader may take them for data",
        found.len(),
        found.len() - end
    );
    Ok(format!("{} bytes", found.len()))
}

fn text(found: &[u8]) -> Checked {
    let mut expected = TEXT.as_bytes().to_vec();
    let padded = expected.len().next_multiple_of(4);
    // What stands between the string and the arguments is for nobody to say.
    expected.extend(found.get(expected.len()..padded).unwrap_or_default());
    expected.extend(bytes(&[MARK, WHO]));
    same(found, &expected)
}

fn text8(gpu: &'static Gpu) -> Checked {
    gpu.require(&EXTENSION_NAMES)?;
    if !gpu.has_int8() {
        return skip("the device does not have shaderInt8");
    }
    text(&one(gpu, Message::Text8)?)
}

fn text32(gpu: &'static Gpu) -> Checked {
    text(&one(gpu, Message::Text32)?)
}

fn empty_text(gpu: &'static Gpu) -> Checked {
    same(&one(gpu, Message::EmptyText)?, &[0; 4])
}

fn nothing(gpu: &'static Gpu) -> Checked {
    same(&one(gpu, Message::Nothing)?, &[])
}

/// The message of `length` words that are loaded from a buffer.
fn loaded(gpu: &'static Gpu, message: Message, length: u32, special: &[(u32, Vec<u32>)]) -> Checked {
    let device = Device::new(gpu, Enable::ABORT)?;
    let words: Vec<u32> = (0..length).map(data).collect();
    let buffers = [Buffer::new(device, &marked(&[WHO]))?, Buffer::new(device, &words)?];
    let kernel = Kernel::new(device, &aborting(message), &buffers, special, None)?;
    lose(device, &kernel, GROUPS)?;
    same(&sole(device.fault()?.payloads()?)?, &bytes(&words))
}

fn by_spec_id(gpu: &'static Gpu) -> Checked {
    loaded(gpu, Message::LoadedBySpecId, 37, &[(LENGTH_ID, vec![37])])
}

/// Where an implementation has a limit that nobody reaches, messages of this size will do.
const LARGE: u64 = 1 << 20;

/// The message whose size is the limit less `less`.
fn limit(gpu: &'static Gpu, less: u64) -> Checked {
    gpu.require(&EXTENSION_NAMES)?;
    let limit = gpu.ask(Ask {
        khr: false,
        reversed: false,
        poison: 0,
    });
    let size = limit.max_message_size.saturating_sub(less).min(LARGE);
    let words = u32::try_from(size / 4).unwrap_or(u32::MAX);
    hold!(words > 0, "maxShaderAbortMessageSize is {}", limit.max_message_size);
    loaded(gpu, Message::Loaded(words), words, &[])
}

fn largest(gpu: &'static Gpu) -> Checked {
    limit(gpu, 0)
}

fn largest_pair(gpu: &'static Gpu) -> Checked {
    limit(gpu, 8)
}

fn specialized(gpu: &'static Gpu) -> Checked {
    let (_, fault, _) = lost_by(gpu, Message::SpecData, &[WHO])?;
    same(&sole(fault.payloads()?)?, &bytes(&[data(0), data(1)]))?;
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = Buffer::new(device, &marked(&[WHO]))?;
    let words: Vec<u32> = (50..55).map(data).collect();
    let special = [(LENGTH_ID, vec![5]), (DATA_ID, words.clone())];
    let kernel = Kernel::new(device, &aborting(Message::SpecData), &[buffer], &special, None)?;
    lose(device, &kernel, GROUPS)?;
    same(&sole(device.fault()?.payloads()?)?, &bytes(&words))
}

fn pairs(gpu: &'static Gpu) -> Checked {
    let everyone: Vec<u32> = (0..COUNT).collect();
    let (_, fault, _) = lost_by(gpu, Message::Uint, &everyone)?;
    let payloads = fault.payloads()?;
    hold!(!payloads.is_empty(), "there are no messages");
    let mut seen = std::collections::BTreeSet::new();
    for payload in &payloads {
        let number = payload.as_slice().try_into().map(u32::from_ne_bytes);
        let number = number
            .ok()
            .and_then(|word| word.checked_sub(MARK))
            .filter(|&i| i < COUNT);
        hold!(number.is_some(), "no invocation sends {}", hex(payload));
        hold!(seen.insert(number), "invocation {number:?} has two messages");
    }
    Ok(format!("{} messages of {COUNT} aborts", payloads.len()))
}

fn first(gpu: &'static Gpu) -> Checked {
    let device = Device::new(gpu, Enable::ABORT)?;
    let (early, late) = (3, 40);
    let buffers = [
        Buffer::new(device, &marked(&[early]))?,
        Buffer::new(device, &marked(&[late]))?,
    ];
    let spirv = aborting(Message::Uint);
    let kernels = [0, 1].map(|i| Kernel::new(device, &spirv, &buffers[i..=i], &[], None));
    let [one, two] = kernels;
    let (one, two) = (one?.record(GROUPS)?, two?.record(GROUPS)?);
    // The second one waits for the barrier that ends the first, if it comes at all.
    fine("the first vkQueueSubmit", one.submit())?;
    fine("the second vkQueueSubmit", two.submit())?;
    fine("vkWaitForFences", one.wait())?;
    super::await_loss(device)?;
    let payloads = device.fault()?.payloads()?;
    let expected = bytes(&[MARK + early]);
    hold!(
        payloads.contains(&expected),
        "the message of the first submission is missing; there are {payloads:?}"
    );
    Ok(format!("{} messages of 2 aborts", payloads.len()))
}

#[cfg(test)]
mod tests {
    use super::super::Stop;
    use super::*;

    #[test]
    fn a_wrong_byte_or_length_fails() {
        assert!(matches!(same(&[1, 2], &[1, 2]), Ok(detail) if detail == "2 bytes"));
        for wrong in [&[1, 3][..], &[1], &[1, 2, 0], &[]] {
            let result = same(wrong, &[1, 2]);
            assert!(matches!(result, Err(Stop::Fail(_))), "{result:?}");
        }
    }

    #[test]
    fn padding_after_a_string_is_free_and_nothing_else() {
        let message = |padding: &[u8], i: u32| [TEXT.as_bytes(), padding, &bytes(&[MARK, i])].concat();
        assert!(text(&message(&[0, 0], WHO)).is_ok());
        assert!(text(&message(&[1, 2], WHO)).is_ok());
        assert!(text(&message(&[], WHO)).is_err());
        assert!(text(&message(&[0, 0], WHO + 1)).is_err());
    }

    #[test]
    fn one_abort_has_one_message() {
        assert!(sole(vec![]).is_err());
        assert!(sole(vec![vec![], vec![]]).is_err());
        assert!(matches!(sole(vec![vec![5]]), Ok(payload) if payload == [5]));
    }
}
