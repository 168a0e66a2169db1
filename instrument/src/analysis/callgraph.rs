//! Who calls whom, and which entry points reach what.

use crate::analysis::index::Index;
use crate::spv::Id;

/// Facts about one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Entry points that reach it, as indices into [`Index::entry_points`], ascending.
    pub(crate) entry_points: Vec<u32>,
    /// Execution models of those, ascending, each once.
    pub(crate) models: Vec<u32>,
    /// The call that first reached it in a breadth-first walk from the entry points, as an index into
    /// [`Index::calls`]: following it leads to an entry point along a shortest path.
    pub(crate) via: Option<usize>,
}

/// The call graph of a module.
#[derive(Debug)]
pub(crate) struct CallGraph {
    /// By function index.
    pub(crate) reach: Vec<Reach>,
    /// Callee of every call as a function index, where it is a function of the module.
    callees: Vec<Option<usize>>,
    /// Calls by caller: `calls[first[f]..first[f + 1]]`, since calls are in module order.
    first: Vec<usize>,
}

impl Index<'_> {
    /// The function that `id` names.
    pub(crate) fn function_of(&self, id: Id) -> Option<usize> {
        let offset = self.def(id)?.offset;
        self.functions.binary_search_by_key(&offset, |f| f.offset).ok()
    }
}

impl CallGraph {
    pub(crate) fn new(index: &Index<'_>) -> Self {
        let callees: Vec<Option<usize>> = index.calls.iter().map(|c| index.function_of(c.callee)).collect();
        let first = (0..=index.functions.len())
            .map(|f| index.calls.partition_point(|c| c.caller < f))
            .collect();
        let reach = vec![Reach::default(); index.functions.len()];
        let mut graph = Self { reach, callees, first };
        for (number, entry) in index.entry_points.iter().enumerate() {
            graph.walk(index, number as u32, entry.model, entry.function);
        }
        graph
    }

    fn walk(&mut self, index: &Index<'_>, entry: u32, model: u32, function: Id) {
        let Some(start) = index.function_of(function) else {
            return;
        };
        let mut queue = std::collections::VecDeque::from([(start, None)]);
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
            queue.extend(
                self.calls_in(function)
                    .filter_map(|call| Some((self.callee(call)?, Some(call)))),
            );
        }
    }

    /// Calls made by a function, as indices into [`Index::calls`].
    pub(crate) fn calls_in(&self, function: usize) -> std::ops::Range<usize> {
        let at = |f: usize| self.first.get(f).copied().unwrap_or(0);
        at(function)..at(function + 1)
    }

    /// Function index of a call's callee.
    pub(crate) fn callee(&self, call: usize) -> Option<usize> {
        self.callees.get(call).copied().flatten()
    }

    /// The least set of functions that contains every `seed` and every function that, `through` permitting, calls one
    /// of the set. Its cost is that of the functions and calls, whichever order they are in.
    pub(crate) fn callers_closure(&self, seed: impl Fn(usize) -> bool, through: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut set: Vec<bool> = (0..self.reach.len()).map(seed).collect();
        let mut open: Vec<usize> = set
            .iter()
            .enumerate()
            .filter(|(_, seed)| **seed)
            .map(|(f, _)| f)
            .collect();
        if open.is_empty() || self.callees.is_empty() {
            return set;
        }
        // Callee and caller of every call, by callee.
        let mut callers: Vec<(usize, usize)> = (0..self.reach.len())
            .flat_map(|caller| self.calls_in(caller).map(move |call| (call, caller)))
            .filter_map(|(call, caller)| Some((self.callee(call)?, caller)))
            .collect();
        callers.sort_unstable();
        while let Some(callee) = open.pop() {
            let first = callers.partition_point(|(of, _)| *of < callee);
            let callers = callers.get(first..).unwrap_or(&[]).iter();
            for (_, caller) in callers.take_while(|(of, _)| *of == callee) {
                if let Some(joined) = set.get_mut(*caller).filter(|joined| !**joined && through(*caller)) {
                    *joined = true;
                    open.push(*caller);
                }
            }
        }
        set
    }
}
