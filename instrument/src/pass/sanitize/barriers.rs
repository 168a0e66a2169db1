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
//! executions` behind it, whoever is faster: it never fails. Where some do not, the first invocation that passes reads the exact count,
//! since nobody has arrived for the next execution yet: it fails. `ended` counts invocations that ended by a failed check, an abort or
//! a waiting loop; they arrive at no further barrier and only make `live * executions` too small.
//!
//! The barrier orders shared memory, so that the counts are visible. Not checked: barriers that every invocation passes as often, by the
//! shape of the code (`certain_blocks`); other scopes than the workgroup; executions beyond the first million of an invocation, whose
//! counts overflow; modules with entry points that have no workgroups.

use super::message::Message;
use super::module::ModulePlanter;
use super::place::Place;
use super::planter::Planter;
use super::scalars::{find, quote};
use super::workgroup_shadow::{WorkgroupShadow, is_in_workgroups};
use crate::analysis::graph::FunctionGraph;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex, Table};
use crate::analysis::index::{Function, Index};
use crate::analysis::loop_nest::LoopNest;
use crate::edit::emitter::Emitter;
use crate::sanitize::Check;
use crate::spv::op::{memory_semantics, scope};
use crate::spv::{Code, Id, Inst, Literal, op};
use rustc_hash::FxHashMap as HashMap;

/// Executions of a barrier by an invocation that are checked. Times the invocations of a workgroup, they fit in a word.
const MAX_EXECUTIONS: u32 = 1 << 20;

/// The barriers of a module that are checked.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    /// By word offset.
    counters: HashMap<usize, Counter>,
    /// The word with the number of invocations that ended, and the function that adds one.
    ended: Option<(u32, Id)>,
}

/// What counts for a barrier.
#[derive(Clone, Copy, Debug)]
struct Counter {
    /// The word with the number of arrivals.
    arrivals: u32,
    /// The private variable with the executions of the invocation.
    executions: Id,
}

impl Barriers {
    /// Finds the barriers to check, and lets aborts of the application count the invocations that they end.
    pub(super) fn prepare(module: &mut ModulePlanter<'_, '_>) {
        if !module.options.sanitize.checks.contains(Check::Barriers) {
            return;
        }
        let index = module.index;
        let offsets = uncertain_barriers(module);
        if offsets.is_empty() {
            return;
        }
        let mut reaches = module.graph.reach.values().iter();
        let warning = if !reaches.all(|reach| is_in_workgroups(index, reach)) {
            "other stages than compute, task and mesh shaders are in the module"
        } else if module.shadow.room() <= offsets.len() as u32 {
            module.shadow.obstacle
        } else {
            ""
        };
        if !warning.is_empty() {
            let text = format!("barriers are not checked: {warning}");
            module.planted.warnings.push(text);
            return;
        }
        let ModulePlanter {
            out, shadow, barriers, ..
        } = module;
        for offset in offsets {
            let (uint, zero) = (out.uint(), out.constant(0));
            let executions = out.private(uint, zero);
            shadow.globals.push(executions);
            if let Some(arrivals) = shadow.reserve(1) {
                let counter = Counter { arrivals, executions };
                barriers.counters.insert(offset, counter);
            }
        }
        let word = shadow.reserve(1).unwrap_or(0);
        let end = write_end(out, shadow, &mut module.guards, word, module.options.memory_barriers);
        barriers.ended = Some((word, end));
        module.planted.end = Some(end);
        for reach in module.graph.reach.values() {
            shadow.is_used(reach);
        }
        for offset in index.aborts() {
            barriers.write_end(out);
            out.place(|code| module.edits.insert(offset, code));
        }
    }

    /// Counts an invocation that ends.
    pub(super) fn write_end(&self, out: &mut Emitter) {
        if let Some((_, end)) = self.ended {
            let void = out.void();
            out.emit(op::FunctionCall, void, end);
        }
    }
}

/// Writes the function `vkabort_end`. The memory barrier lets invocations behind the barrier see that this one does not come.
fn write_end(
    out: &mut Emitter,
    shadow: &mut WorkgroupShadow,
    functions: &mut Code,
    word: u32,
    has_memory_barriers: bool,
) -> Id {
    let void = out.void();
    let ty = out.function_type(void, &[]);
    let [function, entry] = [(); 2].map(|()| out.fresh());
    out.name(function, "vkabort_end");
    out.continue_code(functions, |out| {
        out.op(op::Function, (void, function, Literal(0), ty));
        out.label(entry);
        let [zero, one, workgroup, number] = [0, 1, scope::Workgroup, word].map(|value| out.constant(value));
        let pointer = shadow.word(out, number);
        out.calculate(op::AtomicIAdd, (pointer, workgroup, zero, one));
        if has_memory_barriers {
            let semantics = out.constant(memory_semantics::ACQUIRE_RELEASE | memory_semantics::WORKGROUP_MEMORY);
            out.op(op::MemoryBarrier, (workgroup, semantics));
        }
        out.op(op::Return, ());
        out.op(op::FunctionEnd, ());
    });
    function
}

