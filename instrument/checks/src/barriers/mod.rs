//! Workgroup barriers that some invocations of the workgroup do not reach.
//!
//! "If OpControlBarrier is used [..] all invocations in the scope must execute the same dynamic instance" (Vulkan specification, Scope;
//! SPIR-V specification, OpControlBarrier). Each barrier counts the invocations that arrive, over all of its executions, in shared
//! memory, and each invocation counts its own executions:
//!
//! ```text
//! executions += 1, atomicAdd(arrivals, 1)
//! ControlBarrier
//! live = workgroup size - ended
//! %failed = arrivals < live * executions
//! ```
//!
//! Nothing is reset, so no further barrier is needed. Where all invocations reach the barrier, `arrivals` is at least `live *
//! executions` behind it, and the check does not fail, however far other invocations have gone on. Where some do not reach it, the first
//! invocation behind it reads the exact count, since none has arrived for the next execution yet, and fails. `ended` counts the
//! invocations that a failed check, an abort or a waiting loop has ended; they arrive at no further barrier, and can only make `live *
//! executions` too small.
//!
//! The barrier orders shared memory, so that the counts are visible. Not checked: barriers that every invocation passes as often, by the
//! shape of the code (`uniform`); other scopes than the workgroup; executions beyond the first million of an invocation, whose
//! counts overflow; modules with entry points that have no workgroups.

pub(super) mod counters;
mod uniform;

use super::message::Message;
use super::module::ModulePlanter;
use super::module_facts::ModuleFacts;
use super::place::Place;
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{find, literal, quote};
use super::workgroup::count_ends::count_ends;
use super::workgroup::shared_words::SharedWords;
use super::workgroup::size::is_in_workgroups;
use counters::Counter;
use uniform::non_uniform_barriers;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::op::{memory_semantics, scope};
use vkabort_spirv::{Id, Inst, op};

/// Executions of a barrier by an invocation that are checked. Times the invocations of a workgroup, they fit in a word.
const MAX_EXECUTIONS: u32 = 1 << 20;

/// The check `barriers`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn prepare<'w>(&self, module: &mut ModulePlanter<'_, 'w>, _: &mut ModuleFacts<'_, '_, 'w>) {
        prepare(module);
    }

    fn plant<'w>(&self, planter: &mut Planter<'_, '_, 'w>) {
        plant(planter);
    }

    fn properties(&self) -> Properties {
        Properties {
            // Behind a barrier that others have missed, an invocation may wait at the next one for ever; and where one that has missed it
            // has ended, Mesa 25 and 26 resume no other one.
            leaving: Leaving::MayWait,
            ..Properties::PLAIN
        }
    }
}

/// Finds the barriers to check, and lets aborts of the application count the invocations that they end.
fn prepare(module: &mut ModulePlanter<'_, '_>) {
    let index = module.index;
    let mut offsets = non_uniform_barriers(module);
    // What they order must be known, to let them order the counts, too.
    offsets.retain(|offset| literal(index, index.inst(*offset).id(3)).is_some());
    if offsets.is_empty() {
        return;
    }
    let mut reaches = module.graph.reach.values().iter();
    let warning = if !reaches.all(|reach| is_in_workgroups(index, reach)) {
        "other stages than compute, task and mesh shaders are in the module"
    } else if module.shared_words.room() <= offsets.len() as u32 {
        module.shared_words.obstacle
    } else {
        ""
    };
    if !warning.is_empty() {
        let text = format!("barriers are not checked: {warning}");
        module.planted.warnings.push(text);
        return;
    }
    let ModulePlanter {
        out,
        shared_words,
        states,
        ..
    } = module;
    for offset in offsets {
        let (uint, zero) = (out.uint(), out.constant(0));
        let executions = out.private(uint, zero);
        shared_words.globals.push(executions);
        if let Some(arrivals) = shared_words.reserve(1) {
            let counter = Counter { arrivals, executions };
            states.barriers.0.insert(offset, counter);
        }
    }
    count_ends(module);
}

