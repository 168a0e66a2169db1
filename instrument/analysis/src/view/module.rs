//! The view of a module: accesses and summaries of all functions, and the view of each, built at the first query.

use super::access::{AccessKind, ObjectClass};
use super::accesses::FunctionAccesses;
use super::cells::Cells;
use super::function::FunctionView;
use super::memory::{Event, Memory, MemoryInputs};
use super::summaries::{self, Summary, summarize};
use super::uses::Uses;
use crate::callgraph::CallGraph;
use crate::graph::FunctionGraph;
use std::cell::{OnceCell, RefCell};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, Table};
use vkabort_spirv::{Id, Inst, op};

/// Accesses, summaries and views of the functions of a module.
pub struct ModuleView<'a, 'w> {
    pub index: &'a Index<'w>,
    pub graph: CallGraph,
    accesses: Table<FunctionIndex, FunctionAccesses>,
    summaries: Table<FunctionIndex, Summary>,
    functions: Table<FunctionIndex, OnceCell<Option<FunctionView<'a, 'w>>>>,
    /// Callee, caller and word offset of every call by a function that entry points reach, sorted.
    callers: Vec<(FunctionIndex, FunctionIndex, usize)>,
    given_up: RefCell<Vec<String>>,
    for_any_point: bool,
    /// The imported sets `GLSL.std.450`.
    pub(crate) glsl: Vec<Id>,
}

impl<'a, 'w> ModuleView<'a, 'w> {
    /// Reads accesses and summaries of all functions; the rest is computed at the first query of a function. O(words of the
    /// module + functions * variables).
    pub fn new(index: &'a Index<'w>) -> Self {
        let graph = CallGraph::new(index);
        let mut accesses = index.functions.map(|number| match index.functions.get(number) {
            Some(function) => FunctionAccesses::new(index, function),
            None => FunctionAccesses::default(),
        });
        let summaries = summarize(index, &graph, &accesses);
        for (number, _) in summaries.iter().filter(|(_, summary)| summary.has_aliases) {
            if let Some(own) = accesses.get_mut(number) {
                own.escape_where(|object| object.class != ObjectClass::Function);
            }
        }
        let is_reached = |caller| {
            graph
                .reach
                .get(caller)
                .is_some_and(|reach| !reach.entry_points.is_empty())
        };
        let calls = index.calls.keys().zip(index.calls.values());
        let calls = calls.filter(|(_, call)| is_reached(call.caller));
        let callers = calls.filter_map(|(number, call)| Some((graph.callee(number)?, call.caller, call.offset)));
        let mut callers: Vec<_> = callers.collect();
        callers.sort_unstable();
        Self {
            callers,
            index,
            graph,
            accesses,
            summaries,
            functions: index.functions.map(|_| OnceCell::new()),
            given_up: RefCell::default(),
            for_any_point: false,
            glsl: index.sets("GLSL.std.450"),
        }
    }

    /// As [`Self::new`]; also tracks variables that are never loaded ([`FunctionView::definitions_before`]).
    /// Variables that debug information describes by their values are objects then, too.
    pub fn for_any_point(index: &'a Index<'w>) -> Self {
        let mut view = Self::new(index);
        if index.has_debug_info() {
            for (number, function) in index.functions.iter() {
                if let Some(accesses) = view.accesses.get_mut(number) {
                    accesses.add_described(index, function);
                }
            }
        }
        view.for_any_point = true;
        view
    }

    /// The memory accesses of a function.
    pub fn accesses(&self, function: FunctionIndex) -> Option<&FunctionAccesses> {
        self.accesses.get(function)
    }

    /// The summary of a function.
    pub(crate) fn summary(&self, function: FunctionIndex) -> Option<&Summary> {
        self.summaries.get(function)
    }

    /// The summary of the function with the result id `callee`.
    pub fn summary_of(&self, callee: Id) -> Option<&Summary> {
        self.summary(self.index.function_of(callee)?)
    }

