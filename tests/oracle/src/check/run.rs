//! Runs all invocations of an entry point and compares the results of two runs.

use super::inputs::CheckOptions;
use crate::generate::{CONTROL, COUNTERS, DATA, DATA_BYTES, FAULTS, FAULTS_WORDS, OUT, OUT_WORDS};
use crate::interpret::value::Value;
use crate::interpret::{
    Frame, InterpretError, InvocationEnd, Machine, Physical, PrintCall, Region, Result, Setup, UndefinedValues,
};
use crate::module::{Entry, Id, Module};
use crate::op::execution_model;
use crate::words::to_bytes;
use std::collections::HashMap;
use vkabort_instrument::Prints;
use vkabort_record::layout::{ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, TICKS_OFFSET, UNIT_BYTES, header};
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES as PRINT_CONTROL_BYTES, FIRST_SLOT, SLOT_BYTES, chunk_slots,
};

/// Invocations per entry point.
pub(super) const INVOCATIONS: usize = 4;

/// Invocations of a run, and when each aborts.
pub(super) struct Schedule<'a> {
    pub(super) entry: &'a Entry,
    /// Identity words of each invocation.
    pub(super) identities: Vec<[u32; 4]>,
    /// Call of `due` at which each invocation aborts; 0 for never.
    pub(super) due: Vec<u32>,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(entry: &'a Entry, due: Vec<u32>) -> Self {
        let identity = |i: u32| match entry.model {
            execution_model::GLCompute => [i, 0, 0, i % 4],
            execution_model::Fragment => [i, 2, 0, 0],
            _ => [i, 1, 0, 0],
        };
        Self {
            entry,
            identities: (0..due.len() as u32).map(identity).collect(),
            due,
        }
    }
}

/// Results of a run.
pub(super) struct Run {
    pub(super) ends: Vec<InvocationEnd>,
    outputs: Vec<Vec<(u32, Value)>>,
    /// Buffers by binding.
    pub(super) buffers: Vec<(u32, Region)>,
    /// Number of calls of `due` by each invocation.
    pub(super) ticks: Vec<u32>,
    /// Whether each invocation of a rewrite has changed a word that waiting loops poll.
    pub(super) flags: Vec<bool>,
    /// Whether the host knows of an abort, after each invocation.
    pub(super) host_flags: Vec<bool>,
    /// Control block in use, then the records.
    pub(super) arena: Region,
    /// The values of each aborted invocation, if they are kept.
    pub(super) frames: Vec<Option<Frame>>,
    /// The prints of each invocation of an original, if the rewrite has them.
    pub(super) prints: Vec<Vec<PrintCall>>,
    /// The print area of a rewrite.
    pub(super) print_area: Option<Region>,
}

impl Run {
    /// Runs an original module.
    pub(super) fn original(
        module: &Module,
        schedule: &Schedule<'_>,
        options: &CheckOptions,
        ticks: Option<Id>,
        steps: u64,
    ) -> Result<Self> {
        run(module, schedule, options, ticks, steps, false)
    }

    /// Runs a rewrite with an arena.
    pub(super) fn rewritten(
        module: &Module,
        schedule: &Schedule<'_>,
        options: &CheckOptions,
        steps: u64,
    ) -> Result<Self> {
        run(module, schedule, options, None, steps, true)
    }
}

/// Initial contents of the buffers, by binding.
pub(super) fn buffers(due: &[u32]) -> HashMap<u32, Region> {
    let words = |words: &[u32]| Region::new(to_bytes(words));
    let out = vec![0; due.len() * OUT_WORDS as usize];
    let data: Vec<u32> = (0..DATA_BYTES / 4).map(|i| (i + 1).wrapping_mul(0x9E37_79B9)).collect();
    HashMap::from([
        (OUT, words(&out)),
        (CONTROL, words(due)),
        (DATA, words(&data)),
        (COUNTERS, words(&[0; 8])),
        (FAULTS, words(&[0; FAULTS_WORDS as usize])),
    ])
}

/// The bytes of an empty print area.
fn print_area(prints: &Prints) -> Vec<u8> {
    let mut bytes = vec![0; prints.bytes as usize];
    let mut store = |at: u32, word: u32| {
        let bytes = bytes.get_mut(at as usize..).and_then(|rest| rest.first_chunk_mut());
        bytes.into_iter().for_each(|bytes| *bytes = word.to_le_bytes());
    };
    for chunk in 0..CHUNKS {
        store(
            PRINT_CONTROL_BYTES + chunk * chunk_slots(prints.bytes) * SLOT_BYTES,
            FIRST_SLOT,
        );
    }
    bytes
}

