//! Message data of `vkGetDeviceFaultDebugInfoKHR`: payloads joined and taken apart.
//!
//! Each message is a 64-bit size and a payload, and every size is at a multiple of 8 bytes ("VK_KHR_shader_abort",
//! `VkDeviceFaultShaderAbortMessageInfoKHR`). At least one driver does not pad, and the data does not tell which kind wrote
//! it, so [`split`] tries both.

/// How messages follow each other in message data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Every size at a multiple of 8 bytes, as specified.
    Padded,
    /// Every size right after the previous payload.
    Packed,
}

/// Message data taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages<'a> {
    /// The payloads, in order.
    pub payloads: Vec<&'a [u8]>,
    /// How they follow each other.
    pub framing: Framing,
    /// Bytes after the last whole message: the data was cut short, or it is not message data.
    pub rest: &'a [u8],
}

/// Joins payloads to padded message data with sizes in host byte order. The last payload is not padded.
pub fn message_data(payloads: impl IntoIterator<Item: AsRef<[u8]>>) -> Vec<u8> {
    let mut data = Vec::new();
    for payload in payloads {
        let payload = payload.as_ref();
        data.resize(data.len().next_multiple_of(8), 0);
        data.extend_from_slice(&(payload.len() as u64).to_ne_bytes());
        data.extend_from_slice(payload);
    }
    data
}

/// Takes message data apart. The padded reading wins unless only the packed one accounts for every byte.
pub fn split(data: &[u8]) -> Messages<'_> {
    let padded = read(data, Framing::Padded);
    if padded.rest.is_empty() {
        return padded;
    }
    let packed = read(data, Framing::Packed);
    if packed.rest.is_empty() { packed } else { padded }
}

fn read(data: &[u8], framing: Framing) -> Messages<'_> {
    let mut payloads = Vec::new();
    let mut at = 0;
    loop {
        let rest = data.get(at..).unwrap_or_default();
        // The specification neither requires nor forbids padding after the last payload.
        let done = rest.is_empty() || framing == Framing::Padded && rest.len() < 8 && rest.iter().all(|&b| b == 0);
        let end = message_end(data, at).filter(|_| !done);
        let payload = end.and_then(|end| data.get(at + 8..end));
        let (Some(end), Some(payload)) = (end, payload) else {
            return Messages {
                payloads,
                framing,
                rest: if done { &[] } else { rest },
            };
        };
        payloads.push(payload);
        at = match framing {
            Framing::Padded => end.next_multiple_of(8),
            Framing::Packed => end,
        };
    }
}

/// Byte offset of the end of the message at `at`, if the data holds its size.
fn message_end(data: &[u8], at: usize) -> Option<usize> {
    let size = data.get(at..at.checked_add(8)?)?.first_chunk::<8>()?;
    at.checked_add(8)?
        .checked_add(usize::try_from(u64::from_le_bytes(*size)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(payloads: &[&[u8]]) -> Vec<u8> {
        payloads
            .iter()
            .flat_map(|p| [(p.len() as u64).to_le_bytes().as_slice(), p].concat())
            .collect()
    }

    #[test]
    fn both_framings_are_read() {
        let payloads: [&[u8]; 4] = [b"abc", b"", b"12345678", b"x"];
        let data = message_data(payloads);
        assert_eq!(
            split(&data),
            Messages {
                payloads: payloads.to_vec(),
                framing: Framing::Padded,
                rest: &[]
            }
        );
        let data = packed(&payloads);
        assert_eq!(
            split(&data),
            Messages {
                payloads: payloads.to_vec(),
                framing: Framing::Packed,
                rest: &[]
            }
        );
        let mut padded_end = message_data([&b"abc"[..]]);
        padded_end.resize(16, 0);
        assert_eq!(split(&padded_end).payloads, [b"abc"]);
        assert!(split(&padded_end).rest.is_empty());
    }

    #[test]
    fn data_that_is_cut_short_keeps_its_whole_messages() {
        let data = message_data([&b"first"[..], b"second message"]);
        for cut in 0..data.len() {
            let found = split(&data[..cut]);
            let whole = usize::from(cut >= 13);
            assert_eq!(found.payloads.len(), whole, "{cut}");
            assert_eq!(found.rest.is_empty(), cut == 0 || (13..=16).contains(&cut), "{cut}");
        }
    }

    #[test]
    fn hostile_sizes_end_the_list() {
        let mut data = u64::MAX.to_le_bytes().to_vec();
        data.extend([1, 2, 3]);
        assert!(split(&data).payloads.is_empty());
        assert_eq!(split(&data).rest, data);
        assert_eq!(split(&[0; 64]).payloads.len(), 8, "empty messages");
    }

    #[test]
    fn message_data_aligns_every_size_to_eight_bytes() {
        let data = message_data([&b"abc"[..], &b""[..], &b"12345678"[..]]);
        assert_eq!(data.len(), 8 + 3 + 5 + 8 + 8 + 8);
        assert_eq!(data[..8], 3u64.to_ne_bytes());
        assert_eq!(data[16..24], 0u64.to_ne_bytes());
        assert_eq!(data[24..32], 8u64.to_ne_bytes());
        assert_eq!(&data[32..], b"12345678");
    }
}
