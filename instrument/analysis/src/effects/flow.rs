//! Carriers of faults: the values and variables through which a faulty value travels until it has an effect.
//!
//! A value whose effect is not certain where it is computed is a *source*. Its fault is a number that planted code computes beside the
//! value, and beside each value and variable that the faulty value may become, its *carriers*. The number is tested where a carrier has an
//! effect, or is certain to have one:
//!
//! ```text
//! %q = UDiv %a %b               source                fault: 1 if %b is 0
//! Store %acc %q                 carrier: the variable
//! %v = Load %acc                carrier: %v
//! if (i < n) Store %buffer %v   test, in front of the store
//! ```
//!
//! The carriers are found without regard to the order of stores: whether a value has a fault is decided when the shader runs. A value that
//! is certain to have an effect is tested where it is defined, and its fault goes no further.
//!
//! Every carrier, and every use of one, is visited once. Sources are passed on along the edges between carriers until nothing changes;
//! each carrier keeps at most [`MOST_SOURCES`].

use super::items::Item;
use super::memory_uses::stored;
use super::observed::Solver;
use super::parts::{ValuePart, leaves};
use super::use_finder::{UseEffect, ValueClass};
use super::uses::is_read_by_others;
use crate::view::path::Path;
use crate::view::{AccessKind, FunctionView, Object, ObjectClass, Place, Use};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, FunctionIndex, ObjectIndex};
use vkabort_spirv::{Id, Inst, op};

/// Limit on the carriers of a module, and on the sources of one.
const MAX_CARRIERS: usize = 1 << 16;
const MOST_SOURCES: usize = 16;

/// A value, a variable or a result that carries faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carrier {
    Value(FunctionIndex, Id),
    /// A variable of a function or of the module, or the pointee of a parameter: by the variable or parameter.
    Variable(Id),
    /// What a function returns.
    Result(FunctionIndex),
}

/// A value that may be faulty, and the function that computes it.
pub type Source = (FunctionIndex, Id);

/// A source whose fault a carrier has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The position of the source.
    pub source: usize,
    /// Whether only computations are between: the operands of the source are those of the faulty value.
    pub is_direct: bool,
}

/// A place at which carriers are tested: in front of the instruction at a word offset.
#[derive(Clone, Debug)]
pub struct FlowTest {
    pub function: FunctionIndex,
    pub block: BlockIndex,
    pub offset: usize,
    /// The carriers, with the parts of each that have an effect; all parts if there is no list.
    pub carriers: Vec<(Carrier, Option<Vec<Path>>)>,
    pub sources: SmallVec<[Carried; 4]>,
}

/// The carriers of the sources of a module, and the places at which they are tested.
#[derive(Debug, Default)]
pub struct Flow {
    /// Carriers that lead to a test.
    pub carriers: IndexSet<Carrier, FxBuildHasher>,
    /// In module order.
    pub tests: Vec<FlowTest>,
    /// What was left out because of limits, for the log.
    pub given_up: Option<String>,
}

type Sources = SmallVec<[Carried; 4]>;

/// A place of tests: function, word offset, and whether the carrier is tested in front of the instruction or behind it.
type TestPlace = (FunctionIndex, usize);

#[derive(Debug, Default)]
struct Node {
    /// Carriers that get its faults, and whether by a computation.
    next: SmallVec<[(usize, bool); 4]>,
    sources: Sources,
    is_live: bool,
}

/// Finds the carriers.
pub(super) struct FlowFinder<'f, 'v, 'a, 'w> {
    solver: &'f mut Solver<'v, 'a, 'w>,
    nodes: IndexMap<Carrier, Node, FxBuildHasher>,
    tests: BTreeMap<TestPlace, FlowTest>,
    has_too_many: bool,
    has_lost: bool,
}

impl<'f, 'v, 'a, 'w> FlowFinder<'f, 'v, 'a, 'w> {
    pub(super) fn new(solver: &'f mut Solver<'v, 'a, 'w>) -> Self {
        Self {
            solver,
            nodes: IndexMap::default(),
            tests: BTreeMap::new(),
            has_too_many: false,
            has_lost: false,
        }
    }

