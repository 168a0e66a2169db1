//! The call graph, and the entry points that reach each function.

use std::collections::{BTreeSet, VecDeque};
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, CallIndex, FunctionIndex, Run, Table};
use vkabort_spirv::index::{Function, Index};

/// How entry points reach a function.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Entry points that reach it, as positions in [`Index::entry_points`], ascending.
    pub entry_points: Vec<u32>,
    /// Execution models of those, ascending, each once.
    pub models: Vec<u32>,
    /// The call that first reached it in a breadth-first walk from the entry points: callers along these calls form a
    /// shortest path to an entry point.
    pub(crate) via: Option<CallIndex>,
}

/// The call graph of a module.
#[derive(Debug)]
pub struct CallGraph {
    pub reach: Table<FunctionIndex, Reach>,
    /// Callee of every call, `None` where the id is not a function of the module.
    callees: Table<CallIndex, Option<FunctionIndex>>,
    /// Calls by caller. Contiguous, since calls are in module order.
    calls: Table<FunctionIndex, Run<CallIndex>>,
}

impl CallGraph {
    pub fn new(index: &Index<'_>) -> Self {
        let calls = index.calls.values();
        let first_of = |function| CallIndex::from_usize(calls.partition_point(|call| call.caller < function));
        let after = |function| CallIndex::from_usize(calls.partition_point(|call| call.caller <= function));
        let mut graph = Self {
            reach: index.functions.map(|_| Reach::default()),
            callees: calls
                .iter()
                .map(|c| index.function_of(c.callee))
                .collect::<Vec<_>>()
                .into(),
            calls: index.functions.map(|function| Run {
                start: first_of(function),
                end: after(function),
            }),
        };
        for (entry, number) in index.entry_points.iter().zip(0..) {
            if let Some(function) = index.function_of(entry.function) {
                graph.walk(number, entry.model, function);
            }
        }
        graph
    }

    /// Records that an entry point reaches `function` and everything that it calls, breadth first.
    fn walk(&mut self, entry: u32, model: u32, function: FunctionIndex) {
        let mut queue = VecDeque::from([(function, None)]);
        while let Some((function, via)) = queue.pop_front() {
            let Some(reach) = self.reach.get_mut(function) else {
                continue;
            };
            if reach.entry_points.last() == Some(&entry) {
                continue;
            }
            if reach.entry_points.is_empty() {
                reach.via = via;
            }
            reach.entry_points.push(entry);
            if let Err(at) = reach.models.binary_search(&model) {
                reach.models.insert(at, model);
            }
            let calls = self.calls_in(function).iter();
            queue.extend(calls.filter_map(|call| Some((self.callee(call)?, Some(call)))));
        }
    }

    /// How many paths of calls lead from entry points to each function: a compiler that inlines every call has as many copies of it.
    /// O(functions + calls).
    pub fn call_paths(&self, index: &Index<'_>) -> Table<FunctionIndex, u64> {
        let mut paths: Table<FunctionIndex, u64> = index.functions.map(|_| 0);
        let entries: BTreeSet<Id> = index.entry_points.iter().map(|entry| entry.function).collect();
        for entry in entries.into_iter().filter_map(|entry| index.function_of(entry)) {
            if let Some(paths) = paths.get_mut(entry) {
                *paths += 1;
            }
        }
        let (callees_first, _) = self.callees_first();
        for caller in callees_first.into_iter().rev() {
            let of_caller = paths.get(caller).copied().unwrap_or(0);
            for call in self.calls_in(caller).iter() {
                let callee = self.callee(call).and_then(|callee| paths.get_mut(callee));
                if let Some(paths) = callee {
                    *paths = paths.saturating_add(of_caller);
                }
            }
        }
        paths
    }

    /// Calls in a function.
    pub fn calls_in(&self, function: FunctionIndex) -> Run<CallIndex> {
        self.calls.get(function).copied().unwrap_or_default()
    }

    /// Callee of a call.
    pub fn callee(&self, call: CallIndex) -> Option<FunctionIndex> {
        self.callees.get(call).copied().flatten()
    }

    /// Functions that calls in the blocks which `select` returns reach, directly or not.
    pub fn called_in(
        &self,
        index: &Index<'_>,
        select: impl Fn(&Function) -> BTreeSet<BlockIndex>,
    ) -> Table<FunctionIndex, bool> {
        let mut called = index.functions.map(|_| false);
        let mut worklist = Vec::new();
        for (number, function) in index.functions.iter() {
            let selected = select(function);
            let calls = self.calls_in(number).iter();
            let calls = calls.filter(|call| {
                index
                    .calls
                    .get(*call)
                    .is_some_and(|call| selected.contains(&call.block))
            });
            worklist.extend(calls.filter_map(|call| self.callee(call)));
        }
        while let Some(function) = worklist.pop() {
            if called.set(function) {
                worklist.extend(self.callees_in(function));
            }
        }
        called
    }

    /// Callees of the calls in a function.
    pub fn callees_in(&self, function: FunctionIndex) -> impl Iterator<Item = FunctionIndex> {
        self.calls_in(function).iter().filter_map(|call| self.callee(call))
    }

    /// The least set of functions that contains every `seed` and every function that passes `through` and calls a member
    /// of the set. O(functions + calls * log(calls)), in any call order.
    pub fn callers_closure(
        &self,
        seed: impl Fn(FunctionIndex) -> bool,
        through: impl Fn(FunctionIndex) -> bool,
    ) -> Table<FunctionIndex, bool> {
        let mut set = self.reach.map(seed);
        let mut worklist: Vec<FunctionIndex> = set.keys().filter(|f| set.is_set(*f)).collect();
        if worklist.is_empty() || self.callees.count() == 0 {
            return set;
        }
        let callers = self.callers();
        while let Some(callee) = worklist.pop() {
            for (_, caller) in callers_of(&callers, callee) {
                if through(*caller) && set.set(*caller) {
                    worklist.push(*caller);
                }
            }
        }
        set
    }
    /// All functions but those of recursions, each after its callees; then those.
    pub fn callees_first(&self) -> (Vec<FunctionIndex>, Vec<FunctionIndex>) {
        let mut waits: Table<FunctionIndex, usize> = self.reach.map(|number| self.callees_in(number).count());
        let callers = self.callers();
        let mut order: Vec<FunctionIndex> = waits.keys().filter(|number| waits.get(*number) == Some(&0)).collect();
        let mut next = 0;
        while let Some(callee) = order.get(next).copied() {
            next += 1;
            for (_, caller) in callers_of(&callers, callee) {
                if let Some(count) = waits.get_mut(*caller) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(*caller);
                    }
                }
            }
        }
        let is_waiting = |number: &FunctionIndex| waits.get(*number).is_some_and(|count| *count > 0);
        (order, waits.keys().filter(is_waiting).collect())
    }

    /// Callee and caller of every call, sorted.
    fn callers(&self) -> Vec<(FunctionIndex, FunctionIndex)> {
        let of = |caller| self.callees_in(caller).map(move |callee| (callee, caller));
        let mut callers: Vec<_> = self.reach.keys().flat_map(of).collect();
        callers.sort_unstable();
        callers
    }
}

/// The entries of one callee in [`CallGraph::callers`].
fn callers_of(
    callers: &[(FunctionIndex, FunctionIndex)],
    callee: FunctionIndex,
) -> impl Iterator<Item = &(FunctionIndex, FunctionIndex)> {
    let first = callers.partition_point(|(of, _)| *of < callee);
    let from = callers.get(first..).unwrap_or_default().iter();
    from.take_while(move |(of, _)| *of == callee)
}
