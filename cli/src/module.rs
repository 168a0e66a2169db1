//! SPIR-V module files, in either byte order.

use crate::failure::{Failure, Result};
use crate::io;
use std::path::Path;

const MAGIC: u32 = 0x0723_0203;

/// A SPIR-V module.
pub struct Module {
    /// The file's name in messages.
    pub name: String,
    /// The words, in host byte order.
    pub words: Vec<u32>,
    /// Whether the file is big-endian.
    big_endian: bool,
}

impl Module {
    /// Reads a module from a file or, for `-`, from standard input.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a SPIR-V module.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(io::input_name(path), &io::read(path)?)
    }

    /// Whether the bytes start with the magic number, in either byte order.
    pub fn has_magic(bytes: &[u8]) -> bool {
        bytes
            .first_chunk::<4>()
            .is_some_and(|word| [u32::from_le_bytes(*word), u32::from_be_bytes(*word)].contains(&MAGIC))
    }

    /// Parses the bytes of a file. Checks the magic number and the length only.
    ///
    /// # Errors
    ///
    /// The bytes are not a SPIR-V module.
    pub fn parse(name: String, bytes: &[u8]) -> Result<Self> {
        let Some(first) = bytes.first_chunk::<4>() else {
            return Err(Failure::input(format!(
                "{name}: not a SPIR-V module: {} bytes are too few",
                bytes.len()
            )));
        };
        let big_endian = match (u32::from_le_bytes(*first), u32::from_be_bytes(*first)) {
            (MAGIC, _) => false,
            (_, MAGIC) => true,
            (found, _) => {
                let advice = if bytes.iter().take(256).all(|b| b.is_ascii()) {
                    "this looks like text: compile or assemble it first"
                } else {
                    "pass a compiled SPIR-V module"
                };
                return Err(Failure::input(format!(
                    "{name}: not a SPIR-V module: word 0 is {found:#010x}, not the magic number {MAGIC:#010x}; {advice}"
                )));
            }
        };
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Failure::input(format!(
                "{name}: malformed module: {} bytes are not a whole number of 32-bit words; the file ends inside word {}",
                bytes.len(),
                bytes.len() / 4
            )));
        }
        let word = if big_endian {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        Ok(Self {
            name,
            words: chunks.iter().map(|bytes| word(*bytes)).collect(),
            big_endian,
        })
    }

    /// Converts words to bytes in the byte order of this module's file.
    pub fn bytes_of(&self, words: &[u32]) -> Vec<u8> {
        let bytes = if self.big_endian {
            u32::to_be_bytes
        } else {
            u32::to_le_bytes
        };
        words.iter().flat_map(|word| bytes(*word)).collect()
    }
}
