//! Decodes the messages that `vkGetDeviceFaultDebugInfoKHR` returns from GLSL's `abortEXT("format", arguments ..)`.
//!
//! A payload is the format string, its NUL, and the arguments at the offsets of the scalar layout. This decoder takes the
//! types from the format's conversions; the layer's report uses the types in the shader, which are always right.

/// Splits message data into payloads. Each is a 64-bit size in bytes, in host byte order, and as many bytes; the next
/// size is at the next multiple of 8 bytes.
pub fn split(data: &[u8]) -> Vec<&[u8]> {
    let mut payloads = Vec::new();
    let mut at = 0usize;
    while let Some(size) = data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let start = at + 8;
        let Ok(size) = usize::try_from(u64::from_ne_bytes(*size)) else {
            break;
        };
        let Some(payload) = start.checked_add(size).and_then(|end| data.get(start..end)) else {
            break;
        };
        payloads.push(payload);
        at = (start + size).next_multiple_of(8);
    }
    payloads
}

/// Formats one payload. A missing argument is shown as `?`; bytes that no conversion reads follow in hexadecimal.
pub fn text(payload: &[u8]) -> String {
    let end = payload.iter().position(|&byte| byte == 0).unwrap_or(payload.len());
    let (format, _) = payload.split_at(end);
    let format = String::from_utf8_lossy(format);
    let mut arguments = Arguments { payload, at: end + 1 };
    let mut out = String::new();
    let mut rest = format.as_ref();
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let length = after
            .find(|c: char| c.is_ascii_alphabetic() && c != 'v' && c != 'l')
            .unwrap_or(after.len());
        let (modifiers, conversion) = after.split_at(length);
        let Some(letter) = conversion.chars().next() else {
            out.push('%');
            rest = after;
            continue;
        };
        out.push_str(&arguments.formatted(modifiers, letter));
        rest = conversion.get(letter.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
    let left = payload.get(arguments.at.next_multiple_of(4)..).unwrap_or_default();
    if !left.is_empty() {
        out.push_str(&format!(" [{} more bytes: {}]", left.len(), hex(left)));
    }
    out
}

/// Formats bytes as pairs of hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Reads the arguments of one payload in order.
struct Arguments<'a> {
    payload: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// Reads and formats the argument of a conversion: a scalar, or for `%vNf` a vector.
    fn formatted(&mut self, modifiers: &str, letter: char) -> String {
        let wide = modifiers.contains('l');
        let count = modifiers
            .split_once('v')
            .and_then(|(_, count)| count.trim_end_matches('l').parse().ok())
            .unwrap_or(1);
        let parts: Vec<String> = (0..count)
            .map(|_| self.scalar(letter, wide).unwrap_or_else(|| "?".into()))
            .collect();
        if count == 1 {
            parts.concat()
        } else {
            format!("({})", parts.join(", "))
        }
    }

    fn scalar(&mut self, letter: char, wide: bool) -> Option<String> {
        let bits = match wide {
            true => u64::from_le_bytes(*self.take::<8>()?),
            false => u32::from_le_bytes(*self.take::<4>()?).into(),
        };
        Some(match letter {
            'd' | 'i' if wide => bits.cast_signed().to_string(),
            'd' | 'i' => (bits as i32).to_string(),
            'x' => format!("{bits:x}"),
            'f' if wide => format!("{:?}", f64::from_bits(bits)),
            'f' => format!("{:?}", f32::from_bits(bits as u32)),
            _ => bits.to_string(),
        })
    }

    /// Reads `N` bytes at the next multiple of `N`, the alignment of a scalar of `N` bytes in the scalar layout.
    fn take<const N: usize>(&mut self) -> Option<&[u8; N]> {
        let start = self.at.next_multiple_of(N);
        let value = self.payload.get(start..)?.first_chunk::<N>()?;
        self.at = start + N;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_start_at_multiples_of_eight() {
        let mut data = 3u64.to_ne_bytes().to_vec();
        data.extend(b"abc\0\0\0\0\0");
        data.extend(0u64.to_ne_bytes());
        data.extend(4u64.to_ne_bytes());
        data.extend(b"wxyz");
        assert_eq!(split(&data), [&b"abc"[..], b"", b"wxyz"]);
    }

    #[test]
    fn a_size_beyond_the_end_ends_the_list() {
        let mut data = 1u64.to_ne_bytes().to_vec();
        data.extend(b"a\0\0\0\0\0\0\0");
        data.extend(u64::MAX.to_ne_bytes());
        assert_eq!(split(&data), [&b"a"[..]]);
        assert!(split(&[1, 2, 3]).is_empty());
    }

    #[test]
    fn arguments_are_aligned_to_their_size() {
        let mut payload = b"i %d u %u%% f %f v %v2f\0".to_vec();
        assert_eq!(payload.len() % 4, 0);
        payload.extend((-3i32).to_le_bytes());
        payload.extend(7u32.to_le_bytes());
        payload.extend(0.5f32.to_le_bytes());
        payload.extend(1.5f32.to_le_bytes());
        payload.extend(2.0f32.to_le_bytes());
        assert_eq!(text(&payload), "i -3 u 7% f 0.5 v (1.5, 2.0)");
    }

    #[test]
    fn missing_arguments_and_leftover_bytes_are_shown() {
        assert_eq!(text(b"%u and %u\0\0\0\x05\0\0\0"), "5 and ?");
        assert_eq!(text(b"abc\0\x01\x02\x03\x04"), "abc [4 more bytes: 01 02 03 04]");
        assert_eq!(text(b""), "");
        assert_eq!(text(b"\0\0\0\0"), "");
    }
}
