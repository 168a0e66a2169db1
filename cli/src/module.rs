//! SPIR-V modules as files, in either word order.

use crate::failure::{Failure, Result};
use crate::io;

const MAGIC: u32 = 0x0723_0203;

/// A module read from a file.
pub struct Module {
    /// What it is called in messages.
    pub name: String,
    /// Its words, in this machine's order.
    pub words: Vec<u32>,
    /// The file has the other byte order.
    big_endian: bool,
}

impl Module {
    /// Reads a module from a file or, for `-`, from standard input.
    pub fn read(path: &str) -> Result<Self> {
        Self::parse(io::name(path, "standard input"), &io::read(path)?)
    }

    /// Whether bytes start as a module does.
    pub fn starts(bytes: &[u8]) -> bool {
        bytes
            .first_chunk::<4>()
            .is_some_and(|word| [u32::from_le_bytes(*word), u32::from_be_bytes(*word)].contains(&MAGIC))
    }

    /// Takes a file's bytes for a module.
    pub fn parse(name: String, bytes: &[u8]) -> Result<Self> {
        let Some(first) = bytes.first_chunk::<4>() else {
            return Err(Failure::input(format!(
                "{name}: {} bytes are too few for a SPIR-V module",
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
                    "is it another kind of file?"
                };
                return Err(Failure::input(format!(
                    "{name}: no SPIR-V module: word 0 is {found:#010x}, not the magic number {MAGIC:#010x}; {advice}"
                )));
            }
        };
        let chunks = bytes.chunks_exact(4);
        if !chunks.remainder().is_empty() {
            return Err(Failure::input(format!(
                "{name}: malformed module: {} bytes are no whole number of 32-bit words; the file ends inside word {}",
                bytes.len(),
                bytes.len() / 4
            )));
        }
        let words = chunks
            .filter_map(|chunk| chunk.first_chunk::<4>())
            .map(|word| {
                if big_endian {
                    u32::from_be_bytes(*word)
                } else {
                    u32::from_le_bytes(*word)
                }
            })
            .collect();
        Ok(Self {
            name,
            words,
            big_endian,
        })
    }

    /// Words as bytes in the order that this module's file has.
    pub fn bytes_of(&self, words: &[u32]) -> Vec<u8> {
        words
            .iter()
            .flat_map(|word| {
                if self.big_endian {
                    word.to_be_bytes()
                } else {
                    word.to_le_bytes()
                }
            })
            .collect()
    }
}
