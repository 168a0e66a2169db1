//! Functions that read shared memory or execute barriers.

use super::memory::{Memory, is_private, may_read_shared_memory};
use super::results;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::typed::{FunctionIndex, Table};
use crate::analysis::view::ModuleView;
use crate::spv::op_sets::is_unknown;
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// Shared reads and barriers by function, those of its callees included.
pub(crate) struct SharedReads<'a, 'w> {
    pub(super) memory: Memory<'a, 'w>,
    /// The return value, or a store through a pointer parameter, depends on a shared read.
    reads: Table<FunctionIndex, bool>,
    /// A store to a private variable depends on a shared read.
    stores: Table<FunctionIndex, bool>,
    /// It loads memory that other invocations write; a barrier makes their writes visible.
    loads: Table<FunctionIndex, bool>,
    barriers: Table<FunctionIndex, bool>,
    /// It has an unknown instruction.
    unknown: Table<FunctionIndex, bool>,
    /// Private variables to which the results of shared reads are stored: one function that does, and whether others do.
    private: HashMap<Id, (FunctionIndex, bool)>,
}

impl<'a, 'w> SharedReads<'a, 'w> {
    /// `None` for a module with neither shared reads nor barriers, as most are: found in one walk.
    pub(super) fn new<'v>(
        index: &'a Index<'w>,
        graph: &CallGraph,
        view: impl FnOnce() -> &'v ModuleView<'a, 'w>,
    ) -> Option<Self>
    where
        'w: 'a,
        'a: 'v,
    {
        if !may_read_shared_memory(index) {
            return None;
        }
        let memory = Memory::new(index);
        let mut seeds = [(); 4].map(|()| index.functions.map(|_| false));
        for (number, function) in index.functions.iter() {
            for inst in index.insts(function.offset, function.end) {
                let kinds = [
                    memory.reads(&inst),
                    memory.loads(&inst),
                    memory.synchronizes(&inst),
                    is_unknown(inst.opcode()),
                ];
                for (seeds, is_one) in seeds.iter_mut().zip(kinds) {
                    if is_one {
                        seeds.set(number);
                    }
                }
            }
        }
        let [may_read, loads, barriers, unknown] =
            seeds.map(|seeds| graph.callers_closure(|f| seeds.is_set(f), |_| true));
        let summary = results::summarize(graph, view, &memory, &may_read);
        let mut private: HashMap<Id, (FunctionIndex, bool)> = HashMap::default();
        for (number, function) in index.functions.iter().filter(|(f, _)| summary.private.is_set(*f)) {
            let stores = index
                .insts(function.offset, function.end)
                .filter(|i| i.opcode() == op::Store);
            for variable in stores
                .map(|i| memory.base(i.pointer()))
                .filter(|v| is_private(index, *v))
            {
                let (first, more) = private.entry(variable).or_insert((number, false));
                *more |= *first != number;
            }
        }
        let stores = index
            .functions
            .map(|f| summary.private.is_set(f) || summary.calls_private.is_set(f));
        Some(Self {
            memory,
            reads: summary.results,
            stores,
            loads,
            barriers,
            unknown,
            private,
        })
    }

    /// Whether an instruction itself reads shared memory.
    pub(crate) fn reads_itself(&self, inst: &Inst<'_>) -> bool {
        self.memory.reads(inst)
    }

    /// Whether it calls a function whose result depends on a shared read.
    pub(crate) fn calls_reader(&self, inst: &Inst<'_>) -> bool {
        self.calls_one_of(&self.reads, inst)
    }

    /// Whether it calls a function that stores the result of a shared read to a private variable.
    pub(crate) fn calls_storer(&self, inst: &Inst<'_>) -> bool {
        self.calls_one_of(&self.stores, inst)
    }

    /// Whether it loads memory that other invocations write, itself or in a callee.
    pub(crate) fn loads(&self, inst: &Inst<'_>) -> bool {
        self.memory.loads(inst) || self.calls_one_of(&self.loads, inst)
    }

    /// Whether it is a barrier or calls a function that has one.
    pub(crate) fn synchronizes(&self, inst: &Inst<'_>) -> bool {
        self.memory.synchronizes(inst) || self.calls_one_of(&self.barriers, inst)
    }

    /// Whether it is unknown or calls a function that has an unknown instruction.
    pub(crate) fn has_unknown(&self, inst: &Inst<'_>) -> bool {
        is_unknown(inst.opcode()) || self.calls_one_of(&self.unknown, inst)
    }

    /// Whether the result of a function depends on a shared read.
    pub(crate) fn is_reader(&self, function: FunctionIndex) -> bool {
        self.reads.is_set(function)
    }

    /// Whether a function other than `function` may store the result of a shared read to a private variable.
    pub(crate) fn is_stored_to_outside(&self, variable: Id, function: FunctionIndex) -> bool {
        let stored = self.private.get(&variable);
        stored.is_some_and(|(first, more)| *first != function || *more)
    }

    fn calls_one_of(&self, functions: &Table<FunctionIndex, bool>, inst: &Inst<'_>) -> bool {
        inst.opcode() == op::FunctionCall
            && self
                .memory
                .index
                .function_of(inst.callee())
                .is_some_and(|f| functions.is_set(f))
    }
}
