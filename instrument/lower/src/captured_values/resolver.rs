//! Resolves one name at an abort.

use super::candidate::{Candidate, Point, Source, of_memory};
use super::source_scopes::SourceScopes;
use super::stores::{Memories, Memory, is_in_sync, is_lost};
use super::undefined::UndefinedParts;
use rustc_hash::FxHashMap as HashMap;
use vkabort_analysis::view::Origin;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::debug_variables::LocalVariable;
use vkabort_spirv::index::typed::{DefIndex, ObjectIndex};
use vkabort_spirv::words::SLANG;
use vkabort_spirv::{Id, op};

/// Facts of a module's debug information about variables.
#[derive(Debug, Default)]
pub(super) struct DebugFacts {
    /// By the pointer of a `DebugDeclare`.
    pub(super) declared: HashMap<Id, LocalVariable>,
    pub(super) has_lexical_blocks: bool,
    pub(super) is_slang: bool,
    /// Scopes of the source text, if debug information does not describe them.
    pub(super) scopes: Option<SourceScopes>,
    pub(super) undefined: UndefinedParts,
}

impl DebugFacts {
    pub(super) fn new(index: &Index<'_>, undefined: UndefinedParts) -> Self {
        Self {
            declared: HashMap::default(),
            has_lexical_blocks: index.has_lexical_blocks(),
            is_slang: index.generator() == SLANG,
            scopes: None,
            undefined,
        }
    }
}

/// Resolves one name at a point.
pub(super) struct Resolver<'r, 'p, 'a, 'w> {
    pub(super) debug: &'r DebugFacts,
    pub(super) point: &'r Point<'p, 'a, 'w>,
    pub(super) memories: &'r Memories,
    pub(super) name: &'r str,
    /// The memory of that name.
    pub(super) of_group: Vec<&'r Memory>,
}

impl Resolver<'_, '_, '_, '_> {
    /// A name that debug information describes.
    pub(super) fn described(&self, described: &[(ObjectIndex, LocalVariable)]) -> Vec<Candidate> {
        let (index, position) = (self.point.flow.index, self.point.position);
        let declared = |memory: &Memory| self.debug.declared.get(&memory.id);
        let variables = described.iter().map(|(_, variable)| variable);
        let variables = variables.chain(self.of_group.iter().filter_map(|memory| declared(memory)));
        let mut in_scope: Vec<&LocalVariable> = Vec::new();
        for variable in variables.filter(|variable| self.is_in_scope(variable)) {
            if !in_scope.iter().any(|other| other.is_of_same(variable)) {
                in_scope.push(variable);
            }
        }
        // The innermost one shadows the others.
        let distance = |variable: &LocalVariable| match &self.debug.scopes {
            Some(scopes) if self.debug.is_slang => {
                usize::MAX - scopes.declared(variable, self.point.offset).unwrap_or(0)
            }
            _ => variable.distance(index, position).unwrap_or(0),
        };
        let nearest = in_scope.iter().map(|variable| distance(variable)).min();
        in_scope.retain(|variable| Some(distance(variable)) == nearest);
        let of_variable = |variable: &LocalVariable| {
            let memory = self
                .of_group
                .iter()
                .find(|memory| declared(memory).is_some_and(|of| of.is_of_same(variable)));
            match memory {
                Some(memory) => self.of_memory(memory),
                None => self.of_descriptions(described, variable),
            }
        };
        let found = in_scope.iter().map(|variable| (of_variable(variable), *variable));
        let (mut found, others): (Vec<_>, Vec<_>) = found.partition(|(found, _)| !found.is_empty());
        // One whose value is not known may shadow it.
        let is_hidden = others
            .iter()
            .any(|(_, variable)| self.is_described(described, variable));
        match found.pop() {
            Some((only, _)) if found.is_empty() && !is_hidden => only,
            _ => Vec::new(),
        }
    }

    /// Whether a `DebugValue` of a variable may be the last one before the abort.
    fn is_described(&self, described: &[(ObjectIndex, LocalVariable)], variable: &LocalVariable) -> bool {
        let Point {
            flow, block, offset, ..
        } = *self.point;
        let parts = described.iter().filter(|(_, of)| of.is_of_same(variable));
        let mut held = parts.flat_map(|(object, _)| flow.definitions_before(*object, &[], block, offset));
        held.any(|definition| {
            let definition = definition.and_then(|definition| flow.memory.definitions.get(definition));
            definition.is_some_and(|definition| definition.origin != Origin::Entry)
        })
    }

    fn is_in_scope(&self, variable: &LocalVariable) -> bool {
        let (index, position) = (self.point.flow.index, self.point.position);
        let scopes = self.debug.scopes.as_ref().filter(|_| !variable.is_parameter(index));
        let is_declared = scopes.is_none_or(|scopes| match self.debug.is_slang {
            true => scopes.declared(variable, self.point.offset).is_some(),
            false => !scopes.has_left(variable, self.point.offset),
        });
        is_declared && variable.is_in_scope(index, position)
    }

