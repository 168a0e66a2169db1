//! Finds the functions that read shared memory or execute barriers, and the results that depend on such reads.

use super::memory::{Memory, may_read_shared_memory};
use crate::view::ModuleView;
use std::collections::BTreeSet;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, Table};
use vkabort_spirv::op_sets::is_unknown;
use vkabort_spirv::{Id, Inst, op};

/// Kind of an instruction by which a loop may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads memory that other invocations write.
    Read,
    /// Reads it where a barrier makes it visible.
    PlainLoad,
    Barrier,
    /// Not known.
    Unknown,
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::PlainLoad, Kind::Barrier, Kind::Unknown];

/// Results of a function that depend on its shared reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    /// The return value, or a store through a pointer parameter.
    pub(super) returned: bool,
    /// Private variables that it or a callee stores to.
    pub(super) private: BTreeSet<Id>,
}

/// The functions of a module.
pub(super) struct SharedReads<'a, 'w> {
    pub(super) view: ModuleView<'a, 'w>,
    pub(super) memory: Memory<'a, 'w>,
    /// Whether a function or a callee of it has an instruction of each of [`KINDS`].
    kinds: [Table<FunctionIndex, bool>; 4],
    results: Table<FunctionIndex, Results>,
    /// Whether a shared read is stored to some private memory: of a load that the view does not follow, it is not known which.
    pub(super) private_has_shared: bool,
}

impl<'a, 'w> SharedReads<'a, 'w> {
    /// Without results. `None` for a module with neither shared reads nor barriers, as most are: found in one walk. O(words of the
    /// module + functions * variables).
    pub(super) fn new(index: &'a Index<'w>) -> Option<Self> {
        if !may_read_shared_memory(index) {
            return None;
        }
        let (view, memory) = (ModuleView::new(index), Memory::new(index));
        let kinds = KINDS.map(|kind| {
            let has = |number| {
                let function = index.functions.get(number);
                let mut insts = function.into_iter().flat_map(|of| index.insts(of.offset, of.end));
                insts.any(|inst| is_kind(&memory, kind, &inst))
            };
            view.graph.callers_closure(has, |_| true)
        });
        Some(Self {
            view,
            memory,
            kinds,
            results: index.functions.map(|_| Results::default()),
            private_has_shared: false,
        })
    }

    /// Whether a function or a callee of it has a shared read.
    pub(super) fn may_read(&self, function: FunctionIndex) -> bool {
        let [reads, ..] = &self.kinds;
        reads.is_set(function)
    }

    pub(super) fn results(&self, function: FunctionIndex) -> Option<&Results> {
        self.results.get(function)
    }

    pub(super) fn set_results(&mut self, function: FunctionIndex, found: Results) {
        if let Some(results) = self.results.get_mut(function) {
            *results = found;
        }
    }

    /// Whether an instruction is of a kind, or calls a function that has one.
    pub(super) fn has(&self, kind: Kind, inst: &Inst<'_>) -> bool {
        let functions = KINDS.iter().zip(&self.kinds).find(|(of, _)| **of == kind);
        let is_called = || {
            let callee = self.view.index.function_of(inst.callee());
            callee
                .zip(functions)
                .is_some_and(|(callee, (_, functions))| functions.is_set(callee))
        };
        is_kind(&self.memory, kind, inst) || inst.opcode() == op::FunctionCall && is_called()
    }

    /// Whether the result of the function with this id, or a value that it stores through a pointer, depends on a shared read.
    pub(super) fn returns(&self, callee: Id) -> bool {
        self.result(callee).is_none_or(|results| results.returned)
    }

    /// Whether a value that it stores to a private variable does.
    pub(super) fn leaves(&self, callee: Id, variable: Id) -> bool {
        let results = self.result(callee);
        results.is_none_or(|results| results.private.contains(&variable))
    }

    pub(super) fn result(&self, callee: Id) -> Option<&Results> {
        self.results.get(self.view.index.function_of(callee)?)
    }
}

fn is_kind(memory: &Memory<'_, '_>, kind: Kind, inst: &Inst<'_>) -> bool {
    match kind {
        Kind::Read => memory.reads(inst),
        Kind::PlainLoad => memory.loads(inst),
        Kind::Barrier => memory.synchronizes(inst),
        Kind::Unknown => is_unknown(inst.opcode()),
    }
}