    /// O(uses of the carriers), with the logarithms of tables.
    pub(super) fn find(mut self, sources: &[Source]) -> Flow {
        for (number, (function, value)) in sources.iter().enumerate() {
            let first = self.node(Carrier::Value(*function, *value));
            self.add_source(first, number, true);
        }
        let mut next = 0;
        while let Some((carrier, _)) = self.nodes.get_index(next) {
            let carrier = *carrier;
            if next >= MAX_CARRIERS {
                self.has_too_many = true;
                break;
            }
            match carrier {
                Carrier::Value(function, id) => self.value(next, function, id),
                Carrier::Variable(variable) => self.variable(next, variable),
                Carrier::Result(function) => {
                    let calls: Vec<_> = self.solver.view.calls_of(function).collect();
                    for (caller, offset) in calls {
                        let result = self.solver.view.index.inst(offset).result();
                        self.edge(next, Carrier::Value(caller, result), false);
                    }
                }
            }
            next += 1;
        }
        self.keep_live();
        self.pass_on();
        self.finish()
    }

    fn node(&mut self, carrier: Carrier) -> usize {
        let entry = self.nodes.entry(carrier);
        let at = entry.index();
        entry.or_default();
        at
    }

    fn edge(&mut self, from: usize, to: Carrier, is_direct: bool) {
        let to = self.node(to);
        if let Some((_, node)) = self.nodes.get_index_mut(from) {
            node.next.push((to, is_direct));
        }
    }

    fn add_source(&mut self, node: usize, source: usize, is_direct: bool) -> bool {
        let Some((_, node)) = self.nodes.get_index_mut(node) else {
            return false;
        };
        let count = node.sources.len();
        match node.sources.iter_mut().find(|carried| carried.source == source) {
            Some(carried) if carried.is_direct && !is_direct => {
                carried.is_direct = false;
                true
            }
            Some(_) => false,
            None if count < MOST_SOURCES => {
                node.sources.push(Carried { source, is_direct });
                true
            }
            None => {
                self.has_lost = true;
                false
            }
        }
    }

    /// Whether all parts of a value are certain to have an effect, from its definition on.
    fn is_observed(&mut self, function: FunctionIndex, id: Id) -> bool {
        let index = self.solver.view.index;
        let Some(paths) = leaves(index, index.type_of(id)) else {
            return false;
        };
        paths.into_iter().all(|path| {
            let item = self.solver.items.intern(Item::value(function, id, path));
            self.solver.is_observed(item)
        })
    }

    fn value(&mut self, node: usize, function: FunctionIndex, id: Id) {
        let view = self.solver.view;
        let Some(of) = view.function(function) else { return };
        let is_source = self
            .nodes
            .get_index(node)
            .is_some_and(|(_, node)| !node.sources.is_empty());
        if !is_source && self.is_observed(function, id) {
            let definition = self.solver.items.intern(Item::value(function, id, Path::new()));
            if let Some((block, offset)) = self.solver.position(definition) {
                let offset = behind_definition(of, id, block, offset);
                self.test(of, block, offset, (Carrier::Value(function, id), None));
            }
            return;
        }
        let uses: Vec<Use> = of.uses.of(id).collect();
        for at in uses {
            self.at_use(node, of, id, &at);
        }
    }

    fn at_use(&mut self, node: usize, function: &FunctionView<'a, 'w>, id: Id, at: &Use) {
        let view = self.solver.view;
        let index = view.index;
        let inst = index.inst(at.offset);
        let this = Carrier::Value(function.number, id);
        match (inst.opcode(), at.word) {
            (op::Phi, _) => self.edge(node, Carrier::Value(function.number, inst.result()), false),
            (op::FreezeKHR, _) => {}
            (op::Store, 2) if self.stores(node, function, &inst, at) => {}
            (op::FunctionCall, 4..) => {
                let parameter = parameter(index, &inst, at.word - 4);
                let is_pointer = parameter.is_none_or(|(_, of)| index.storage_class(of.result_type()).is_some());
                if let Some((callee, parameter)) = parameter.filter(|_| !is_pointer) {
                    self.edge(node, Carrier::Value(callee, parameter.result()), false);
                }
            }
            (op::ReturnValue, _) => self.edge(node, Carrier::Result(function.number), false),
            _ if is_read_by_others(&inst, at.word) => {}
            (_, word) if !self.is_kept(function, id, &inst, word) => {}
            _ if self.solver.finder.is_pure(&inst) => {
                self.edge(node, Carrier::Value(function.number, inst.result()), true);
            }
            _ => {
                let parts = self.parts_with_effects(function, id, &inst, at.word);
                if parts.as_ref().is_none_or(|parts| !parts.is_empty()) {
                    let before = index.blocks.get(at.block).map_or(at.offset, |block| block.before_end());
                    self.test(function, at.block, at.offset.min(before), (this, parts));
                }
            }
        }
    }