    /// A variable, or the parts of it, of which `DebugValue`s describe the values.
    fn of_descriptions(&self, described: &[(ObjectIndex, LocalVariable)], variable: &LocalVariable) -> Vec<Candidate> {
        let Point {
            flow, block, offset, ..
        } = *self.point;
        let held = |object: ObjectIndex| {
            flow.definitions_before(object, &[], block, offset)
                .first()
                .copied()
                .flatten()
        };
        let parts = described
            .iter()
            .filter(|(_, of)| of.is_of_same(variable) && !of.is_element);
        let parts = parts.filter_map(|(object, of)| Some((of, *object, held(*object)?)));
        let parts: Vec<(&LocalVariable, ObjectIndex, DefIndex)> = parts.collect();
        let found = parts.iter().filter_map(|(of, object, definition)| {
            let is_replaced = parts.iter().any(|(other, _, by)| {
                let overlaps = other.name.starts_with(&of.name) || of.name.starts_with(&other.name);
                of.name != other.name && overlaps && !self.is_before(*by, *definition)
            });
            let saw = self.point.operation.is_none_or(|(block, offset, left)| {
                let at_operation = flow
                    .definitions_before(*object, &[], block, offset)
                    .first()
                    .copied()
                    .flatten();
                let defined = flow.memory.definitions.get(*definition).map(|found| found.block);
                at_operation == Some(*definition)
                    && left.is_none_or(|left| defined.is_none_or(|block| !left.blocks.contains(&block)))
            });
            (!is_replaced && saw)
                .then(|| self.of_definition(&of.name, *definition))
                .flatten()
        });
        found.collect()
    }

    /// A definition of a variable by `DebugValue`s.
    fn of_definition(&self, name: &str, definition: DefIndex) -> Option<Candidate> {
        let flow = self.point.flow;
        let found = flow.memory.definitions.get(definition)?;
        let memory = match self.of_group.as_slice() {
            [only] => only
                .definitions_before(flow, &[], self.point.block, self.point.offset)
                .only()
                .map(|held| (*only, held)),
            _ => None,
        };
        let in_sync = memory.filter(|(_, held)| is_in_sync(flow, definition, *held));
        match (found.origin, in_sync) {
            (Origin::Access(_), _) => {
                let value = flow.stored_value(definition)?;
                if is_lost(flow, value) {
                    return Some(Candidate {
                        name: name.to_owned(),
                        source: Source::Lost,
                        offset: found.offset,
                    });
                }
                let is_replaced = || {
                    let by = memory.filter(|_| in_sync.is_none());
                    by.is_some_and(|(_, held)| !self.is_before(held, definition))
                        || in_sync.is_none() && self.of_group.len() > 1
                };
                // Reports list the specialisation constants of every pipeline.
                let is_specialized = matches!(flow.index.opcode(value), op::SpecConstantTrue..=op::SpecConstantOp);
                let is_whole = !self.debug.undefined.has(value);
                let is_shown = flow.reaches(value, self.point.block) && !is_specialized && is_whole && !is_replaced();
                let is_live = || {
                    self.is_live(found.block, |left| self.is_used_outside(value, left))
                        && (self.debug.is_slang || self.is_used_behind(value))
                };
                (is_shown && is_live()).then(|| Candidate {
                    name: name.to_owned(),
                    source: Source::Value(value),
                    offset: found.offset,
                })
            }
            (Origin::Phi, Some((memory, held))) => {
                let is_live = self.is_live(found.block, |left| self.is_read_outside(held, left));
                is_live
                    .then(|| of_memory(self.point, self.memories, name, memory).into_iter().next())
                    .flatten()
            }
            _ => None,
        }
    }

    pub(super) fn of_memory(&self, memory: &Memory) -> Vec<Candidate> {
        let flow = self.point.flow;
        let held = memory.definitions_before(flow, &[], self.point.block, self.point.offset);
        let is_live = |definition: &DefIndex| {
            let at = flow.memory.definitions.get(*definition).map(|found| found.block);
            at.is_none_or(|at| self.is_live(at, |left| self.is_read_outside(*definition, left)))
        };
        match held.0.iter().flatten().any(is_live) || held.is_initial() {
            true => of_memory(self.point, self.memories, self.name, memory),
            false => Vec::new(),
        }
    }

    /// Whether a definition comes before another one on every path.
    fn is_before(&self, one: DefIndex, other: DefIndex) -> bool {
        let flow = self.point.flow;
        let definitions = &flow.memory.definitions;
        let (Some(one), Some(other)) = (definitions.get(one), definitions.get(other)) else {
            return true;
        };
        match one.block == other.block {
            true => one.offset <= other.offset,
            false => flow.graph.dominates(one.block, other.block),
        }
    }
}
