//! Functions whose results depend on reads of shared memory: returned, stored through pointer parameters, or stored to
//! private variables.

use super::memory::Memory;
use super::provenance::{Provenance, Scope, Source};
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex, Table};
use crate::analysis::view::{AccessKind, ControlDependence, FunctionView, ModuleView, ObjectClass, Origin};
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Where the results of shared reads go, by function.
pub(super) struct SharedReadSummary {
    /// The return value, or a store through a pointer parameter, depends on such a read.
    pub(super) results: Table<FunctionIndex, bool>,
    /// A store to a private variable depends on such a read.
    pub(super) private: Table<FunctionIndex, bool>,
    /// It calls, directly or not, a function of `private`.
    pub(super) calls_private: Table<FunctionIndex, bool>,
}

/// A property of a function, as in [`SharedReadSummary`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Results,
    Private,
    CallsPrivate,
}

/// Worklist fixpoint: a new fact re-queues its dependents. Examines each function of `may_read` that is called, once;
/// entry points have no callers. O(instructions + calls * log(calls)).
pub(super) fn summarize<'v, 'a: 'v, 'w: 'a>(
    graph: &CallGraph,
    view: impl FnOnce() -> &'v ModuleView<'a, 'w>,
    memory: &Memory<'a, 'w>,
    may_read: &Table<FunctionIndex, bool>,
) -> SharedReadSummary {
    let index = memory.index;
    let none = index.functions.map(|_| false);
    let mut summary = SharedReadSummary {
        results: none.clone(),
        private: none.clone(),
        calls_private: none.clone(),
    };
    let mut is_called = none;
    for callee in index.calls.keys().filter_map(|call| graph.callee(call)) {
        is_called.set(callee);
    }
    let is_examined = |number| may_read.is_set(number) && is_called.is_set(number);
    if !index.functions.keys().any(is_examined) {
        return summary;
    }
    let view = view();
    let mut worklist = Vec::new();
    let mut links = Links::default();
    for (number, function) in index.functions.iter().filter(|(number, _)| is_examined(*number)) {
        links
            .callers
            .extend(graph.callees_in(number).map(|callee| (callee, number)));
        let Some(own) = view.function(number) else {
            worklist.extend([(number, Fact::Results), (number, Fact::Private)]);
            continue;
        };
        links
            .stores
            .extend(private_stores(own).map(|variable| (number, variable)));
        let control = ControlDependence::new(own, &function.blocks.iter().collect(), None);
        let scope = Scope::new(own, memory, control);
        let both = [
            (Fact::Results, scope.of_results(&|inst| memory.reads(inst))),
            (Fact::Private, scope.of_private(&|inst| memory.reads(inst))),
        ];
        for (fact, provenance) in both {
            if provenance.reads {
                worklist.push((number, fact));
                continue;
            }
            links
                .of_results
                .extend(provenance.callees.into_iter().map(|c| (c, number, fact)));
            for variable in provenance.variables {
                links.loads.push((number, variable, fact));
                links.by_variable.entry(variable).or_default().push((number, fact));
            }
        }
    }
    links.of_results.sort_unstable();
    links.callers.sort_unstable();
    // Variables that functions of `private` store to.
    let mut variables = HashSet::default();
    while let Some((function, fact)) = worklist.pop() {
        let facts = match fact {
            Fact::Results => &mut summary.results,
            Fact::Private => &mut summary.private,
            Fact::CallsPrivate => &mut summary.calls_private,
        };
        if !facts.set(function) {
            continue;
        }
        match fact {
            Fact::Results => {
                let dependents = run(&links.of_results, function, |(callee, ..)| *callee);
                worklist.extend(dependents.map(|(_, caller, fact)| (*caller, *fact)));
                continue;
            }
            Fact::Private => {
                for (_, variable) in run(&links.stores, function, |(of, _)| *of) {
                    if variables.insert(*variable) {
                        let loading = links.by_variable.get(variable).into_iter().flatten();
                        worklist.extend(loading.filter(|(f, _)| summary.calls_private.is_set(*f)));
                    }
                }
            }
            Fact::CallsPrivate => {
                let loads = run(&links.loads, function, |(of, ..)| *of);
                let stored = loads.filter(|(_, variable, _)| variables.contains(variable));
                worklist.extend(stored.map(|(function, _, fact)| (*function, *fact)));
            }
        }
        let callers = run(&links.callers, function, |(callee, _)| *callee);
        worklist.extend(callers.map(|(_, caller)| (*caller, Fact::CallsPrivate)));
    }
    summary
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
    objects
        .filter(|object| object.class == ObjectClass::Private)
        .map(|object| object.pointer)
}

