//! Reads and writes instructions as words.

use crate::op;
pub use vkabort_spirv_builder::{MAGIC, push, string, words as pack};

/// Size of a module's header in words.
pub const HEADER_WORDS: usize = 5;

/// An instruction with owned operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Opcode.
    pub op: u16,
    /// Words after the first one.
    pub operands: Vec<u32>,
    /// Word offset in the module that was read.
    pub offset: usize,
}

impl Inst {
    /// Operand `index`, or 0.
    pub fn word(&self, index: usize) -> u32 {
        self.operands.get(index).copied().unwrap_or(0)
    }

    /// Operands from `index`.
    pub fn operands_from(&self, index: usize) -> &[u32] {
        self.operands.get(index..).unwrap_or(&[])
    }
}

/// Words of bytes, the first byte lowest. Drops bytes after the last whole word.
pub fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Bytes of words, the lowest byte first.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Decodes the string literal at the start of `words`.
pub fn read_string(words: &[u32]) -> String {
    let bytes = to_bytes(words);
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// Instructions of a module; `None` if the header is invalid or an instruction exceeds the module.
pub fn instructions(words: &[u32]) -> Option<Vec<Inst>> {
    if words.len() < HEADER_WORDS || words.first() != Some(&MAGIC) {
        return None;
    }
    let mut instructions = Vec::new();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let first = words[at];
        let length = (first >> 16) as usize;
        let operands = words.get(at + 1..at + length)?.to_vec();
        instructions.push(Inst {
            op: first as u16,
            operands,
            offset: at,
        });
        at += length;
    }
    Some(instructions)
}

/// Replaces the lowered extensions by core instructions: aborts by `OpUnreachable`, constant data by null, poison by undef,
/// freeze by a copy. If the result is valid, so is the rest of the module.
pub fn without_extensions(words: &[u32]) -> Option<Vec<u32>> {
    let mut out = words.get(..HEADER_WORDS)?.to_vec();
    for inst in instructions(words)? {
        match inst.op {
            op::Capability if [5120, 5146, 5156].contains(&inst.word(0)) => {}
            op::Extension
                if ["SPV_KHR_abort", "SPV_KHR_constant_data", "SPV_KHR_poison_freeze"]
                    .contains(&read_string(&inst.operands).as_str()) => {}
            op::ExecutionMode if inst.word(1) == op::execution_mode::ArithmeticPoisonKHR => {}
            op::Decorate if inst.word(1) == op::decoration::UTFEncodedKHR => {}
            op::AbortKHR => push(&mut out, op::Unreachable, &[]),
            op::ConstantDataKHR | op::SpecConstantDataKHR => {
                push(&mut out, op::ConstantNull, &inst.operands[..2.min(inst.operands.len())]);
            }
            op::PoisonKHR => push(&mut out, op::Undef, &inst.operands),
            op::FreezeKHR => push(&mut out, op::CopyObject, &inst.operands),
            other => push(&mut out, other, &inst.operands),
        }
    }
    Some(out)
}
