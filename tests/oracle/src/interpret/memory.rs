//! Bytes with a shadow that marks undefined bits.

use super::value::{Scalar, ones};

/// A buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    bytes: Vec<u8>,
    /// Set bits mark undefined bits.
    shadow: Vec<u8>,
}

impl Region {
    /// A buffer of defined bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            shadow: vec![0; bytes.len()],
            bytes,
        }
    }

    /// Concatenates buffers.
    pub fn joined<'r>(regions: impl IntoIterator<Item = &'r Self>) -> Self {
        let mut joined = Self::default();
        for region in regions {
            joined.bytes.extend_from_slice(&region.bytes);
            joined.shadow.extend_from_slice(&region.shadow);
        }
        joined
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The undefined bits of each byte.
    pub fn shadow(&self) -> &[u8] {
        &self.shadow
    }

    /// Reads `size` bytes (at most 8); `None` out of bounds.
    pub fn read(&self, at: u64, size: u32) -> Option<Scalar> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(size as usize)?;
        let combine = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, b| word << 8 | u64::from(*b));
        Some(Scalar {
            bits: combine(self.bytes.get(at..end)?),
            undef: combine(self.shadow.get(at..end)?),
        })
    }

    /// Writes `size` bytes (at most 8); `None` out of bounds.
    pub fn write(&mut self, at: u64, size: u32, value: Scalar) -> Option<()> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(size as usize)?;
        let (bytes, shadow) = (self.bytes.get_mut(at..end)?, self.shadow.get_mut(at..end)?);
        for (i, (byte, undef)) in bytes.iter_mut().zip(shadow).enumerate() {
            *byte = (value.bits >> (8 * i)) as u8;
            *undef = (value.undef >> (8 * i)) as u8;
        }
        Some(())
    }

    /// Writes a defined word.
    pub fn set_word(&mut self, at: u64, word: u32) -> Option<()> {
        self.write(at, 4, Scalar::new(u64::from(word) & ones(32)))
    }
}

/// Memory at a physical address.
#[derive(Clone, Debug)]
pub struct Physical {
    /// Address of the first byte.
    pub address: u64,
    /// The bytes.
    pub region: Region,
}

impl Physical {
    /// The word at a byte offset, 0 if it is undefined.
    pub fn word(&self, offset: u32) -> u32 {
        let word = self.region.read(u64::from(offset), 4);
        word.map_or(0, |word| word.bits as u32)
    }
}
