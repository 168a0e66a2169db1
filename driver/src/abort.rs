//! What the shaders of a submission that aborts would have done.
//!
//! Where the driver has the extension itself, a module with `OpAbortKHR` leaves its messages with the driver, which loses
//! the device. A module that the layer has rewritten has none; its code has the address of the layer's arena, to which
//! such an invocation writes a record. So does the driver, word by word as `vkabort_record::layout` has it.

use crate::device::{Device, State};
use crate::handle;
use crate::shader::Pipeline;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_record::layout::{
    ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES, UNIT_WORDS, commit_word, header, record_units,
};

const OP_CONSTANT: u32 = 43;
const OP_CONSTANT_COMPOSITE: u32 = 44;
const OP_ABORT: u32 = 5121;
/// Words before the first instruction.
const HEADER: usize = 5;
/// `GLCompute`.
const STAGE: u32 = 5;
/// Units of the smallest arena that the layer makes by default: as many records as that are written at most.
const CAPACITY: u32 = ((1 << 20) - CONTROL_BYTES) / UNIT_BYTES;

/// Runs a pipeline as part of submission `number`. True: the driver's own device is lost by it.
///
/// # Safety
/// The pipeline must be alive, and so must the memory behind addresses in its code.
pub unsafe fn run(device: &Device, state: &mut State, pipeline: u64, number: u64) -> bool {
    let settings = &device.settings;
    if !settings.abort.is(number) {
        return false;
    }
    // SAFETY: the caller vouches for the pipeline.
    let stages = unsafe { handle::get::<Pipeline>(pipeline) }.map_or(&[][..], |pipeline| &pipeline.stages);
    let messages = || (0..settings.messages).map(|index| message(number, index));
    let mut lost = false;
    for words in stages {
        if settings.native_abort && instructions(words).any(|(op, _)| op == OP_ABORT) {
            state.faults.messages.extend(messages());
            lost = true;
        } else if let Some(address) = arena(words) {
            let base = match settings.cpu {
                true => Some(address as *mut u8),
                false => state.addresses.host(address),
            };
            if let Some(base) = base {
                for message in messages() {
                    // SAFETY: the layer keeps the arena as long as shaders may write to it.
                    unsafe { write(base, &message) };
                }
            }
        }
    }
    lost
}

/// A message's payload.
fn message(number: u64, index: u32) -> Vec<u8> {
    let mut text = format!("submission {number}, message {index}").into_bytes();
    text.resize((text.len() + 1).next_multiple_of(4), 0);
    text
}

/// Opcode and operands of every instruction.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = (first >> 16) as usize;
        let instruction = rest.get(1..length)?;
        rest = rest.get(length..)?;
        Some((first & 0xFFFF, instruction))
    })
}

/// The arena's address in a module: one of its constants of two words whose record area is one too.
fn arena(words: &[u32]) -> Option<u64> {
    let mut values = HashMap::new();
    let mut addresses = HashSet::new();
    for (op, operands) in instructions(words) {
        match (op, operands) {
            (OP_CONSTANT, [_, id, value]) => {
                values.insert(*id, u64::from(*value));
            }
            (OP_CONSTANT_COMPOSITE, [_, _, low, high]) => {
                if let (Some(low), Some(high)) = (values.get(low), values.get(high)) {
                    addresses.insert(low | high << 32);
                }
            }
            _ => {}
        }
    }
    let is_arena = |address: &&u64| **address >> 32 != 0 && addresses.contains(&(*address + u64::from(CONTROL_BYTES)));
    addresses.iter().find(is_arena).copied()
}

/// Writes a record and says that it has.
///
/// # Safety
/// `base` must be the arena.
unsafe fn write(base: *mut u8, payload: &[u8]) {
    // SAFETY: the caller vouches for the arena; every word of it is aligned.
    let word = |byte: u32| unsafe { AtomicU32::from_ptr(base.add(byte as usize).cast()) };
    let units = record_units(payload.len() as u32);
    let cursor = word(CURSOR_OFFSET);
    if cursor.load(Ordering::Relaxed) + units > CAPACITY {
        return;
    }
    let unit = cursor.fetch_add(units, Ordering::Relaxed);
    let begin = CONTROL_BYTES + unit * UNIT_BYTES;
    let put = |index: u32, value| word(begin + index * 4).store(value, Ordering::Relaxed);
    for index in 1..units * UNIT_WORDS {
        put(index, 0);
    }
    put(header::LENGTH, units);
    put(header::SIZE, payload.len() as u32);
    put(header::STAGE, STAGE);
    for (index, bytes) in (0..).zip(payload.chunks(4)) {
        let mut four = [0; 4];
        four.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        put(header::WORDS + index, u32::from_le_bytes(four));
    }
    word(begin + header::COMMIT * 4).store(commit_word(unit), Ordering::Release);
    word(ABORTED_OFFSET).store(1, Ordering::Release);
}
