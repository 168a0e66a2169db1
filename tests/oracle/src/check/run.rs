//! Runs all invocations of an entry point, and compares what two runs leave behind.

use super::Setting;
use crate::generate::{CONTROL, COUNTERS, DATA, DATA_BYTES, OUT, OUT_WORDS};
use crate::interpret::value::Value;
use crate::interpret::{Ended, Machine, Physical, Region, Result, Setup};
use crate::module::{Entry, Id, Module};
use crate::op::execution_model;
use std::collections::HashMap;
use vkabort_record::layout::{ABORTED_OFFSET, CONTROL_BYTES, UNIT_BYTES};

/// Invocations of each entry point that are run.
pub(super) const INVOCATIONS: usize = 4;

/// Which invocations run, and when each aborts.
pub(super) struct Plan<'a> {
    pub(super) entry: &'a Entry,
    /// Words of identity of each.
    pub(super) identities: Vec<[u32; 4]>,
    /// The question to `due` that each is told yes to; 0 for none.
    pub(super) due: Vec<u32>,
}

impl<'a> Plan<'a> {
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

/// What a run leaves behind.
pub(super) struct Run {
    pub(super) ends: Vec<Ended>,
    outputs: Vec<Vec<(u32, Value)>>,
    /// Buffers by binding.
    pub(super) buffers: Vec<(u32, Region)>,
    /// How often each invocation asked whether it was due.
    pub(super) ticks: Vec<u32>,
    /// The arena's ABORTED word after each invocation, in rewrites.
    pub(super) flags: Vec<u32>,
    /// The one that the host watches.
    pub(super) told: Vec<u32>,
    /// The control block in use and the records, wherever they stood.
    pub(super) arena: Region,
}

impl Run {
    /// Runs a module as it was given.
    pub(super) fn original(
        module: &Module,
        plan: &Plan<'_>,
        setting: &Setting,
        ticks: Option<Id>,
        steps: u64,
    ) -> Result<Self> {
        run(module, plan, setting, ticks, steps, false)
    }

    /// Runs a rewrite, with an arena.
    pub(super) fn rewritten(module: &Module, plan: &Plan<'_>, setting: &Setting, steps: u64) -> Result<Self> {
        run(module, plan, setting, None, steps, true)
    }
}

/// Contents of the buffers by binding, before anything runs.
pub(super) fn buffers(due: &[u32]) -> HashMap<u32, Region> {
    let words = |words: Vec<u32>| Region::new(words.iter().flat_map(|w| w.to_le_bytes()).collect());
    let out = vec![0; due.len() * OUT_WORDS as usize];
    let data = (0..DATA_BYTES / 4).map(|i| (i + 1).wrapping_mul(0x9E37_79B9)).collect();
    HashMap::from([
        (OUT, words(out)),
        (CONTROL, words(due.to_vec())),
        (DATA, words(data)),
        (COUNTERS, words(vec![0; 8])),
    ])
}

fn run(
    module: &Module,
    plan: &Plan<'_>,
    setting: &Setting,
    ticks: Option<Id>,
    steps: u64,
    with_arena: bool,
) -> Result<Run> {
    let arena = setting.options.arena;
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
    }
    let mut machine = Machine::new(
        module,
        Setup {
            buffers: buffers(&plan.due),
            specialization: setting.specialization.clone(),
            physical,
            steps,
        },
    )?;
    let (mut ends, mut outputs, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    let (mut flags, mut told) = (Vec::new(), Vec::new());
    for identity in &plan.identities {
        ends.push(machine.run(plan.entry, *identity)?);
        outputs.push(machine.outputs());
        counted.extend(ticks.and_then(|id| machine.word(id)));
        let mut read = Vec::new();
        for control in machine.physical_mut().iter_mut().filter(|p| p.address != arena.records) {
            // Loops that watch for aborts of other invocations would end the next one: here each runs on its own.
            let flag = control.region.read(u64::from(ABORTED_OFFSET), 4);
            read.push(flag.map_or(0, |f| f.bits as u32));
            control.region.set_word(u64::from(ABORTED_OFFSET), 0);
        }
        flags.extend(read.first());
        told.extend(read.last());
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
        told,
        arena: Region::joined(machine.physical().iter().take(2).map(|p| &p.region)),
    })
}

/// Compares everything but the records.
pub(super) fn same(original: &Run, rewritten: &Run, plan: &Plan<'_>) -> std::result::Result<(), String> {
    let fragment = plan.entry.model == execution_model::Fragment;
    for (number, (first, second)) in original.ends.iter().zip(&rewritten.ends).enumerate() {
        // An aborted fragment is discarded; other stages have nothing better than to return.
        let expected = match first {
            Ended::Aborted { .. } if fragment => &Ended::Killed,
            Ended::Aborted { .. } => &Ended::Returned,
            other => other,
        };
        if second != expected {
            return Err(format!("invocation {number} ends with {second:?}, not {expected:?}"));
        }
        let (outputs, expected) = (&rewritten.outputs[number], &original.outputs[number]);
        if *first == Ended::Returned && outputs != expected {
            return Err(format!("invocation {number} puts out {outputs:?}, not {expected:?}"));
        }
        let aborted = matches!(first, Ended::Aborted { .. });
        let flag = rewritten.flags.get(number).copied().unwrap_or(0);
        if flag != 0 && !aborted {
            return Err(format!("invocation {number} did not abort and the arena says {flag}"));
        }
    }
    if rewritten.told != rewritten.flags {
        let (told, flags) = (&rewritten.told, &rewritten.flags);
        return Err(format!(
            "invocations see ABORTED as {flags:?}, and the host as {told:?}"
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
