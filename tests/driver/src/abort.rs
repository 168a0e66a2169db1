//! Effects of aborting shaders in a submission.
//!
//! A driver with native aborts stores the messages of modules with `OpAbortKHR` and loses the device. A module rewritten by
//! the layer contains the address of the layer's arena, so the driver writes the records that the rewritten shader would
//! write, word by word as in `vkabort_record::layout`.

use crate::code::{self, Trap};
use crate::handle;
use crate::shader::Pipeline;
use crate::state::{Cause, Device, State};
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_record::layout::{
    ABORTED, ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, DROPPED_OFFSET, SLOT_UNITS, UNIT_BYTES, UNIT_WORDS,
    commit_word, header, record_units,
};
use vkabort_record::print::layout as prints;

/// SPIR-V execution model `GLCompute`.
const STAGE: u32 = 5;
/// Size in units of the smallest default arena of the layer. The driver writes at most this many units.
const CAPACITY: u32 = ((1 << 20) - CONTROL_BYTES) / UNIT_BYTES;

/// Effect of a submission on the device besides its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// No effect.
    #[default]
    None,
    /// Hangs until the word at this host address is zero.
    Hangs(u64),
    /// Loses the device.
    Loses,
}

impl Effect {
    /// Combines two effects into the more severe one.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Loses, _) | (_, Self::Loses) => Self::Loses,
            (Self::None, other) => other,
            (hangs, _) => hangs,
        }
    }
}

/// Whether the pipeline contains a trap, so that running it takes time.
///
/// # Safety
/// `pipeline` must be a live pipeline.
pub unsafe fn has_trap(pipeline: u64) -> bool {
    // SAFETY: the caller passes a live pipeline.
    let stages = unsafe { handle::get::<Pipeline>(pipeline) }.map_or(&[][..], |pipeline| &pipeline.stages);
    stages.iter().any(|words| code::trap(words) != Trap::None)
}

/// Runs a pipeline as part of submission `number`.
///
/// # Safety
/// `pipeline` must be a live pipeline, and the memory at addresses in its code must be allocated.
pub unsafe fn run(device: &Device, state: &mut State, pipeline: u64, number: u64) -> Effect {
    let settings = &device.settings;
    // SAFETY: the caller passes a live pipeline.
    let stages = unsafe { handle::get::<Pipeline>(pipeline) }.map_or(&[][..], |pipeline| &pipeline.stages);
    for prints in stages.iter().filter_map(|words| code::prints(words)) {
        let host = match settings.cpu {
            true => Some(prints.address as *mut u8),
            false => state.addresses.host_inside(prints.address),
        };
        if let Some(area) = host {
            // SAFETY: the layer keeps the area allocated while shaders may write to it.
            unsafe { print(area, prints, number as u32) };
        }
    }
    if !settings.abort.is(number) {
        return Effect::None;
    }
    let payloads = || (0..settings.messages).map(|index| payload(number, index));
    let mut effect = Effect::None;
    for words in stages {
        if settings.native_abort && code::aborts(words) {
            state.faults.messages.extend(payloads());
            effect = Effect::Loses;
            continue;
        }
        let host = |address: u64| match settings.cpu {
            true => Some(address as *mut u8),
            false => state.addresses.host(address),
        };
        let Some((records, control)) = code::arena(words, |address| host(address).is_some()) else {
            continue;
        };
        let (Some(records), Some(control)) = (host(records), host(control)) else {
            continue;
        };
        let mut wrote = false;
        for payload in payloads() {
            // SAFETY: the layer keeps the arena allocated while shaders may write to it.
            wrote |= unsafe { write(records, control, &payload) };
        }
        effect = effect.and(match code::trap(words) {
            Trap::Fault if wrote && !settings.no_faults => {
                state.faults.cause = Cause::Access(code::FAULT_ADDRESS);
                Effect::Loses
            }
            Trap::Hang if wrote => Effect::Hangs(control as u64 + u64::from(ABORTED_OFFSET)),
            _ => Effect::None,
        });
    }
    effect
}

/// Writes a committed print of invocation `number`, or counts it.
///
/// # Safety
/// `area` must point to the print area.
unsafe fn print(area: *mut u8, prints: code::Prints, number: u32) {
    // SAFETY: all offsets are within the area and word-aligned.
    let word = |byte: u32| unsafe { AtomicU32::from_ptr(area.add(byte as usize).cast()) };
    let current = word(prints::CURRENT_OFFSET).load(Ordering::Relaxed);
    let chunk = prints::CONTROL_BYTES + current * prints.capacity * prints::SLOT_BYTES;
    let at = word(chunk).fetch_add(prints.slots, Ordering::Relaxed);
    if at + prints.slots > prints.capacity {
        word(prints::DROPPED_OFFSET + 4 * prints::SHARED_COUNTER).fetch_add(1, Ordering::Relaxed);
        return;
    }
    let begin = chunk + at * prints::SLOT_BYTES;
    let put = |index: u32, value| word(begin + index * 4).store(value, Ordering::Relaxed);
    put(prints::header::NUMBER, prints.number);
    put(prints::header::IDENTITY, number);
    let slot = (begin - prints::CONTROL_BYTES) / prints::SLOT_BYTES;
    word(begin + prints::header::COMMIT * 4).store(prints::commit_word(slot), Ordering::Release);
}

/// Payload of a message.
fn payload(number: u64, index: u32) -> Vec<u8> {
    let mut text = format!("submission {number}, message {index}").into_bytes();
    text.resize((text.len() + 1).next_multiple_of(4), 0);
    text
}

/// Writes a committed record and sets ABORTED. Returns whether the arena had room.
///
/// # Safety
/// `records` must point to the arena, which starts with a control block, and `control` to the control block in use.
unsafe fn write(records: *mut u8, control: *mut u8, payload: &[u8]) -> bool {
    // SAFETY: all offsets are within the arena and word-aligned.
    let word_of = |base: *mut u8, byte: u32| unsafe { AtomicU32::from_ptr(base.add(byte as usize).cast()) };
    let word = |byte: u32| word_of(records, byte);
    let units = record_units(payload.len() as u32);
    let slots = units.div_ceil(SLOT_UNITS);
    let cursor = word_of(control, CURSOR_OFFSET);
    if cursor.load(Ordering::Relaxed) + slots > CAPACITY / SLOT_UNITS {
        word_of(control, DROPPED_OFFSET).fetch_add(1, Ordering::Relaxed);
        return false;
    }
    let unit = cursor.fetch_add(slots, Ordering::Relaxed) * SLOT_UNITS;
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
    for base in [control, records] {
        word_of(base, ABORTED_OFFSET).store(ABORTED, Ordering::Release);
    }
    true
}
