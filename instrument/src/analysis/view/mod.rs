//! The view of values: what each function of a module computes, analysed once, for every analysis that follows values.
//!
//! **Where does the rewriter learn what a load returns?** From [`Memory::read`]: a load knows the definitions that reach it.
//!
//! ```text
//! uint q = 7;              Store %q 7            d1: q
//! if (b != 0)              BranchConditional
//!     q = a / b;             Store %q %div       d2: q
//!                          phi of q              d3: q = phi(d1, d2)
//! words[0] = q;            %v = Load %q          reads d3, so 7 or %div
//! ```
//!
//! Each reader asks its own question and keeps no maps of blocks, stores or uses itself:
//!
//! | reader | question |
//! | --- | --- |
//! | `effects` | does an undefined value reach memory, control flow or a result? |
//! | `ranges` | which values can an integer have here? |
//! | `trip_count` | how often does a loop run? |
//! | `constant_exits` | can a compiler run a loop at compile time? |
//! | `waiting_loops` | may a loop wait for another invocation? |
//! | `pass/values` | which variables have a value at an abort, and which? |
//!
//! The parts:
//!
//! - [`FunctionGraph`]: blocks before and after each, dominators, reverse postorder.
//! - [`Uses`]: the operands that use each value.
//! - [`FunctionAccesses`]: what each instruction does to the objects that only the invocation sees: variables of the storage
//!   classes Function, Private and Output, Workgroup between barriers, and what pointer parameters point to.
//! - [`Cells`]: the parts of these objects that are followed by themselves, by constant indices.
//! - [`Memory`]: definitions of cells in SSA form. An access whose index is not constant reads or changes some part of a cell.
//! - [`Summary`]: what a call may read and write.
//!
//! Everything is linear in the words of the function (with the logarithms of sorting), without recursion. An object whose parts are
//! too many is one cell, and a function whose definitions are too many has no view: [`ModuleView::given_up`] says so.

mod accesses;
mod cells;
mod memory;
pub(crate) mod path;
mod summaries;
#[cfg(test)]
mod tests;
mod uses;

pub(crate) use accesses::{Access, AccessKind, FunctionAccesses, Object, ObjectClass, Place};
pub(crate) use cells::Cells;
pub(crate) use memory::{Definition, Event, EventKind, Memory, MemoryUse, Origin};
pub(crate) use summaries::Summary;
pub(crate) use uses::{Use, Uses};

use crate::analysis::callgraph::CallGraph;
use crate::analysis::graph::FunctionGraph;
use crate::analysis::index::typed::{AccessIndex, BlockIndex, DefIndex, FunctionIndex, ObjectIndex, Table};
use crate::analysis::index::{Function, Index};
use crate::analysis::loop_nest::LoopNest;
use crate::spv::{Id, Inst, op};
use path::Path;
use std::cell::{OnceCell, RefCell};

/// What all functions of a module compute.
pub(crate) struct ModuleView<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) graph: CallGraph,
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

/// What one function computes.
pub(crate) struct FunctionView<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) number: FunctionIndex,
    pub(crate) function: &'a Function,
    pub(crate) graph: FunctionGraph,
    pub(crate) uses: Uses,
    pub(crate) accesses: FunctionAccesses,
    pub(crate) cells: Cells,
    pub(crate) memory: Memory,
    loops: OnceCell<LoopNest>,
}

