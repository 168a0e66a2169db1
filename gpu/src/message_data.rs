//! Framing of `vkGetDeviceFaultDebugInfoKHR`'s message data.

use anyhow::{Context, Result};

/// Splits message data into payloads. Each payload follows its 64-bit size in host byte order; each size starts at a
/// multiple of 8 bytes (`VkDeviceFaultShaderAbortMessageInfoKHR`).
///
/// # Errors
///
/// A size is cut short, or is larger than the bytes that follow it.
pub fn split(data: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut payloads = Vec::new();
    let mut offset = 0usize;
    while offset < data.len() {
        let rest = data.get(offset..).unwrap_or_default();
        let (size, rest) = rest
            .split_first_chunk::<8>()
            .with_context(|| format!("{} bytes at offset {offset} are too few for a size", rest.len()))?;
        let size = u64::from_ne_bytes(*size);
        let payload = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        let payload = payload
            .with_context(|| format!("the size at offset {offset} is {size}, but {} bytes follow", rest.len()))?;
        payloads.push(payload.to_vec());
        offset = (offset + 8 + payload.len()).next_multiple_of(8);
    }
    Ok(payloads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_start_at_multiples_of_eight() -> Result<()> {
        let message = |size: u64, bytes: &[u8]| [&size.to_ne_bytes(), bytes].concat();
        assert!(split(&[])?.is_empty());
        let two = [message(1, &[5, 0, 0, 0, 0, 0, 0, 0]), message(0, &[])].concat();
        assert_eq!(split(&two)?, vec![vec![5], vec![]]);
        assert_eq!(split(&message(3, &[1, 2, 3]))?, vec![vec![1, 2, 3]]);
        assert!(split(&message(3, &[1, 2])).is_err());
        assert!(split(&message(u64::MAX, &[1, 2])).is_err());
        assert!(split(&[0; 7]).is_err());
        // The first payload has no padding, so the second size is misplaced.
        assert!(split(&[message(1, &[5]), message(1, &[6])].concat()).is_err());
        Ok(())
    }
}