fn plant(planter: &mut Planter<'_, '_, '_>) {
    let found = find(planter.index, planter.function, |inst| {
        let counter = planter.module.states.barriers.0.get(&inst.offset)?;
        Some((*inst, *counter))
    });
    let ended = planter.module.ended.word();
    for (block, (inst, counter)) in found {
        let Some((ended, position)) = ended.zip(planter.selected_position(block, &inst)) else {
            continue;
        };
        if !planter.is_plantable(block) {
            continue;
        }
        let place = Place::new(block, inst.end(), (inst, position));
        write_arrival(planter, &inst, counter);
        let quoted = (!position.has_line()).then(|| quote(&inst));
        let ModulePlanter { out, shared_words, .. } = &mut *planter.module;
        let (size, shared_words) = (shared_words.size(out), shared_words.variable(out));
        let words = [counter.arrivals, ended].map(|word| out.constant(word));
        let write_condition = |out: &mut Emitter| {
            let (bool, uint) = (out.bool(), out.uint());
            let [one, zero, workgroup, most] =
                [1, 0, scope::Workgroup, MAX_EXECUTIONS].map(|value| out.constant(value));
            let mut load = |number: Id| {
                let pointer = SharedWords::word_of(out, shared_words, number);
                out.calculate(op::AtomicLoad, (pointer, workgroup, zero))
            };
            let [arrived, gone] = words.map(&mut load);
            let size = out.emit(op::Load, uint, size);
            let executions = out.emit(op::Load, uint, counter.executions);
            let live = out.calculate(op::ISub, (size, gone));
            let expected = out.calculate(op::IMul, (live, executions));
            let is_missing = out.emit(op::ULessThan, bool, (arrived, expected));
            let is_counted = out.emit(op::ULessThan, bool, (gone, size));
            let is_exact = out.emit(op::ULessThan, bool, (executions, most));
            let failed = out.emit(op::LogicalAnd, bool, (is_missing, is_counted));
            let failed = out.emit(op::LogicalAnd, bool, (failed, is_exact));
            (failed, (arrived, expected, live, one))
        };
        planter.plant_with(Check::Barriers, &place, write_condition, |out, values| {
            message(out, values, quoted)
        });
    }
}

/// Counts the arrival in front of a barrier, and lets the barrier order the count.
fn write_arrival(planter: &mut Planter<'_, '_, '_>, inst: &Inst<'_>, counter: Counter) {
    let shared_words = planter.module.shared_words.variable(&mut planter.module.out);
    planter.insert(inst.offset, |out| {
        let [zero, one, workgroup, number] =
            [0, 1, scope::Workgroup, counter.arrivals].map(|value| out.constant(value));
        let before = out.calculate(op::Load, counter.executions);
        let after = out.calculate(op::IAdd, (before, one));
        out.op(op::Store, (counter.executions, after));
        let pointer = SharedWords::word_of(out, shared_words, number);
        out.calculate(op::AtomicIAdd, (pointer, workgroup, zero, one));
    });
    let semantics = literal(planter.index, inst.id(3)).unwrap_or(0);
    let ordered = ordered(semantics);
    if ordered != semantics {
        let ordered = planter.out().constant(ordered);
        let operands = (inst.id(1), inst.id(2), ordered);
        planter.module.edits.replace_by(inst, op::ControlBarrier, operands);
    }
}

/// Memory semantics that also order shared memory.
fn ordered(semantics: u32) -> u32 {
    const ORDER: u32 = memory_semantics::ACQUIRE | memory_semantics::RELEASE;
    let all = semantics | memory_semantics::WORKGROUP_MEMORY;
    match all & (memory_semantics::ACQUIRE_RELEASE | memory_semantics::SEQUENTIALLY_CONSISTENT) {
        0 => all & !ORDER | memory_semantics::ACQUIRE_RELEASE,
        _ => all,
    }
}

fn message(out: &mut Emitter, (arrived, expected, live, one): (Id, Id, Id, Id), quoted: Option<String>) -> Message {
    let (bool, uint) = (out.bool(), out.uint());
    let before = out.calculate(op::ISub, (expected, live));
    let reached = out.calculate(op::ISub, (arrived, before));
    // This one has.
    let is_less = out.emit(op::SLessThan, bool, (reached, one));
    let reached = out.calculate(op::Select, (is_less, one, reached));
    let mut message = Message::new("%u of %u invocations reached this barrier");
    if let Some(quoted) = quoted {
        message.push_literal(&format!(" ({quoted})"));
    }
    message.with(uint, reached).with(uint, live)
}