    /// Whether an instruction passes on the faults of this class.
    fn is_kept(&self, function: &FunctionView<'a, 'w>, id: Id, inst: &Inst<'_>, word: usize) -> bool {
        let part = ValuePart::whole(id);
        self.solver.value_class() != ValueClass::NotFinite
            || self.solver.finder.keeps_not_finite(function, &part, inst, word)
    }

    /// The parts of a value that have an effect at an instruction. `None`: all.
    fn parts_with_effects(
        &self,
        function: &FunctionView<'a, 'w>,
        id: Id,
        inst: &Inst<'_>,
        word: usize,
    ) -> Option<Vec<Path>> {
        let class = self.solver.value_class();
        if class == ValueClass::Undefined {
            return None;
        }
        let index = self.solver.view.index;
        let paths = leaves(index, index.type_of(id))?;
        let count = paths.len();
        let has_effect = |path: &Path| {
            let part = ValuePart { id, path: path.clone() };
            match class {
                ValueClass::Unstored => !self.solver.finder.is_part_of_copy(function, &part, inst, word),
                _ => self.solver.finder.keeps_not_finite(function, &part, inst, word),
            }
        };
        let kept: Vec<Path> = paths.into_iter().filter(has_effect).collect();
        (kept.len() < count).then_some(kept)
    }

    /// Follows a value that is stored to memory of the invocation. False: others may see it.
    fn stores(&mut self, node: usize, function: &FunctionView<'a, 'w>, inst: &Inst<'_>, at: &Use) -> bool {
        let Some((access, found)) = function.access_at(inst.offset) else {
            return false;
        };
        let Some(object) = function.accesses.objects.get(found.place.object) else {
            return false;
        };
        let id = inst.stored_value();
        let is_certain = self.is_certain_store(function, access, &found.place, id);
        if is_certain {
            self.test(
                function,
                at.block,
                inst.offset,
                (Carrier::Value(function.number, id), None),
            );
        } else if self.follows(function, object) {
            self.edge(node, Carrier::Variable(object.pointer), false);
        }
        true
    }

    /// Whether all parts of a stored value are certain to have an effect.
    fn is_certain_store(
        &mut self,
        function: &FunctionView<'a, 'w>,
        access: AccessIndex,
        place: &Place,
        id: Id,
    ) -> bool {
        let index = self.solver.view.index;
        let Some(paths) = leaves(index, index.type_of(id)) else {
            return false;
        };
        paths.iter().all(
            |path| match stored(function, access, place, path, &mut self.solver.items) {
                UseEffect::Becomes(items) => {
                    !items.is_empty() && items.iter().any(|item| self.solver.is_observed(*item))
                }
                _ => false,
            },
        )
    }

    /// Whether the faults of a variable are followed: all of its accesses are known, and others see it only where the stage ends.
    fn follows(&self, function: &FunctionView<'a, 'w>, object: &Object) -> bool {
        let view = self.solver.view;
        let is_own = match object.class {
            ObjectClass::Function | ObjectClass::Private | ObjectClass::Parameter(_) => true,
            ObjectClass::Output => !view.shares_outputs(function.number),
            ObjectClass::Workgroup | ObjectClass::Described(_) => false,
        };
        is_own && !object.is_escaped && has_followed_accesses(function, object)
    }

    fn variable(&mut self, node: usize, variable: Id) {
        let view = self.solver.view;
        let functions: Vec<FunctionIndex> = view.index.functions.keys().collect();
        let own = view
            .index
            .def(variable)
            .and_then(|def| function_at(view.index, def.offset));
        let functions = own.map_or(functions, |own| vec![own]);
        for number in functions {
            if let Some(function) = view.function(number) {
                self.variable_in(node, function, variable);
            }
        }
    }