    /// The calls of a function by functions that entry points reach: caller and word offset.
    pub fn calls_of(&self, callee: FunctionIndex) -> impl Iterator<Item = (FunctionIndex, usize)> + '_ {
        let first = self.callers.partition_point(|(of, ..)| *of < callee);
        let calls = self.callers.get(first..).unwrap_or_default().iter();
        calls
            .take_while(move |(of, ..)| *of == callee)
            .map(|(_, caller, offset)| (*caller, *offset))
    }

    /// Whether a function is the one of an entry point.
    pub(crate) fn is_entry_point(&self, number: FunctionIndex) -> bool {
        let id = self.index.functions.get(number).map(|function| function.id);
        self.index.entry_points.iter().any(|entry| Some(entry.function) == id)
    }

    /// Whether the invocation may end, or become a helper invocation, at an instruction.
    pub(crate) fn may_leave(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::FunctionCall => self
                .summary_of(inst.callee())
                .is_none_or(|callee| callee.may_leave || callee.is_unknown),
            opcode => summaries::leaves(opcode),
        }
    }

    /// Whether a barrier may be executed at an instruction.
    pub(crate) fn synchronizes(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::FunctionCall => self
                .summary_of(inst.callee())
                .is_none_or(|callee| callee.synchronizes || callee.is_unknown),
            opcode => summaries::publishes(opcode),
        }
    }

    /// The view of a function. `None` if the function is too large, which [`ModuleView::given_up`] then says.
    pub fn function(&self, number: FunctionIndex) -> Option<&FunctionView<'a, 'w>> {
        let view = self.functions.get(number)?.get_or_init(|| {
            let view = self.make(number);
            if view.is_none() {
                let name = self
                    .index
                    .functions
                    .get(number)
                    .map_or(Id::NONE, |function| function.id);
                self.give_up(format!(
                    "function {name} has too many stores and branches: what it computes is not followed"
                ));
            }
            view
        });
        view.as_ref()
    }

    fn make(&self, number: FunctionIndex) -> Option<FunctionView<'a, 'w>> {
        let (index, function) = (self.index, self.index.functions.get(number)?);
        let accesses = self.accesses.get(number)?.clone();
        let graph = FunctionGraph::new(index, function);
        let cells = Cells::new(index, &accesses);
        if !cells.coarse.is_empty() {
            let count = cells.coarse.len();
            self.give_up(format!(
                "{count} variables of function {} have too many parts: each is followed as a whole",
                function.id
            ));
        }
        let inputs = MemoryInputs {
            index,
            function,
            graph: &graph,
            accesses: &accesses,
            cells: &cells,
            callee: &|callee| self.summary_of(callee),
            shares_outputs: self.shares_outputs(number),
            for_any_point: self.for_any_point,
        };
        Some(FunctionView {
            memory: Memory::new(&inputs)?,
            uses: Uses::new(index, function, &graph),
            index,
            number,
            function,
            graph,
            accesses,
            cells,
            loops: OnceCell::new(),
        })
    }

    /// Whether other invocations may read the outputs of a function's entry points.
    pub fn shares_outputs(&self, number: FunctionIndex) -> bool {
        use spirv::ExecutionModel::{MeshEXT, MeshNV, TessellationControl};
        let reach = self.graph.reach.get(number);
        let mut models = reach.into_iter().flat_map(|reach| &reach.models);
        models.any(|model| {
            [TessellationControl, MeshNV, MeshEXT]
                .iter()
                .any(|of| *of as u32 == *model)
        })
    }

    fn give_up(&self, text: String) {
        self.given_up.borrow_mut().push(text);
    }

    /// Functions and objects that were too large to be analysed so far, for the log.
    pub fn given_up(&self) -> Vec<String> {
        self.given_up.borrow().clone()
    }

    /// Whether a Workgroup variable may be read, by any invocation, between a barrier of a function and the next one.
    pub(crate) fn is_read_behind_barrier(&self, function: &FunctionView<'_, '_>, variable: Id, barrier: Event) -> bool {
        let mut seen = function.graph.table(|_| false);
        let mut worklist = vec![(barrier.block, barrier.offset + 1)];
        while let Some((number, from)) = worklist.pop() {
            let Some(block) = function.index.blocks.get(number) else {
                continue;
            };
            let mut is_open = true;
            for inst in self
                .index
                .insts(block.offset, block.end)
                .filter(|inst| inst.offset >= from)
            {
                if self.may_read(function, &inst, variable) {
                    return true;
                }
                if self.synchronizes(&inst) {
                    is_open = false;
                    break;
                }
            }
            for to in function.graph.successors(number).iter().filter(|_| is_open) {
                if let Some(mark) = seen.get_mut(*to).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push((*to, 0));
                }
            }
        }
        false
    }

    /// Whether an instruction may read a variable of the module.
    fn may_read(&self, function: &FunctionView<'_, '_>, inst: &Inst<'_>, variable: Id) -> bool {
        if inst.opcode() == op::FunctionCall {
            let callee = self.summary_of(inst.callee());
            return callee.is_none_or(|callee| callee.is_unknown || callee.reads.contains(&variable));
        }
        let mut accesses = function.accesses.at(inst.offset);
        accesses.any(|access| {
            let object = function.accesses.objects.get(access.place.object);
            let is_it = object.is_some_and(|object| object.pointer == variable);
            is_it
                && matches!(
                    access.kind,
                    AccessKind::Load(_) | AccessKind::CopyFrom | AccessKind::Other
                )
        })
    }
}
