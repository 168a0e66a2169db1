//! Finds the variables in memory that have a value at an abort: no definition that reaches it leaves a part without a value.
//!
//! ```text
//! uint n;                  n has no value
//! if (c) n = 3;            n = phi(nothing, 3): not shown
//! n = f();                 shown from here on
//! ```

use super::undefined::UndefinedParts;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_analysis::view::{AccessKind, Definition, FunctionView, ModuleView, ObjectClass, Origin};
use vkabort_spirv::index::typed::{AccessIndex, BlockIndex, DefIndex, FunctionIndex, ObjectIndex, Table};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, op};

/// A variable of a function, or one of its callers that a parameter points to.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) object: ObjectIndex,
    /// The pointer.
    pub(super) id: Id,
    /// Its pointee.
    pub(super) ty: Id,
    /// Whether it has a value when the function is called.
    has_initial_value: bool,
}

/// The variables of a function in memory.
#[derive(Debug, Default)]
pub(super) struct Memories {
    pub(super) all: Vec<Memory>,
    /// Definitions that may leave a part of a variable without a value.
    without_value: Table<DefIndex, bool>,
}

/// The definitions that a part of a variable holds at a point, by its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldDefinitions(pub(super) Vec<Option<DefIndex>>);

impl HeldDefinitions {
    /// The definition, if there is one for the whole part.
    pub(super) fn only(&self) -> Option<DefIndex> {
        match self.0.as_slice() {
            [only] => *only,
            _ => None,
        }
    }

    /// Word offset of the last definition; 0 if there is none.
    pub(super) fn offset(&self, flow: &FunctionView<'_, '_>) -> usize {
        let definitions = self.definitions(flow);
        definitions.map(|found| found.offset).max().unwrap_or(0)
    }

    /// Blocks of the definitions.
    pub(super) fn blocks(&self, flow: &FunctionView<'_, '_>) -> impl Iterator<Item = BlockIndex> {
        self.definitions(flow).map(|found| found.block)
    }