    fn variable_in(&mut self, node: usize, function: &FunctionView<'a, 'w>, variable: Id) {
        let view = self.solver.view;
        let Some(object) = object_of(function, variable) else {
            return;
        };
        let Some(of) = function.accesses.objects.get(object) else {
            return;
        };
        if let ObjectClass::Parameter(position) = of.class {
            // What the function stores is what the caller finds.
            let calls: Vec<_> = view.calls_of(function.number).collect();
            for (caller, offset) in calls {
                let passed = view
                    .function(caller)
                    .and_then(|caller| passed(caller, offset, position));
                passed
                    .into_iter()
                    .for_each(|passed| self.edge(node, Carrier::Variable(passed), false));
            }
        }
        let accesses = function.accesses.accesses.iter();
        for (_, access) in accesses.filter(|(_, access)| access.place.object == object) {
            match access.kind {
                AccessKind::Load(id) => self.edge(node, Carrier::Value(function.number, id), false),
                AccessKind::CopyFrom => {
                    let target = function
                        .accesses
                        .at(access.offset)
                        .find(|other| other.kind == AccessKind::CopyTo);
                    let target = target.and_then(|target| function.accesses.objects.get(target.place.object));
                    if let Some(target) = target.filter(|target| self.follows(function, target)) {
                        self.edge(node, Carrier::Variable(target.pointer), false);
                    }
                }
                AccessKind::Argument(position) => {
                    let call = view.index.inst(access.offset);
                    if let Some((_, parameter)) = parameter(view.index, &call, position) {
                        self.edge(node, Carrier::Variable(parameter.result()), false);
                    }
                }
                _ => {}
            }
        }
        if of.class == ObjectClass::Output {
            self.at_ends(function, variable, of.ty);
        }
    }

    /// Tests an output where the stage passes it on.
    fn at_ends(&mut self, function: &FunctionView<'a, 'w>, variable: Id, ty: Id) {
        let view = self.solver.view;
        let index = view.index;
        let is_entry = view.is_entry_point(function.number);
        let first_only = self.solver.value_class() == ValueClass::Unstored;
        let parts = match first_only {
            true => leaves(index, ty).map(|paths| {
                let is_first = |path: &Path| path.last().is_none_or(|component| *component == 0);
                paths
                    .into_iter()
                    .filter(|path| path.len() < 2 && is_first(path))
                    .collect()
            }),
            false => None,
        };
        for (number, block) in function.function.blocks.iter().zip(index.blocks_of(function.function)) {
            for inst in index.insts(block.offset, block.end) {
                let is_end = match inst.opcode() {
                    op::Return => is_entry,
                    op::EmitVertex | op::EmitStreamVertex => true,
                    _ => false,
                };
                if is_end && function.graph.is_reachable(number) {
                    let carrier = (Carrier::Variable(variable), parts.clone());
                    self.test(function, number, inst.offset.min(block.before_end()), carrier);
                }
            }
        }
    }

    fn test(
        &mut self,
        function: &FunctionView<'a, 'w>,
        block: BlockIndex,
        offset: usize,
        carrier: (Carrier, Option<Vec<Path>>),
    ) {
        let test = self.tests.entry((function.number, offset)).or_insert_with(|| FlowTest {
            function: function.number,
            block,
            offset,
            carriers: Vec::new(),
            sources: SmallVec::new(),
        });
        if !test.carriers.contains(&carrier) {
            test.carriers.push(carrier);
        }
    }

