//! Functions that read shared memory or execute barriers, and those whose results depend on such reads: callees before callers.

use super::memory::{Memory, may_read_shared_memory};
use super::provenance::Scope;
use crate::analysis::index::Index;
use crate::analysis::index::typed::{FunctionIndex, Table};
use crate::analysis::view::{AccessKind, ControlDependence, FunctionView, ModuleView, ObjectClass};
use crate::spv::op_sets::is_unknown;
use crate::spv::{Id, Inst, op};
use std::collections::BTreeSet;

/// What an instruction does that a loop may wait by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads what other invocations write.
    Read,
    /// Reads it where a barrier makes it visible.
    PlainLoad,
    Barrier,
    /// Not known.
    Unknown,
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::PlainLoad, Kind::Barrier, Kind::Unknown];

/// What depends on shared reads of a function.
#[derive(Clone, Debug, Default)]
struct Results {
    /// The return value, or a store through a pointer parameter.
    returned: bool,
    /// Private variables that it or a callee stores to.
    private: BTreeSet<Id>,
    /// All of that may: it is part of a recursion, or has no view.
    is_unknown: bool,
}

/// The functions of a module.
pub(super) struct SharedReads<'a, 'w> {
    pub(super) view: ModuleView<'a, 'w>,
    pub(super) memory: Memory<'a, 'w>,
    /// Whether a function or a callee of it has an instruction of each of [`KINDS`].
    kinds: [Table<FunctionIndex, bool>; 4],
    results: Table<FunctionIndex, Results>,
}

impl<'a, 'w> SharedReads<'a, 'w> {
    /// `None` for a module with neither shared reads nor barriers, as most are: found in one walk. O(words of the module +
    /// functions * variables).
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
        let mut shared = Self {
            view,
            memory,
            kinds,
            results: index.functions.map(|_| Results::default()),
        };
        let (order, in_recursions) = shared.view.graph.callees_first();
        for number in in_recursions {
            if let Some(results) = shared.results.get_mut(number) {
                results.is_unknown = true;
            }
        }
        for number in order {
            // Without a read there is nothing to depend on, and entry points have no callers.
            let [reads, ..] = &shared.kinds;
            if reads.is_set(number) && !shared.view.is_entry_point(number) {
                let found = shared.results_of(number);
                if let Some(results) = shared.results.get_mut(number) {
                    *results = found;
                }
            }
        }
        Some(shared)
    }

    fn results_of(&self, number: FunctionIndex) -> Results {
        let mut found = Results::default();
        let Some(own) = self.view.function(number) else {
            found.is_unknown = true;
            return found;
        };
        let control = ControlDependence::new(own, &own.function.blocks.iter().collect(), None);
        let scope = Scope::new(own, self, control, false);
        found.returned = scope.returns_shared();
        if scope.leaves_shared(|class| class == ObjectClass::Private) {
            found.private.extend(private_stores(own));
        }
        for callee in self
            .view
            .graph
            .callees_in(number)
            .filter_map(|callee| self.results.get(callee))
        {
            found.is_unknown |= callee.is_unknown;
            found.private.extend(&callee.private);
        }
        found
    }

    /// Whether an instruction is of a kind, or calls a function that has one.
    pub(super) fn has(&self, kind: Kind, inst: &Inst<'_>) -> bool {
        let functions = KINDS.iter().zip(&self.kinds).find(|(of, _)| **of == kind);
        let is_called = || {
            let callee = self.memory.index.function_of(inst.callee());
            callee
                .zip(functions)
                .is_some_and(|(callee, (_, functions))| functions.is_set(callee))
        };
        is_kind(&self.memory, kind, inst) || inst.opcode() == op::FunctionCall && is_called()
    }

    /// Whether the result of the function with this id, or what it stores through a pointer, depends on a shared read.
    pub(super) fn returns(&self, callee: Id) -> bool {
        self.result(callee)
            .is_none_or(|results| results.is_unknown || results.returned)
    }

    /// Whether what it stores to a private variable does.
    pub(super) fn leaves(&self, callee: Id, variable: Id) -> bool {
        let results = self.result(callee);
        results.is_none_or(|results| results.is_unknown || results.private.contains(&variable))
    }

    fn result(&self, callee: Id) -> Option<&Results> {
        self.results.get(self.memory.index.function_of(callee)?)
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

/// Private variables that a function stores to itself.
fn private_stores<'v>(own: &'v FunctionView<'_, '_>) -> impl Iterator<Item = Id> + 'v {
    let accesses = own.accesses.accesses.values().iter();
    let writes = accesses.filter(|access| {
        !matches!(
            access.kind,
            AccessKind::Load(_) | AccessKind::CopyFrom | AccessKind::Argument(_)
        )
    });
    let objects = writes.filter_map(|access| own.accesses.objects.get(access.place.object));
    let private = objects.filter(|object| object.class == ObjectClass::Private);
    private.map(|object| object.pointer)
}