impl<'w> Scope<'_, '_, 'w> {
    /// The sources of what a function returns, and stores through pointer parameters.
    pub(super) fn of_results(&self, is_read: &dyn Fn(&Inst<'w>) -> bool) -> Provenance {
        let mut returned = Vec::new();
        let mut sources = Vec::new();
        for (block, end) in self.returns() {
            if end.opcode() == op::ReturnValue {
                returned.push((block, Source::Value(end.returned_value())));
            }
        }
        self.add_returned(&returned, &mut sources);
        self.add_left(|class| matches!(class, ObjectClass::Parameter(_)), &mut sources);
        self.follow(sources, is_read)
    }

    /// The sources of what a function stores to private variables.
    pub(super) fn of_private(&self, is_read: &dyn Fn(&Inst<'w>) -> bool) -> Provenance {
        let mut sources = Vec::new();
        self.add_left(|class| class == ObjectClass::Private, &mut sources);
        self.follow(sources, is_read)
    }

    fn returns(&self) -> impl Iterator<Item = (BlockIndex, Inst<'w>)> + '_ {
        let index = self.view.index;
        let ends = self.control.blocks().iter().filter_map(|number| {
            let block = index.blocks.get(*number)?;
            Some((*number, index.terminator(block)))
        });
        ends.filter(|(_, end)| matches!(end.opcode(), op::Return | op::ReturnValue))
    }

    /// Adds what the function leaves in objects when it returns, without what it has found there.
    fn add_left(&self, is_kind: impl Fn(ObjectClass) -> bool, sources: &mut Vec<Source>) {
        let mut by_cell: HashMap<_, Vec<(BlockIndex, Source)>> = HashMap::default();
        for (block, end) in self.returns() {
            for number in self.view.memory.seen_by_event(end.offset) {
                let class = self.view.object(number).map(|object| object.class);
                if let Some(found) = self
                    .view
                    .memory
                    .definitions
                    .get(number)
                    .filter(|_| class.is_some_and(&is_kind))
                {
                    by_cell
                        .entry(found.cell)
                        .or_default()
                        .push((block, Source::Memory(number)));
                }
            }
        }
        for (_, left) in by_cell {
            let is_entry = |source: &Source| {
                let number = match source {
                    Source::Memory(number) => self.view.memory.definitions.get(*number),
                    Source::Value(_) => None,
                };
                number.is_some_and(|found| found.origin == Origin::Entry)
            };
            if !left.iter().all(|(_, source)| is_entry(source)) {
                self.add_returned(&left, sources);
            }
        }
    }
}

/// Dependents of facts. All lists are sorted by the function that comes first.
#[derive(Default)]
struct Links {
    /// A callee, a caller, and the caller's fact that follows from [`Fact::Results`] of the callee.
    of_results: Vec<(FunctionIndex, FunctionIndex, Fact)>,
    /// Private variables that a function stores to.
    stores: Vec<(FunctionIndex, Id)>,
    /// Private variables that a fact of a function depends on, where its callees may have stored to them.
    loads: Vec<(FunctionIndex, Id, Fact)>,
    by_variable: HashMap<Id, Vec<(FunctionIndex, Fact)>>,
    /// Callee and caller of every call.
    callers: Vec<(FunctionIndex, FunctionIndex)>,
}

/// The entries of one function in a sorted list.
fn run<T>(list: &[T], function: FunctionIndex, of: impl Fn(&T) -> FunctionIndex) -> impl Iterator<Item = &T> {
    let first = list.partition_point(|entry| of(entry) < function);
    let from = list.get(first..).unwrap_or(&[]).iter();
    from.take_while(move |entry| of(entry) == function)
}
