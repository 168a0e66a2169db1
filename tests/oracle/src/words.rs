//! Reads and writes instructions as words.

use crate::op;
pub use vkabort_spirv_builder::{MAGIC, push, string};

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

/// Decodes the string literal at the start of `words`. Returns the text and its length in words.
pub fn read_string(words: &[u32]) -> (String, usize) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), end / 4 + 1)
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
                    .contains(&read_string(&inst.operands).0.as_str()) => {}
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
