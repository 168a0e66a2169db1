//! Which functions give back what depends on reads of memory that others write: as their result, through pointers that they
//! are given, or in private variables.

use super::dataflow::Body;
use super::memory::Memory;
use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::spv::Id;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// By function.
pub(super) struct SharedReadSummary {
    /// Its result, or what it stores through a pointer that it is given, depends on such a read.
    pub(super) results: Vec<bool>,
    /// What it stores to private variables does.
    pub(super) private: Vec<bool>,
    /// It calls a function of `private`, or one that does.
    pub(super) calls_private: Vec<bool>,
}

/// What is known of a function by now. When something becomes known, those whom it matters to are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Results,
    Private,
    CallsPrivate,
}

/// Only functions that `may_read` and are called are looked at, each once: nobody gets anything from an entry point. The cost
/// is that of the functions and calls.
pub(super) fn of_reads(
    index: &Index<'_>,
    graph: &CallGraph,
    memory: &Memory<'_, '_>,
    may_read: &[bool],
) -> SharedReadSummary {
    let none = vec![false; index.functions.len()];
    let mut given = SharedReadSummary {
        results: none.clone(),
        private: none.clone(),
        calls_private: none,
    };
    let mut is_called = vec![false; index.functions.len()];
    for callee in (0..index.calls.len()).filter_map(|call| graph.callee(call)) {
        if let Some(is_called) = is_called.get_mut(callee) {
            *is_called = true;
        }
    }
    let mut open = Vec::new();
    let mut links = Links::default();
    for (number, function) in index.functions.iter().enumerate() {
        if may_read.get(number) != Some(&true) || is_called.get(number) != Some(&true) {
            continue;
        }
        let body = Body::new(index, function);
        let both = [
            (Fact::Results, body.results(memory)),
            (Fact::Private, body.private(memory)),
        ];
        for (fact, provenance) in both {
            if provenance.reads {
                open.push((number, fact));
                continue;
            }
            links
                .of_results
                .extend(provenance.callees.into_iter().map(|c| (c, number, fact)));
            for variable in provenance.variables {
                links.looks.push((number, variable, fact));
                links.by_variable.entry(variable).or_default().push((number, fact));
            }
        }
        links.stores.extend(body.private.into_iter().map(|v| (number, v)));
        links.callers.extend(
            graph
                .calls_in(number)
                .filter_map(|call| Some((graph.callee(call)?, number))),
        );
    }
    links.of_results.sort_unstable();
    links.callers.sort_unstable();
    // Variables that functions of `private` store to.
    let mut variables = HashSet::default();
    while let Some((function, fact)) = open.pop() {
        let known = match fact {
            Fact::Results => &mut given.results,
            Fact::Private => &mut given.private,
            Fact::CallsPrivate => &mut given.calls_private,
        };
        if known
            .get_mut(function)
            .is_none_or(|known| std::mem::replace(known, true))
        {
            continue;
        }
        let callers = run(&links.callers, function, |(callee, _)| *callee);
        match fact {
            Fact::Results => {
                let told = run(&links.of_results, function, |(callee, ..)| *callee);
                open.extend(told.map(|(_, caller, fact)| (*caller, *fact)));
                continue;
            }
            Fact::Private => {
                for (_, variable) in run(&links.stores, function, |(of, _)| *of) {
                    if variables.insert(*variable) {
                        let looking = links.by_variable.get(variable).into_iter().flatten();
                        open.extend(looking.filter(|(f, _)| given.calls_private.get(*f) == Some(&true)));
                    }
                }
            }
            Fact::CallsPrivate => {
                let looks = run(&links.looks, function, |(of, ..)| *of);
                open.extend(
                    looks
                        .filter(|(_, v, _)| variables.contains(v))
                        .map(|(f, _, fact)| (*f, *fact)),
                );
            }
        }
        open.extend(callers.map(|(_, caller)| (*caller, Fact::CallsPrivate)));
    }
    given
}

/// Whom a fact matters to. All but `by_variable` are sorted by the function that comes first.
#[derive(Default)]
struct Links {
    /// Callees whose results matter, with the function and what it is of that they matter for.
    of_results: Vec<(usize, usize, Fact)>,
    /// Private variables that a function stores to.
    stores: Vec<(usize, Id)>,
    /// Private variables that a function looks at: where functions that it calls may have stored what they read.
    looks: Vec<(usize, Id, Fact)>,
    by_variable: HashMap<Id, Vec<(usize, Fact)>>,
    /// Callee and caller of every call.
    callers: Vec<(usize, usize)>,
}

/// Those of a sorted list that are of one function.
fn run<T>(list: &[T], function: usize, of: impl Fn(&T) -> usize) -> impl Iterator<Item = &T> {
    let first = list.partition_point(|entry| of(entry) < function);
    let from = list.get(first..).unwrap_or(&[]).iter();
    from.take_while(move |entry| of(entry) == function)
}