fn run(
    module: &Module,
    schedule: &Schedule<'_>,
    options: &CheckOptions,
    ticks: Option<Id>,
    steps: u64,
    with_arena: bool,
) -> Result<Run> {
    let arena = options.rewrite.arena;
    let zeroed = |address: u64, bytes: u32| Physical {
        address,
        region: Region::new(vec![0; bytes as usize]),
    };
    let mut physical = Vec::new();
    if with_arena {
        physical.push(zeroed(arena.control, CONTROL_BYTES));
        physical.push(zeroed(arena.records, arena.capacity * UNIT_BYTES));
        if arena.before_records() != arena.control {
            physical.push(zeroed(arena.before_records(), CONTROL_BYTES));
        }
        physical.extend(options.constants.iter().cloned());
        physical.extend(options.rewrite.prints.iter().map(|prints| Physical {
            address: prints.address,
            region: Region::new(print_area(prints)),
        }));
    }
    let mut machine = Machine::new(
        module,
        Setup {
            buffers: buffers(&schedule.due),
            specialization: options.specialization.clone(),
            physical,
            steps,
        },
    )?;
    if options.rewrite.prints.is_some() && !with_arena {
        machine.keep_prints();
    }
    machine.set_undefined_values(options.undefined);
    if with_arena {
        machine.set_clock(arena.control + u64::from(TICKS_OFFSET));
    }
    if let Some(budget) = options.budget.clone().filter(|_| !with_arena) {
        machine.set_loop_budget(budget);
    }
    let (mut ends, mut outputs, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    let (mut flags, mut host_flags, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    let (mut last_cursor, mut prints) = (0, Vec::new());
    for identity in &schedule.identities {
        ends.push(match machine.run(schedule.entry, *identity) {
            Err(InterpretError::Undefined(reason)) if options.undefined == UndefinedValues::Followed => {
                InvocationEnd::Undefined(reason)
            }
            end => end?,
        });
        if options.undefined == UndefinedValues::Followed && ends.last() == Some(&InvocationEnd::Returned) {
            let outputs = machine.outputs();
            if outputs.iter().any(|(_, value)| !value.is_defined()) {
                ends.pop();
                ends.push(InvocationEnd::Undefined("an output is undefined".to_owned()));
            }
        }
        let is_aborted = matches!(ends.last(), Some(InvocationEnd::Aborted { .. }));
        frames.push((options.keeps_frames && is_aborted).then(|| machine.frame()));
        outputs.push(machine.outputs());
        prints.push(machine.take_prints());
        counted.extend(ticks.and_then(|id| machine.word(id)));
        let [control, records, before] = [arena.control, arena.records, arena.before_records()];
        let word = |address: u64, offset: u32| {
            let memory = machine.physical().iter().find(|memory| memory.address == address);
            memory.map_or(0, |memory| memory.word(offset))
        };
        let cursor = word(control, CURSOR_OFFSET);
        flags.push(cursor != last_cursor || word(control, ABORTED_OFFSET) != 0);
        last_cursor = cursor;
        // As `layer::arena::Arena::aborted`.
        let first = match before == control {
            true => cursor,
            false => word(records, header::LENGTH * 4),
        };
        host_flags.push(first != 0 || word(before, ABORTED_OFFSET) != 0);
        // A loop of the next invocation that watches for aborts does not end.
        machine.hide_aborts(control);
        for memory in machine
            .physical_mut()
            .iter_mut()
            .filter(|memory| memory.address == control)
        {
            memory.region.set_word(u64::from(ABORTED_OFFSET), 0);
        }
    }
    Ok(Run {
        ends,
        outputs,
        buffers: [OUT, CONTROL, DATA, COUNTERS]
            .into_iter()
            .filter_map(|binding| Some((binding, machine.buffer(binding)?.clone())))
            .collect(),
        ticks: counted,
        flags,
        host_flags,
        frames,
        prints,
        print_area: options.rewrite.prints.as_ref().and_then(|prints| {
            let area = machine
                .physical()
                .iter()
                .find(|memory| memory.address == prints.address);
            area.map(|memory| memory.region.clone())
        }),
        arena: Region::joined(machine.physical().iter().take(2).map(|p| &p.region)),
    })
}

/// Compares two runs of modules with aborts.
pub(super) fn equal(one: &Run, other: &Run) -> std::result::Result<(), String> {
    for (number, (first, second)) in one.ends.iter().zip(&other.ends).enumerate() {
        if first != second {
            return Err(format!("invocation {number} ends with {second:?}, expected {first:?}"));
        }
        if *first == InvocationEnd::Returned && one.outputs.get(number) != other.outputs.get(number) {
            return Err(format!("invocation {number} has other outputs"));
        }
    }
    match one.buffers == other.buffers {
        true => Ok(()),
        false => Err("a buffer differs".into()),
    }
}

/// Compares everything except the records.
pub(super) fn same(original: &Run, rewritten: &Run, schedule: &Schedule<'_>) -> std::result::Result<(), String> {
    let fragment = schedule.entry.model == execution_model::Fragment;
    for (number, (first, second)) in original.ends.iter().zip(&rewritten.ends).enumerate() {
        // An aborted fragment is discarded; in other stages the entry point returns.
        let expected = match first {
            InvocationEnd::Aborted { .. } if fragment => &InvocationEnd::Killed,
            InvocationEnd::Aborted { .. } => &InvocationEnd::Returned,
            other => other,
        };
        if second != expected {
            return Err(format!(
                "invocation {number} ends with {second:?}, expected {expected:?}"
            ));
        }
        let (outputs, expected) = (&rewritten.outputs[number], &original.outputs[number]);
        if *first == InvocationEnd::Returned && outputs != expected {
            return Err(format!(
                "invocation {number} outputs {outputs:?}, expected {expected:?}"
            ));
        }
        let aborted = matches!(first, InvocationEnd::Aborted { .. });
        let flag = rewritten.flags.get(number).copied().unwrap_or(false);
        if flag && !aborted {
            return Err(format!("invocation {number} did not abort, but polls see an abort"));
        }
    }
    let mut is_aborted = false;
    let so_far = rewritten.flags.iter().map(|flag| {
        is_aborted |= flag;
        is_aborted
    });
    if !so_far.eq(rewritten.host_flags.iter().copied()) {
        let (host_flags, flags) = (&rewritten.host_flags, &rewritten.flags);
        return Err(format!(
            "invocations abort by {flags:?}, the host knows of an abort by {host_flags:?}"
        ));
    }
    for ((binding, first), (_, second)) in original.buffers.iter().zip(&rewritten.buffers) {
        if first == second {
            continue;
        }
        let differs = |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then_some(at);
        let at = first.bytes().iter().zip(second.bytes()).enumerate().find_map(differs);
        return Err(format!("buffer {binding} differs at byte {at:?}"));
    }
    Ok(())
}
