//! Message data as `vkGetDeviceFaultDebugInfoKHR` returns it, taken apart into messages.
//!
//! The specification pads: a 64-bit size, a payload, and the next size at the next multiple of 8 bytes. A driver that does
//! not pad has been seen, and nothing in the data says which kind wrote it, so both readings are tried.

/// How the messages of a piece of message data follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Every size at a multiple of 8 bytes, as specified.
    Padded,
    /// Every size right behind the payload before it.
    Packed,
}

/// Message data taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages<'a> {
    /// The payloads, in order.
    pub payloads: Vec<&'a [u8]>,
    /// How they follow each other.
    pub framing: Framing,
    /// Bytes behind the last whole message: the data was cut short, or it is no message data.
    pub rest: &'a [u8],
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
        // Padding behind the last payload is not promised and not forbidden.
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

/// Where the message at `at` ends, if its size is there.
fn message_end(data: &[u8], at: usize) -> Option<usize> {
    let size = data.get(at..at.checked_add(8)?)?.first_chunk::<8>()?;
    at.checked_add(8)?
        .checked_add(usize::try_from(u64::from_le_bytes(*size)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::message_data;

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
    fn hostile_sizes_end_the_reading() {
        let mut data = u64::MAX.to_le_bytes().to_vec();
        data.extend([1, 2, 3]);
        assert!(split(&data).payloads.is_empty());
        assert_eq!(split(&data).rest, data);
        assert_eq!(split(&[0; 64]).payloads.len(), 8, "empty messages");
    }
}
