//! The ranges of parameters: those of the arguments of all calls.

use super::interval::Range;
use super::rules::integer_bits;
use super::{RangePoint, Ranges};
use crate::analysis::effects::component_count;
use crate::analysis::index::Index;
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::view::AccessKind;
use crate::analysis::view::path::Path;
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The ranges of parameters that are integers or vectors of integers, or that point to such, by component.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    ranges: HashMap<(Id, Path), Range>,
    /// Functions whose parameters are known.
    found: HashSet<FunctionIndex>,
    /// Position of each function in an order with callers before callees. Functions of recursions have none.
    order: HashMap<FunctionIndex, usize>,
}

/// A parameter of integers.
struct Parameter {
    id: Id,
    position: usize,
    is_pointer: bool,
    /// Its components, or the whole.
    parts: Vec<Path>,
}

impl Parameters {
    /// The range of a part of what a parameter is, or of what it points to when the function is called.
    pub(super) fn get(&self, parameter: Id, path: &Path) -> Option<Range> {
        self.ranges.get(&(parameter, path.clone())).copied()
    }
}

impl Ranges<'_, '_, '_> {
    /// Finds the ranges of the parameters of a function, and of those that call it. O(calls of these functions) questions.
    pub(super) fn find_parameters(&mut self, function: FunctionIndex) {
        let graph = &self.view.graph;
        if self.parameters.order.is_empty() {
            let (order, _) = graph.callees_first();
            self.parameters.order = order.into_iter().rev().zip(0..).collect();
        }
        let mut worklist = vec![function];
        let mut new = Vec::new();
        while let Some(number) = worklist.pop() {
            let is_ordered = self.parameters.order.contains_key(&number);
            if is_ordered && self.parameters.found.insert(number) {
                let parameters = integer_parameters(self.view.index, number);
                if !parameters.is_empty() {
                    worklist.extend(self.view.calls_of(number).map(|(caller, _)| caller));
                    new.push((number, parameters));
                }
            }
        }
        new.sort_by_key(|(number, _)| self.parameters.order.get(number).copied());
        for (number, parameters) in new {
            let calls: Vec<(FunctionIndex, usize)> = self.view.calls_of(number).collect();
            for parameter in &parameters {
                for part in &parameter.parts {
                    let arguments = calls.iter().filter_map(|call| self.argument(*call, parameter, part));
                    let joined = arguments.reduce(|one, other| Some(one?.join(other?)));
                    if let Some(range) = joined.flatten() {
                        self.parameters.ranges.insert((parameter.id, part.clone()), range);
                    }
                }
            }
        }
    }

    /// The range of an argument. `None`: the call is never made; nothing is known.
    fn argument(
        &mut self,
        (caller, offset): (FunctionIndex, usize),
        parameter: &Parameter,
        part: &Path,
    ) -> Option<Option<Range>> {
        let Some(function) = self.view.function(caller) else {
            return Some(None);
        };
        let block = function.block_at(offset)?;
        if !function.graph.is_reachable(block) {
            return None;
        }
        let Some(call) = function.index.insts(offset, function.function.end).next() else {
            return Some(None);
        };
        let point = RangePoint {
            function,
            block,
            facts: super::Facts::default(),
        };
        let argument = call.ids(4).nth(parameter.position)?;
        if !parameter.is_pointer {
            return Some(Some(self.range(&point, argument, part.first().copied())));
        }
        let passed = function
            .accesses
            .at(offset)
            .find(|access| access.kind == AccessKind::Argument(parameter.position) && access.place.is_exact);
        let Some(place) = passed.map(|access| &access.place) else {
            return Some(None);
        };
        let path: Path = place.path.iter().chain(part).copied().collect();
        let seen = function.memory.seen_by_event(offset);
        let mut held = seen.filter(|definition| function.cell_has(*definition, place.object, &path));
        let definition = held.next().filter(|_| held.next().is_none());
        Some(definition.map(|definition| self.range_held(&point, definition, path)))
    }
}

/// The parameters of integers of a function.
fn integer_parameters(index: &Index<'_>, number: FunctionIndex) -> Vec<Parameter> {
    let Some(function) = index.functions.get(number) else {
        return Vec::new();
    };
    let first = index.blocks_of(function).first();
    let end = first.map_or(function.end, |block| block.offset);
    let parameters = index.insts(function.offset, end);
    let parameters = parameters.filter(|inst| inst.opcode() == op::FunctionParameter);
    let parameter = |(position, inst): (usize, Inst<'_>)| {
        let ty = index.def(inst.result_type())?;
        let is_pointer = ty.opcode() == op::TypePointer;
        let ty = if is_pointer { ty.pointee() } else { ty.result() };
        integer_bits(index, ty)?;
        let parts: Vec<Path> = match index.opcode(ty) == op::TypeVector {
            true => (0..component_count(index, ty))
                .map(|part| std::iter::once(part).collect())
                .collect(),
            false => vec![Path::new()],
        };
        Some(Parameter {
            id: inst.result(),
            position,
            is_pointer,
            parts,
        })
    };
    parameters.enumerate().filter_map(parameter).collect()
}
