//! A module as words: header and instructions, with their offsets.

use super::Id;
use crate::error::{Error, ErrorKind, Result};

/// Words of a module's header.
pub const HEADER_WORDS: usize = 5;
/// Words of the longest instruction.
pub const MAX_INST_WORDS: usize = 65_535;
/// The header's word that names the generator (high half) and its version (low half).
pub const GENERATOR: usize = 2;
/// Slang's number, which keeps variables in memory only between blocks and gives values their names.
pub const SLANG: u32 = 40;
/// The number of naga, the compiler of wgpu.
pub const NAGA: u32 = 28;
/// The header's word that holds the id bound.
pub const BOUND: usize = 3;
/// `4,194,303`, the limit on ids that every consumer supports (SPIR-V specification, universal limits).
pub(crate) const MAX_BOUND: u32 = 0x3F_FFFF;

const MAGIC: u32 = 0x0723_0203;

/// An instruction in a module.
#[derive(Clone, Copy, Debug)]
pub struct Inst<'a> {
    /// Word offset of its first word.
    pub offset: usize,
    /// Its words, the first one (length and opcode) included. Never empty.
    pub words: &'a [u32],
}

impl<'a> Inst<'a> {
    pub fn opcode(&self) -> u16 {
        self.words.first().map_or(0, |w| *w as u16)
    }

    /// Word `index` of the instruction, 0 past its end: a missing operand then is not an id.
    pub fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// The id in word `index`, [`Id::NONE`] past its end.
    pub fn id(&self, index: usize) -> Id {
        Id::new(self.word(index))
    }

    /// The ids from word `index` on.
    pub fn ids(&self, index: usize) -> impl ExactSizeIterator<Item = Id> + Clone + use<'a> {
        self.from(index).iter().map(|word| Id::new(*word))
    }

    /// The words from `index` on.
    pub fn from(&self, index: usize) -> &'a [u32] {
        self.words.get(index..).unwrap_or(&[])
    }

    /// Offset of the next instruction.
    pub fn end(&self) -> usize {
        self.offset + self.words.len()
    }
}

/// Instructions from a word offset on. Stops at the end and before anything that is not a whole instruction.
pub struct Insts<'a> {
    words: &'a [u32],
    at: usize,
}

impl<'a> Insts<'a> {
    pub fn new(words: &'a [u32], at: usize) -> Self {
        Self { words, at }
    }

    pub fn offset(&self) -> usize {
        self.at
    }

    /// Advances to the instruction that holds the word at `offset`, which must not be before the next instruction.
    pub fn holding(&mut self, offset: usize) -> Option<Inst<'a>> {
        while let Some(word) = self.words.get(self.at) {
            let end = self.at + (word >> 16) as usize;
            if end > offset || end == self.at {
                break;
            }
            self.at = end;
        }
        self.next()
    }
}

impl<'a> Iterator for Insts<'a> {
    type Item = Inst<'a>;

    fn next(&mut self) -> Option<Inst<'a>> {
        let inst = inst_at(self.words, self.at)?;
        self.at += inst.words.len();
        Some(inst)
    }
}

/// The instruction at a word offset. `None` if it is not whole.
pub fn inst_at(words: &[u32], offset: usize) -> Option<Inst<'_>> {
    let length = (*words.get(offset)? >> 16) as usize;
    if length == 0 {
        return None;
    }
    Some(Inst {
        offset,
        words: words.get(offset..offset + length)?,
    })
}

/// Checks the header. Returns version and id bound.
///
/// # Errors
///
/// [`ErrorKind::Malformed`] or, for the id bound, [`ErrorKind::Limit`].
pub fn header(words: &[u32]) -> Result<(u32, u32)> {
    let malformed = |message: &str| Error::new(ErrorKind::Malformed, "scan", 0, message);
    let &[magic, version, _, bound, _, ..] = words else {
        return Err(malformed("shorter than the five words of a SPIR-V header"));
    };
    if magic == MAGIC.swap_bytes() {
        return Err(malformed(
            "the words are in the other byte order; give them in host order",
        ));
    }
    if magic != MAGIC {
        return Err(malformed("does not start with the SPIR-V magic number"));
    }
    if bound == 0 || bound > MAX_BOUND {
        return Err(Error::new(
            ErrorKind::Limit,
            "scan",
            BOUND as u32,
            format!("the id bound {bound} is outside 1 to {MAX_BOUND}; compact the ids (spirv-opt --compact-ids)"),
        ));
    }
    Ok((version, bound))
}

/// The version word of a header.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor << 8
}
