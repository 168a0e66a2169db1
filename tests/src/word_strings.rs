//! Replaces strings in byte arrays by strings in word arrays, the form that Slang emits, for devices without 8-bit
//! integers.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use vkabort_oracle::op::{self, decoration};
use vkabort_oracle::words::{HEADER_WORDS, Inst, instructions, push};

/// Index of the id bound.
const BOUND: usize = 3;

/// Rewrites the module. The data of its constants is packed, so it does not change.
///
/// # Errors
///
/// The module uses bytes other than in strings padded to whole words.
pub fn with_word_strings(words: &[u32]) -> Result<Vec<u32>> {
    let all = instructions(words).context("not a module")?;
    let int = |bits| all.iter().find(|inst| inst.op == op::TypeInt && inst.word(1) == bits);
    let uint = int(32).context("the module has no 32-bit integers")?.word(0);
    let Some(byte) = int(8).map(|inst| inst.word(0)) else {
        return Ok(words.to_vec());
    };
    let is_string = |inst: &&Inst| inst.op == op::TypeArray && inst.word(1) == byte;
    let arrays: Vec<u32> = all.iter().filter(is_string).map(|inst| inst.word(0)).collect();
    let mut counts = BTreeMap::new();
    let mut out = words[..HEADER_WORDS].to_vec();
    for inst in &all {
        match (inst.op, inst.operands.as_slice()) {
            (op::Capability, [op::capability::Int8])
            | (op::TypeInt, [_, 8, _])
            | (op::Decorate, [_, decoration::UTFEncodedKHR]) => {}
            (op::Decorate, [target, decoration::ArrayStride, 1]) if arrays.contains(target) => {
                push(&mut out, op::Decorate, &[*target, decoration::ArrayStride, 4]);
            }
            (op::TypeArray, [array, element, length]) if *element == byte => {
                let is_length =
                    |inst: &&Inst| matches!(inst.op, op::Constant | op::SpecConstant) && inst.word(1) == *length;
                let bytes = all
                    .iter()
                    .find(is_length)
                    .context("a string length is not a constant")?
                    .word(2);
                ensure!(bytes % 4 == 0, "a string of {bytes} bytes is not padded to words");
                // Equal lengths share a constant, so that equal array types stay equal.
                let count = *counts.entry(*length).or_insert_with(|| {
                    let count = out[BOUND];
                    out[BOUND] += 1;
                    push(&mut out, op::Constant, &[uint, count, bytes / 4]);
                    count
                });
                push(&mut out, op::TypeArray, &[*array, uint, count]);
            }
            (opcode, operands) => push(&mut out, opcode, operands),
        }
    }
    Ok(out)
}
