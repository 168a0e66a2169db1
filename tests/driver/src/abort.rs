//! What the shaders of a submission that aborts would have done.
//!
//! Where the driver has the extension itself, a module with `OpAbortKHR` leaves its messages with the driver, which loses
//! the device. A module that the layer has rewritten has none; its code has the address of the layer's arena, to which
//! such an invocation writes a record. So does the driver, word by word as `vkabort_record::layout` has it.

use crate::code::{self, Trap};
use crate::device::{Device, State};
use crate::fault::Cause;
use crate::handle;
use crate::shader::Pipeline;
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_record::layout::{
    ABORTED, ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES, UNIT_WORDS, commit_word, header, record_units,
};

/// `GLCompute`.
const STAGE: u32 = 5;
/// Units of the smallest arena that the layer makes by default: as many records as that are written at most.
const CAPACITY: u32 = ((1 << 20) - CONTROL_BYTES) / UNIT_BYTES;

/// What a submission does to the device beside its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    #[default]
    None,
    /// It hangs for as long as the word at this address is not zero.
    Hangs(u64),
    /// It loses the device.
    Loses,
}

impl Effect {
    /// The worse of two.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Loses, _) | (_, Self::Loses) => Self::Loses,
            (Self::None, other) => other,
            (hangs, _) => hangs,
        }
    }
}

/// Whether running the pipeline would take its time.
///
/// # Safety
/// The pipeline must be alive.
pub unsafe fn has_trap(pipeline: u64) -> bool {
    // SAFETY: the caller vouches for the pipeline.
    let stages = unsafe { handle::get::<Pipeline>(pipeline) }.map_or(&[][..], |pipeline| &pipeline.stages);
    stages.iter().any(|words| code::trap(words) != Trap::None)
}

/// Runs a pipeline as part of submission `number`.
///
/// # Safety
/// The pipeline must be alive, and so must the memory behind addresses in its code.
pub unsafe fn run(device: &Device, state: &mut State, pipeline: u64, number: u64) -> Effect {
    let settings = &device.settings;
    if !settings.abort.is(number) {
        return Effect::None;
    }
    // SAFETY: the caller vouches for the pipeline.
    let stages = unsafe { handle::get::<Pipeline>(pipeline) }.map_or(&[][..], |pipeline| &pipeline.stages);
    let messages = || (0..settings.messages).map(|index| message(number, index));
    let mut effect = Effect::None;
    for words in stages {
        if settings.native_abort && code::aborts(words) {
            state.faults.messages.extend(messages());
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
        for message in messages() {
            // SAFETY: the layer keeps the arena as long as shaders may write to it.
            wrote |= unsafe { write(records, control, &message) };
        }
        effect = effect.and(match code::trap(words) {
            Trap::Fault if wrote && settings.faults => {
                state.faults.cause = Cause::Access(code::FAULT_ADDRESS);
                Effect::Loses
            }
            Trap::Hang if wrote => Effect::Hangs(control as u64 + u64::from(ABORTED_OFFSET)),
            _ => Effect::None,
        });
    }
    effect
}

/// A message's payload.
fn message(number: u64, index: u32) -> Vec<u8> {
    let mut text = format!("submission {number}, message {index}").into_bytes();
    text.resize((text.len() + 1).next_multiple_of(4), 0);
    text
}

/// Writes a record and says that it has. True: there was room.
///
/// # Safety
/// `records` must be the arena, which begins with a control block, and `control` the one in use.
unsafe fn write(records: *mut u8, control: *mut u8, payload: &[u8]) -> bool {
    // SAFETY: the caller vouches for the arena; every word of it is aligned.
    let word_of = |base: *mut u8, byte: u32| unsafe { AtomicU32::from_ptr(base.add(byte as usize).cast()) };
    let word = |byte: u32| word_of(records, byte);
    let units = record_units(payload.len() as u32);
    let cursor = word_of(control, CURSOR_OFFSET);
    if cursor.load(Ordering::Relaxed) + units > CAPACITY {
        return false;
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
    for base in [control, records] {
        word_of(base, ABORTED_OFFSET).store(ABORTED, Ordering::Release);
    }
    true
}
