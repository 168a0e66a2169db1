//! Replaces the instructions that the validator does not know by equivalent ones that it knows.
//!
//! ```text
//! OpAbortKHR ..                        OpUnreachable
//! OpPoisonKHR %type %result            OpUndef %type %result
//! OpFreezeKHR %type %result %value     OpCopyObject %type %result %value
//! OpConstantDataKHR %type %result ..   OpConstantNull %type %result
//! ```
//!
//! Capabilities, extensions, execution modes and decorations of the three extensions are removed.

use std::collections::HashSet;
use vkabort_instrument::LOWERED;

/// Words of the header of a module.
const HEADER: usize = 5;

/// `ArithmeticPoisonKHR`, an execution mode.
const ARITHMETIC_POISON: u32 = 5157;
/// `UTFEncodedKHR`, a decoration.
const UTF_ENCODED: u32 = 5145;
/// `SpecId`, a decoration, which a null constant must not have.
const SPEC_ID: u32 = 1;

/// The module with stand-ins. Shorter or as long; ids stay.
pub fn with_stand_ins(words: &[u32]) -> Vec<u32> {
    let mut out: Vec<u32> = words.iter().take(HEADER).copied().collect();
    let specialised: HashSet<u32> = instructions(words)
        .filter(|inst| opcode(inst) == 5148)
        .filter_map(|inst| inst.get(2).copied())
        .collect();
    for inst in instructions(words) {
        match (opcode(inst), inst) {
            (17, [_, capability, ..]) if LOWERED.iter().any(|row| row.capability == *capability) => {}
            (10, [_, name @ ..]) if LOWERED.iter().any(|row| is_text(name, row.extension)) => {}
            (16, [_, _, ARITHMETIC_POISON, ..]) | (71, [_, _, UTF_ENCODED, ..]) => {}
            (72, [_, _, _, UTF_ENCODED, ..]) => {}
            (71, [_, target, SPEC_ID, ..]) if specialised.contains(target) => {}
            (5121, _) => out.push(1 << 16 | 255),
            (5158, [_, operands @ ..]) => push(&mut out, 1, operands),
            (5159, [_, operands @ ..]) => push(&mut out, 83, operands),
            (5147 | 5148, [_, ty, result, ..]) => push(&mut out, 46, &[*ty, *result]),
            _ => out.extend_from_slice(inst),
        }
    }
    out
}

fn push(out: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | opcode);
    out.extend_from_slice(operands);
}

fn opcode(inst: &[u32]) -> u32 {
    inst.first().map_or(0, |first| first & 0xFFFF)
}

/// The instructions of a module.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let (inst, after) = rest.split_at_checked(length.max(1))?;
        rest = after;
        Some(inst)
    })
}

fn is_text(words: &[u32], text: &str) -> bool {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.take_while(|byte| *byte != 0).eq(text.bytes())
}