    /// Marks the carriers from which a path leads to a test.
    fn keep_live(&mut self) {
        let mut before: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); self.nodes.len()];
        for (from, node) in self.nodes.values().enumerate() {
            for (to, _) in &node.next {
                if let Some(list) = before.get_mut(*to) {
                    list.push(from);
                }
            }
        }
        let tested = self.tests.values().flat_map(|test| &test.carriers);
        let mut worklist: Vec<usize> = tested
            .filter_map(|(carrier, _)| self.nodes.get_index_of(carrier))
            .collect();
        while let Some(at) = worklist.pop() {
            let Some((_, node)) = self.nodes.get_index_mut(at).filter(|(_, node)| !node.is_live) else {
                continue;
            };
            node.is_live = true;
            worklist.extend(before.get(at).into_iter().flatten().copied());
        }
    }

    /// Passes the sources on along the edges.
    fn pass_on(&mut self) {
        let mut worklist: Vec<usize> = (0..self.nodes.len()).rev().collect();
        let mut is_listed = vec![true; self.nodes.len()];
        while let Some(at) = worklist.pop() {
            if let Some(mark) = is_listed.get_mut(at) {
                *mark = false;
            }
            let Some((_, node)) = self.nodes.get_index(at) else {
                continue;
            };
            let (sources, next) = (node.sources.clone(), node.next.clone());
            for (to, is_direct) in next {
                let is_live = self.nodes.get_index(to).is_some_and(|(_, node)| node.is_live);
                let mut is_changed = false;
                for carried in sources.iter().filter(|_| is_live) {
                    is_changed |= self.add_source(to, carried.source, carried.is_direct && is_direct);
                }
                if is_changed && let Some(mark) = is_listed.get_mut(to).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push(to);
                }
            }
        }
    }

    fn finish(self) -> Flow {
        let mut tests: Vec<FlowTest> = self.tests.into_values().collect();
        for test in &mut tests {
            for (carrier, _) in &test.carriers {
                for carried in self.nodes.get(carrier).into_iter().flat_map(|node| &node.sources) {
                    match test.sources.iter_mut().find(|other| other.source == carried.source) {
                        Some(other) => other.is_direct &= carried.is_direct,
                        None => test.sources.push(*carried),
                    }
                }
            }
            test.sources.sort_by_key(|carried| carried.source);
        }
        tests.retain(|test| !test.sources.is_empty());
        let live = self
            .nodes
            .into_iter()
            .filter(|(_, node)| node.is_live && !node.sources.is_empty());
        let text = match (self.has_too_many, self.has_lost) {
            (true, _) => Some("faults travel through too many values to follow all"),
            (false, true) => Some("some values have faults of too many operations to follow all"),
            (false, false) => None,
        };
        Flow {
            carriers: live.map(|(carrier, _)| carrier).collect(),
            tests,
            given_up: text.map(ToOwned::to_owned),
        }
    }
}

/// The object of a function with a variable or parameter.
fn object_of(function: &FunctionView<'_, '_>, pointer: Id) -> Option<ObjectIndex> {
    let place = function.accesses.place(pointer)?;
    let object = function.accesses.objects.get(place.object)?;
    (object.pointer == pointer).then_some(place.object)
}

/// Whether every access of a function to an object is one whose faults are followed.
fn has_followed_accesses(function: &FunctionView<'_, '_>, object: &Object) -> bool {
    let accesses = function.accesses.accesses.values().iter();
    let mut own = accesses.filter(|access| {
        let of = function.accesses.objects.get(access.place.object);
        of.is_some_and(|of| of.pointer == object.pointer)
    });
    own.all(|access| access.kind != AccessKind::Other)
}

/// The variable or parameter of which a caller passes a pointer at a call.
fn passed(caller: &FunctionView<'_, '_>, offset: usize, position: usize) -> Option<Id> {
    let mut accesses = caller.accesses.at(offset);
    let access = accesses.find(|access| access.kind == AccessKind::Argument(position))?;
    let object = caller.accesses.objects.get(access.place.object)?;
    (!object.is_escaped && object.class != ObjectClass::Workgroup).then_some(object.pointer)
}

/// The called function and its parameter at a position.
fn parameter<'w>(index: &Index<'w>, call: &Inst<'_>, position: usize) -> Option<(FunctionIndex, Inst<'w>)> {
    let callee = index.function_of(call.callee())?;
    let function = index.functions.get(callee)?;
    let parameter = index.insts(function.offset, function.end).nth(position + 1)?;
    (parameter.opcode() == op::FunctionParameter).then_some((callee, parameter))
}

/// The word offset at which a value can be tested: behind its definition, and behind the phis or variables of the block.
fn behind_definition(function: &FunctionView<'_, '_>, id: Id, block: BlockIndex, offset: usize) -> usize {
    let index = function.index;
    let Some((def, block)) = index.def(id).zip(index.blocks.get(block)) else {
        return offset;
    };
    match def.opcode() {
        op::Phi | op::FunctionParameter => {
            let leading = index
                .body(block)
                .take_while(|inst| matches!(inst.opcode(), op::Phi | op::Variable));
            leading.last().map_or(block.offset + 2, |inst| inst.end())
        }
        _ => def.end().min(block.before_end()),
    }
}

/// The function with the instruction at a word offset. `None` for a declaration of the module.
fn function_at(index: &Index<'_>, offset: usize) -> Option<FunctionIndex> {
    let after = index
        .functions
        .values()
        .partition_point(|function| function.offset <= offset);
    let function = FunctionIndex::from_usize(after.checked_sub(1)?);
    index
        .functions
        .get(function)
        .filter(|of| offset < of.end)
        .map(|_| function)
}
