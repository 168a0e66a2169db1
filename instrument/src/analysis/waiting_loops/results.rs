//! Functions whose results depend on reads of shared memory: returned, stored through pointer parameters, or stored to
//! private variables.

use super::dataflow::Body;
use super::memory::Memory;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::typed::{FunctionIndex, Table};
use crate::spv::Id;
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
pub(super) fn summarize(
    index: &Index<'_>,
    graph: &CallGraph,
    memory: &Memory<'_, '_>,
    may_read: &Table<FunctionIndex, bool>,
) -> SharedReadSummary {
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
    let mut worklist = Vec::new();
    let mut links = Links::default();
    for (number, function) in index.functions.iter() {
        if !may_read.is_set(number) || !is_called.is_set(number) {
            continue;
        }
        let body = Body::new(index, memory, function);
        let both = [
            (Fact::Results, body.results(memory)),
            (Fact::Private, body.private(memory)),
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
        links.stores.extend(body.private.into_iter().map(|v| (number, v)));
        links
            .callers
            .extend(graph.callees_in(number).map(|callee| (callee, number)));
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