impl<'a, 'w> ModuleView<'a, 'w> {
    /// Reads accesses and summaries of all functions; the rest is computed for the functions that somebody asks for. O(words of the
    /// module + functions * variables).
    pub(crate) fn new(index: &'a Index<'w>) -> Self {
        let graph = CallGraph::new(index);
        let mut accesses = index.functions.map(|number| match index.functions.get(number) {
            Some(function) => FunctionAccesses::new(index, function),
            None => FunctionAccesses::default(),
        });
        let summaries = summaries::summarize(index, &graph, &accesses);
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

    /// The same, for those who ask what variables hold where nothing reads them ([`FunctionView::held`]).
    /// Variables that debug information describes by their values are objects then, too.
    pub(crate) fn for_any_point(index: &'a Index<'w>) -> Self {
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

    /// The summary of a function.
    pub(crate) fn summary(&self, function: FunctionIndex) -> Option<&Summary> {
        self.summaries.get(function)
    }

    /// The summary of the function with the result id `callee`.
    pub(crate) fn summary_of(&self, callee: Id) -> Option<&Summary> {
        self.summary(self.index.function_of(callee)?)
    }

    /// The calls of a function by functions that entry points reach: caller and word offset.
    pub(crate) fn calls_of(&self, callee: FunctionIndex) -> impl Iterator<Item = (FunctionIndex, usize)> + '_ {
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
    pub(crate) fn function(&self, number: FunctionIndex) -> Option<&FunctionView<'a, 'w>> {
        let made = self.functions.get(number)?.get_or_init(|| {
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
        made.as_ref()
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
        let source = memory::Source {
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
            memory: Memory::new(&source)?,
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
    fn shares_outputs(&self, number: FunctionIndex) -> bool {
        use spirv::ExecutionModel::{MeshEXT, MeshNV, TessellationControl};
        let reach = self.graph.reach.get(number);
        let mut models = reach.into_iter().flat_map(|reach| &reach.models);
        models.any(|model| {
            [TessellationControl, MeshNV, MeshEXT]
                .iter()
                .any(|of| *of as u32 == *model)
        })
    }

    fn give_up(&self, what: String) {
        self.given_up.borrow_mut().push(what);
    }

    /// What was too large to be followed so far, for the log.
    pub(crate) fn given_up(&self) -> Vec<String> {
        self.given_up.borrow().clone()
    }
}

impl<'w> FunctionView<'_, 'w> {
    /// The loops, found for the first one that asks.
    pub(crate) fn loops(&self) -> &LoopNest {
        self.loops.get_or_init(|| LoopNest::new(self.index, self.function))
    }

    /// What the cells of an exact part of an object hold before the instruction at a word offset of a block; `None` stands for what
    /// a cell holds at the start of the function. In a view [`ModuleView::for_any_point`] only.
    pub(crate) fn held(
        &self,
        object: ObjectIndex,
        path: &[u32],
        block: BlockIndex,
        offset: usize,
    ) -> Vec<Option<DefIndex>> {
        let cells = self.cells.at(object, path).iter();
        let cells = cells.filter(|cell| self.cells.all.get(*cell).is_some_and(|cell| !cell.is_empty));
        cells
            .map(|cell| self.memory.held(&self.graph, cell, block, offset))
            .collect()
    }

    /// The block of the instruction that defines a value; of the first block for parameters. `None` for what is not of the function.
    pub(crate) fn block_of(&self, value: Id) -> Option<BlockIndex> {
        let def = self.index.def(value)?;
        match def.opcode() {
            op::FunctionParameter if (self.function.offset..self.function.end).contains(&def.offset) => {
                self.graph.entry()
            }
            _ => self.block_at(def.offset),
        }
    }

    /// The block with a label.
    pub(crate) fn block_of_label(&self, label: Id) -> Option<BlockIndex> {
        self.index.block_of_label(self.function, label)
    }

    /// The block of the instruction at a word offset.
    pub(crate) fn block_at(&self, offset: usize) -> Option<BlockIndex> {
        (offset < self.function.end)
            .then(|| self.graph.block_at(offset))
            .flatten()
    }

    /// Whether `value` is defined wherever the end of `block` is reached: a constant, a parameter, or of a block that dominates it.
    pub(crate) fn reaches(&self, value: Id, block: BlockIndex) -> bool {
        let Some(inst) = self.index.def(value) else {
            return false;
        };
        if inst.offset < self.index.sections.globals {
            return is_constant(&inst);
        }
        self.block_of(value).is_some_and(|at| self.graph.dominates(at, block))
    }

    /// The access of the load with this result to an object of the function.
    pub(crate) fn load(&self, value: Id) -> Option<(AccessIndex, &Access)> {
        let load = self.index.def(value).filter(|inst| inst.opcode() == op::Load)?;
        self.access_at(load.offset)
            .filter(|(_, access)| matches!(access.kind, AccessKind::Load(_)))
    }

    /// The first access of the instruction at a word offset.
    pub(crate) fn access_at(&self, offset: usize) -> Option<(AccessIndex, &Access)> {
        let all = self.accesses.accesses.values();
        let first = all.partition_point(|access| access.offset < offset);
        let access = all.get(first).filter(|access| access.offset == offset)?;
        Some((AccessIndex::from_usize(first), access))
    }

    /// The definition that a load reads, if it reads all or an exact part of a single cell.
    pub(crate) fn definition_of_load(&self, value: Id) -> Option<(DefIndex, &Access)> {
        let (number, access) = self.load(value).filter(|(_, access)| access.place.is_exact)?;
        let mut read = self.memory.read(number);
        let definition = read.next()?;
        read.next().is_none().then_some((definition, access))
    }

    /// Whether the cell of a definition has something of an exact part of an object.
    pub(crate) fn cell_has(&self, definition: DefIndex, object: ObjectIndex, path: &[u32]) -> bool {
        let found = self.memory.definitions.get(definition);
        let cell = found.and_then(|found| self.cells.all.get(found.cell));
        cell.is_some_and(|cell| cell.object == object && cell.has(path))
    }

    /// What the cell of a definition has of a part of its object: the smaller of the two.
    pub(crate) fn part_in_cell(&self, definition: DefIndex, path: &[u32]) -> Path {
        let found = self.memory.definitions.get(definition);
        let cell = found.and_then(|found| self.cells.all.get(found.cell));
        match cell.filter(|cell| cell.path.len() > path.len()) {
            Some(cell) => cell.path.clone(),
            None => path.into(),
        }
    }

    /// Whether a Workgroup variable may be read, by any invocation, between a barrier of this function and the next one.
    pub(crate) fn is_read_behind_barrier(&self, module: &ModuleView<'_, '_>, variable: Id, barrier: Event) -> bool {
        let mut seen = self.graph.table(|_| false);
        let mut worklist = vec![(barrier.block, barrier.offset + 1)];
        while let Some((number, from)) = worklist.pop() {
            let Some(block) = self.index.blocks.get(number) else {
                continue;
            };
            let mut is_open = true;
            for inst in self
                .index
                .insts(block.offset, block.end)
                .filter(|inst| inst.offset >= from)
            {
                if self.may_read(module, &inst, variable) {
                    return true;
                }
                if module.synchronizes(&inst) {
                    is_open = false;
                    break;
                }
            }
            for to in self.graph.successors(number).iter().filter(|_| is_open) {
                if let Some(mark) = seen.get_mut(*to).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push((*to, 0));
                }
            }
        }
        false
    }

    /// Whether an instruction may read a variable of the module.
    fn may_read(&self, module: &ModuleView<'_, '_>, inst: &Inst<'_>, variable: Id) -> bool {
        if inst.opcode() == op::FunctionCall {
            let callee = module.summary_of(inst.callee());
            return callee.is_none_or(|callee| callee.is_unknown || callee.reads.contains(&variable));
        }
        let mut accesses = self.accesses.at(inst.offset);
        accesses.any(|access| {
            let object = self.accesses.objects.get(access.place.object);
            let is_it = object.is_some_and(|object| object.pointer == variable);
            is_it
                && matches!(
                    access.kind,
                    AccessKind::Load(_) | AccessKind::CopyFrom | AccessKind::Other
                )
        })
    }

    /// The object of which a definition is a part.
    pub(crate) fn object(&self, definition: DefIndex) -> Option<&Object> {
        let cell = self.cells.all.get(self.memory.definitions.get(definition)?.cell)?;
        self.accesses.objects.get(cell.object)
    }

    /// The initialiser that the object of an `Entry` definition has then: of a variable of the function, or of the module in an
    /// entry point.
    pub(crate) fn initial_value(&self, definition: DefIndex) -> Option<Id> {
        let object = self.object(definition)?;
        let is_entry_point = || {
            self.index
                .entry_points
                .iter()
                .any(|entry| entry.function == self.function.id)
        };
        let holds = match object.class {
            ObjectClass::Function => true,
            ObjectClass::Private | ObjectClass::Output => is_entry_point(),
            ObjectClass::Parameter(_) | ObjectClass::Workgroup | ObjectClass::Described(_) => false,
        };
        object.initializer.filter(|_| holds)
    }

    /// Whether nothing has been stored where a definition is `Entry`: a variable without an initialiser.
    pub(crate) fn is_undefined_at_entry(&self, definition: DefIndex) -> bool {
        let object = self.object(definition);
        object.is_some_and(|object| match object.class {
            ObjectClass::Function => object.initializer.is_none(),
            ObjectClass::Described(_) => true,
            _ => false,
        })
    }

    /// The definitions that a definition may hold all or a part of, through phis and partial stores, without those two: each once.
    /// O(definitions between).
    pub(crate) fn sources(&self, definitions: impl IntoIterator<Item = DefIndex>) -> Vec<DefIndex> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut worklist: Vec<DefIndex> = definitions.into_iter().collect();
        let mut found = Vec::new();
        while let Some(number) = worklist.pop() {
            if !seen.insert(number) {
                continue;
            }
            let Some(definition) = self.memory.definitions.get(number) else {
                continue;
            };
            if definition.origin != Origin::Phi {
                found.push(number);
            }
            worklist.extend(definition.previous);
            worklist.extend(definition.operands.iter().map(|(_, operand)| *operand));
        }
        found
    }

    /// The values that a load may return or be composed of. `None` if something unknown is among them; nothing stands for a variable
    /// that has no value.
    pub(crate) fn sources_of_load(&self, value: Id) -> Option<Vec<Id>> {
        let (number, _) = self.load(value)?;
        let read: Vec<DefIndex> = self.memory.read(number).collect();
        if read.is_empty() {
            return None;
        }
        let mut values = Vec::new();
        for source in self.sources(read) {
            match self.memory.definitions.get(source)?.origin {
                Origin::Access(by) => match self.accesses.accesses.get(by)?.kind {
                    AccessKind::Store(stored) => values.push(stored),
                    _ => return None,
                },
                Origin::Entry => match self.initial_value(source) {
                    Some(initial) => values.push(initial),
                    None if self.is_undefined_at_entry(source) => {}
                    None => return None,
                },
                Origin::Event(_) | Origin::Phi => return None,
            }
        }
        Some(values)
    }
}

/// Whether an instruction is a constant or a specialisation constant.
pub(crate) fn is_constant(inst: &Inst<'_>) -> bool {
    matches!(
        inst.opcode(),
        op::ConstantTrue..=op::ConstantNull | op::SpecConstantTrue..=op::SpecConstantOp
    )
}