/// Plants the check into a function.
pub(super) fn plant(planter: &mut Planter<'_, '_, '_>) {
    let found = find(planter.index, planter.function, |inst| {
        let counter = planter.module.barriers.counters.get(&inst.offset)?;
        Some((*inst, *counter))
    });
    let ended = planter.module.barriers.ended.map(|(word, _)| word);
    for (block, (inst, counter)) in found {
        let Some((ended, position)) = ended.zip(planter.selected_position(block, &inst)) else {
            continue;
        };
        if !planter.is_plantable(block) {
            continue;
        }
        let place = Place {
            block,
            offset: inst.end(),
            guarded: inst,
            position,
        };
        write_arrival(planter, &inst, counter);
        let quoted = (!position.has_line()).then(|| quote(&inst));
        let ModulePlanter { out, shadow, .. } = &mut *planter.module;
        let (size, shadow) = (shadow.size(out), shadow.variable(out));
        let words = [counter.arrivals, ended].map(|word| out.constant(word));
        let write_condition = |out: &mut Emitter| {
            let (bool, uint) = (out.bool(), out.uint());
            let [one, zero, workgroup, most] =
                [1, 0, scope::Workgroup, MAX_EXECUTIONS].map(|value| out.constant(value));
            let mut load = |number: Id| {
                let pointer = WorkgroupShadow::word_of(out, shadow, number);
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
    let shadow = planter.module.shadow.variable(&mut planter.module.out);
    planter.insert(inst.offset, |out| {
        let [zero, one, workgroup, number] =
            [0, 1, scope::Workgroup, counter.arrivals].map(|value| out.constant(value));
        let before = out.calculate(op::Load, counter.executions);
        let after = out.calculate(op::IAdd, (before, one));
        out.op(op::Store, (counter.executions, after));
        let pointer = WorkgroupShadow::word_of(out, shadow, number);
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

/// The literal of an `OpConstant`.
pub(super) fn literal(index: &Index<'_>, id: Id) -> Option<u32> {
    let constant = index.def(id).filter(|inst| inst.opcode() == op::Constant)?;
    u32::try_from(index.literal(&constant)?).ok()
}

/// Whether an instruction is a barrier of the workgroup.
pub(super) fn is_workgroup_barrier(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    inst.opcode() == op::ControlBarrier && literal(index, inst.id(1)) == Some(scope::Workgroup)
}

/// The workgroup barriers that not all invocations pass as often, by the shape of the code.
fn uncertain_barriers(module: &ModulePlanter<'_, '_>) -> Vec<usize> {
    let index = module.index;
    let barriers = |function: &Function| -> Vec<usize> {
        let insts = index.insts(function.offset, function.end);
        let barriers = insts.filter(|inst| is_workgroup_barrier(index, inst));
        barriers.map(|inst| inst.offset).collect()
    };
    let has_barrier = |number| {
        let function = index.functions.get(number);
        function.is_some_and(|function| !barriers(function).is_empty())
    };
    let reaching = module.graph.callers_closure(has_barrier, |_| true);
    let (order, _) = module.graph.callees_first();
    // Whether each call that has been seen is certain to happen as often. Those of recursions, which no shader has, never are.
    let mut certain: Table<FunctionIndex, bool> = index.functions.map(|_| false);
    for number in &order {
        certain.set(*number);
    }
    let mut found = Vec::new();
    for number in order.into_iter().rev().filter(|number| reaching.is_set(*number)) {
        let is_certain = certain.is_set(number);
        let reach = module.graph.reach.get(number);
        let Some(function) = index
            .functions
            .get(number)
            .filter(|_| reach.is_some_and(|r| !r.entry_points.is_empty()))
        else {
            continue;
        };
        let blocks = CertainBlocks::new(index, function);
        for call in module.graph.calls_in(number).iter() {
            let block = index.calls.get(call).map(|call| call.block);
            if let Some(callee) = module.graph.callee(call)
                && !(is_certain && block.is_some_and(|block| blocks.contains(block)))
                && let Some(certain) = certain.get_mut(callee)
            {
                *certain = false;
            }
        }
        let is_passed = |offset: &usize| is_certain && blocks.contains_offset(*offset);
        found.extend(barriers(function).into_iter().filter(|offset| !is_passed(offset)));
    }
    found.sort_unstable();
    found
}

/// The blocks that each invocation that returns from a function executes once: those in no loop that dominate every return.
struct CertainBlocks {
    graph: FunctionGraph,
    nest: LoopNest,
    returns: Vec<BlockIndex>,
}

impl CertainBlocks {
    fn new(index: &Index<'_>, function: &Function) -> Self {
        let graph = FunctionGraph::new(index, function);
        let returns = |number: &BlockIndex| {
            let block = index.blocks.get(*number);
            let end = block.map(|block| index.terminator(block).opcode());
            graph.is_reachable(*number) && matches!(end, Some(op::Return | op::ReturnValue | op::EmitMeshTasksEXT))
        };
        Self {
            returns: function.blocks.iter().filter(returns).collect(),
            nest: LoopNest::new(index, function),
            graph,
        }
    }

    fn contains(&self, block: BlockIndex) -> bool {
        let mut returns = self.returns.iter();
        self.nest.innermost(block).is_none() && returns.all(|end| self.graph.dominates(block, *end))
    }

    fn contains_offset(&self, offset: usize) -> bool {
        self.graph.block_at(offset).is_some_and(|block| self.contains(block))
    }
}