    fn definitions<'f>(&self, flow: &'f FunctionView<'_, '_>) -> impl Iterator<Item = &'f Definition> {
        let found = self.0.iter().flatten();
        found.filter_map(|number| flow.memory.definitions.get(*number))
    }

    /// Whether all of it is unchanged since the function was called.
    pub(super) fn is_initial(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Memories {
    /// O(words of the function), with the cost of [`Parameters::has_value`].
    pub(super) fn new(
        view: &ModuleView<'_, '_>,
        flow: &FunctionView<'_, '_>,
        parameters: &mut Parameters,
        undefined: &UndefinedParts,
    ) -> Self {
        let mut all = Vec::new();
        let of_undefined = |access: AccessIndex| {
            let access = flow.accesses.accesses.get(access);
            access.is_some_and(|access| matches!(access.kind, AccessKind::Store(value) if undefined.has(value)))
        };
        let stored = flow
            .memory
            .definitions
            .iter()
            .filter_map(|(number, definition)| match definition.origin {
                Origin::Access(by) if of_undefined(by) => Some(number),
                _ => None,
            });
        let mut sources: Vec<DefIndex> = stored.collect();
        for (number, object) in flow.accesses.objects.iter() {
            let class = flow.index.storage_class(flow.index.type_of(object.pointer));
            if class != Some(storage_class::Function) || object.is_escaped {
                continue;
            }
            let has_initial_value = match object.class {
                ObjectClass::Function => object.initializer.is_some(),
                ObjectClass::Parameter(position) => parameters.has_value(view, flow.number, position),
                _ => continue,
            };
            all.push(Memory {
                object: number,
                id: object.pointer,
                ty: object.ty,
                has_initial_value,
            });
            if !has_initial_value {
                let cells = flow.cells.at(number, &[]).iter();
                sources.extend(cells.filter_map(|cell| flow.memory.entry(cell)));
            }
        }
        Self {
            all,
            without_value: flow.memory.holders(sources, |_| true),
        }
    }
}

impl Memory {
    /// The definitions that a part holds before the instruction at a word offset of a block.
    pub(super) fn definitions_before(
        &self,
        flow: &FunctionView<'_, '_>,
        path: &[u32],
        block: BlockIndex,
        offset: usize,
    ) -> HeldDefinitions {
        HeldDefinitions(flow.definitions_before(self.object, path, block, offset))
    }

    /// Whether every part of it has a value, on every path.
    pub(super) fn has_value(&self, memories: &Memories, held: &HeldDefinitions) -> bool {
        held.0.iter().all(|definition| match definition {
            None => self.has_initial_value,
            Some(definition) => !memories.without_value.is_set(*definition),
        })
    }
}

/// The stores to an object that a definition of a variable without memory may be: the two hold the same wherever both reach.
///
/// `described` is a definition of a variable of `DebugValue`s, `memory` one of a variable in memory. O(definitions between).
pub(super) fn is_in_sync(flow: &FunctionView<'_, '_>, described: DefIndex, memory: DefIndex) -> bool {
    let mut seen = HashSet::default();
    let mut worklist = vec![(described, memory)];
    while let Some((described, memory)) = worklist.pop() {
        if !seen.insert((described, memory)) {
            continue;
        }
        let definitions = &flow.memory.definitions;
        let (Some(one), Some(other)) = (definitions.get(described), definitions.get(memory)) else {
            return false;
        };
        match (one.origin, other.origin) {
            (Origin::Entry, Origin::Entry) => {}
            (Origin::Phi, Origin::Phi) if one.block == other.block => {
                for (from, operand) in &one.operands {
                    let Some((_, of_other)) = other.operands.iter().find(|(of, _)| of == from) else {
                        return false;
                    };
                    worklist.push((*operand, *of_other));
                }
            }
            (Origin::Access(_), _) => {
                let Some(value) = flow.stored_value(described) else {
                    return false;
                };
                let is_stored = || flow.stored_value(memory) == Some(value);
                let is_loaded = || {
                    let definition = flow.definition_of_load(value);
                    definition.is_some_and(|(read, access)| read == memory && access.place.path.is_empty())
                };
                if !is_stored() && !is_loaded() {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

/// Parameters that point to variables that have a value at every call.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    found: HashMap<(FunctionIndex, usize), bool>,
}

/// A pointer parameter, by function and position.
type Parameter = (FunctionIndex, usize);

impl Parameters {
    /// Whether every caller has stored a value where a parameter points to. The functions that pass it on are computed once, with the
    /// views of all callers.
    fn has_value(&mut self, view: &ModuleView<'_, '_>, function: FunctionIndex, position: usize) -> bool {
        if let Some(found) = self.found.get(&(function, position)) {
            return *found;
        }
        // The parameters that are passed on to each one.
        let mut passed_to: HashMap<Parameter, Vec<Parameter>> = HashMap::default();
        let mut without_value: Vec<Parameter> = Vec::new();
        let mut new: Vec<Parameter> = Vec::new();
        let mut worklist = vec![(function, position)];
        while let Some(parameter) = worklist.pop() {
            match self.found.get(&parameter) {
                Some(true) => continue,
                Some(false) if !new.contains(&parameter) => {
                    without_value.push(parameter);
                    continue;
                }
                Some(false) => continue,
                None => {}
            }
            self.found.insert(parameter, false);
            new.push(parameter);
            let mut calls = view.calls_of(parameter.0).peekable();
            if calls.peek().is_none() {
                without_value.push(parameter);
            }
            for (caller, offset) in calls {
                match passed(view, caller, offset, parameter.1) {
                    None => without_value.push(parameter),
                    Some(from) => {
                        for position in from {
                            passed_to.entry((caller, position)).or_default().push(parameter);
                            worklist.push((caller, position));
                        }
                    }
                }
            }
        }
        for parameter in &new {
            self.found.insert(*parameter, true);
        }
        while let Some(parameter) = without_value.pop() {
            self.found.insert(parameter, false);
            without_value.extend(passed_to.remove(&parameter).into_iter().flatten());
        }
        self.found.get(&(function, position)) == Some(&true)
    }
}

/// The caller's own parameters whose variables a call passes on at a position. `None` if a passed variable may have no value.
fn passed(view: &ModuleView<'_, '_>, caller: FunctionIndex, offset: usize, position: usize) -> Option<Vec<usize>> {
    let flow = view.function(caller)?;
    if !flow.graph.is_reachable(flow.block_at(offset)?) {
        return Some(Vec::new());
    }
    let mut arguments = flow.accesses.at(offset);
    let argument = arguments.find(|access| access.kind == AccessKind::Argument(position))?;
    let object = flow.accesses.objects.get(argument.place.object)?;
    if object.is_escaped || !argument.place.is_exact {
        return None;
    }
    let held = flow.definitions_before(argument.place.object, &argument.place.path, argument.block, offset);
    let is_initial = |source: &DefIndex| {
        let found = flow.memory.definitions.get(*source);
        found.is_some_and(|found| found.origin == Origin::Entry)
    };
    let is_from_start =
        held.iter().any(Option::is_none) || flow.sources(held.into_iter().flatten()).iter().any(is_initial);
    match object.class {
        _ if !is_from_start => Some(Vec::new()),
        ObjectClass::Parameter(position) => Some(vec![position]),
        ObjectClass::Function if object.initializer.is_some() => Some(Vec::new()),
        _ => None,
    }
}

/// Whether the compiler has removed a value.
pub(super) fn is_lost(flow: &FunctionView<'_, '_>, value: Id) -> bool {
    flow.index.opcode(value) == op::Undef
}
