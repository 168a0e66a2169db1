//! Which functions read what other invocations write, and which have barriers.

use super::memory::{Memory, base, is_barrier, is_private, may_read_shared_memory};
use super::results;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::spv::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// What functions do, themselves or in functions that they call.
pub(crate) struct SharedReads<'a, 'w> {
    memory: Memory<'a, 'w>,
    /// By function: its result, or what it stores through a pointer, depends on memory that it reads in a way that sees
    /// what others write.
    reads: Vec<bool>,
    /// By function: it, or one that it calls, stores what depends on such memory to a private variable.
    stores: Vec<bool>,
    /// By function: it loads memory that others write, which it sees behind a barrier.
    loads: Vec<bool>,
    /// By function: it has a barrier.
    barriers: Vec<bool>,
    /// Private variables that functions of `stores` store to which do so themselves: one of these functions, and whether
    /// there are more.
    private: HashMap<Id, (usize, bool)>,
}

impl<'a, 'w> SharedReads<'a, 'w> {
    /// Nothing for a module that has neither such reads nor barriers, as most modules: one look at each instruction.
    pub(crate) fn new(index: &'a Index<'w>, graph: &CallGraph) -> Option<Self> {
        if !may_read_shared_memory(index) {
            return None;
        }
        let memory = Memory::new(index);
        let mut found = [(); 3].map(|()| vec![false; index.functions.len()]);
        for (number, function) in index.functions.iter().enumerate() {
            for inst in index.insts(function.offset, function.end) {
                let kinds = [memory.reads(&inst), memory.loads(&inst), is_barrier(&inst)];
                for (found, is) in found.iter_mut().zip(kinds) {
                    if let Some(found) = found.get_mut(number) {
                        *found |= is;
                    }
                }
            }
        }
        let [may_read, loads, barriers] =
            found.map(|seeds| graph.callers_closure(|f| seeds.get(f) == Some(&true), |_| true));
        let given = results::of_reads(index, graph, &memory, &may_read);
        let mut private: HashMap<Id, (usize, bool)> = HashMap::default();
        let functions = index.functions.iter().enumerate();
        for (number, function) in functions.filter(|(f, _)| given.private.get(*f) == Some(&true)) {
            let stores = index
                .insts(function.offset, function.end)
                .filter(|i| i.opcode() == op::Store);
            for variable in stores.map(|i| base(index, i.word(1))).filter(|v| is_private(index, *v)) {
                let (first, more) = private.entry(variable).or_insert((number, false));
                *more |= *first != number;
            }
        }
        let stores = given
            .private
            .iter()
            .zip(given.calls_private)
            .map(|(itself, calls)| *itself || calls)
            .collect();
        Some(Self {
            memory,
            reads: given.results,
            stores,
            loads,
            barriers,
            private,
        })
    }

    /// Whether an instruction reads what others write.
    pub(crate) fn reads_itself(&self, inst: &Inst<'_>) -> bool {
        self.memory.reads(inst)
    }

    /// Whether it calls a function that gives back what depends on such a read.
    pub(crate) fn calls_reader(&self, inst: &Inst<'_>) -> bool {
        self.calls_one_of(&self.reads, inst)
    }

    /// Whether it calls a function that keeps what depends on such a read in a private variable.
    pub(crate) fn calls_storer(&self, inst: &Inst<'_>) -> bool {
        self.calls_one_of(&self.stores, inst)
    }

    /// Whether it loads memory that others write, itself or in a function that it calls: what a barrier makes visible.
    pub(crate) fn loads(&self, inst: &Inst<'_>) -> bool {
        self.memory.loads(inst) || self.calls_one_of(&self.loads, inst)
    }

    /// Whether it is a barrier or calls a function that has one.
    pub(crate) fn synchronizes(&self, inst: &Inst<'_>) -> bool {
        is_barrier(inst) || self.calls_one_of(&self.barriers, inst)
    }

    /// Whether a function other than this one, called in it, may store what it has read to a private variable.
    pub(crate) fn is_stored_to_outside(&self, variable: Id, function: usize) -> bool {
        let stored = self.private.get(&variable);
        stored.is_some_and(|(first, more)| *first != function || *more)
    }

    fn calls_one_of(&self, functions: &[bool], inst: &Inst<'_>) -> bool {
        inst.opcode() == op::FunctionCall
            && self
                .memory
                .index
                .function_of(inst.word(3))
                .is_some_and(|f| functions.get(f) == Some(&true))
    }
}
