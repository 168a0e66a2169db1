//! Replaces strings in byte arrays by strings in word arrays, the form that Slang emits, for devices without 8-bit
//! integers.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

const CAPABILITY: u32 = 17;
const TYPE_INT: u32 = 21;
const TYPE_ARRAY: u32 = 28;
const CONSTANT: u32 = 43;
const SPEC_CONSTANT: u32 = 50;
const DECORATE: u32 = 71;
const INT8: u32 = 39;
const ARRAY_STRIDE: u32 = 6;
const UTF_ENCODED: u32 = 5145;
/// Number of words in the header.
const HEADER: usize = 5;
/// Index of the id bound.
const BOUND: usize = 3;

/// Rewrites the module. The data of its constants is packed, so it does not change.
///
/// # Errors
///
/// The module uses bytes other than in strings padded to whole words.
pub fn with_word_strings(words: &[u32]) -> Result<Vec<u32>> {
    let instructions = split(words.get(HEADER..).context("no header")?)?;
    let int = |bits| {
        let of_width = |i: &&&[u32]| opcode(i) == TYPE_INT && i[2] == bits;
        instructions.iter().find(of_width).map(|i| i[1])
    };
    let uint = int(32).context("the module has no 32-bit integers")?;
    let Some(byte) = int(8) else { return Ok(words.to_vec()) };
    let arrays: Vec<u32> = instructions
        .iter()
        .filter(|i| opcode(i) == TYPE_ARRAY && i[2] == byte)
        .map(|i| i[1])
        .collect();
    let mut counts = BTreeMap::new();
    let mut out = words[..HEADER].to_vec();
    for instruction in &instructions {
        match (opcode(instruction), &instruction[1..]) {
            (CAPABILITY, [INT8]) | (TYPE_INT, [_, 8, _]) | (DECORATE, [_, UTF_ENCODED]) => {}
            (DECORATE, [target, ARRAY_STRIDE, 1]) if arrays.contains(target) => {
                out.extend([instruction[0], *target, ARRAY_STRIDE, 4]);
            }
            (TYPE_ARRAY, [array, element, length]) if *element == byte => {
                let bytes = instructions
                    .iter()
                    .find(|i| matches!(opcode(i), CONSTANT | SPEC_CONSTANT) && i[2] == *length)
                    .context("a string length is not a constant")?[3];
                ensure!(bytes % 4 == 0, "a string of {bytes} bytes is not padded to words");
                // Equal lengths share a constant, so that equal array types stay equal.
                let count = *counts.entry(*length).or_insert_with(|| {
                    let count = out[BOUND];
                    out[BOUND] += 1;
                    out.extend([4 << 16 | CONSTANT, uint, count, bytes / 4]);
                    count
                });
                out.extend([instruction[0], *array, uint, count]);
            }
            _ => out.extend_from_slice(instruction),
        }
    }
    Ok(out)
}

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xFFFF
}

fn split(mut words: &[u32]) -> Result<Vec<&[u32]>> {
    let mut instructions = Vec::new();
    while let Some(first) = words.first() {
        let length = (first >> 16) as usize;
        ensure!((1..=words.len()).contains(&length), "an instruction of {length} words");
        let (instruction, rest) = words.split_at(length);
        instructions.push(instruction);
        words = rest;
    }
    Ok(instructions)
}
