//! Which variable of the source a name means at an abort, and where its value is, if that is certain.
//!
//! A name may be that of memory (`OpName` or `DebugDeclare`), of a value (`OpName`), or of a variable of which `DebugValue` describes
//! the values. What is not certainly the current value of the one variable in scope is left out:
//!
//! ```text
//! DebugValue n %x          if (c) { DebugValue n %y }     n = phi(x, y): shown only if memory of that name holds the same phi
//! DebugValue n %x; loop;   Store %n %y                    the memory has changed since: not shown
//! Variable %n1 "n"         Variable %n2 "n"               two variables: without scopes, neither is shown
//! ```

use super::condition::left_loop;
use super::stores::{Held, Memories, Memory, is_in_sync, is_lost, stored_value};
use super::variables::{Candidate, Source, of_memory};
use crate::analysis::expressions::Expressions;
use crate::analysis::index::debug::{LocalVariable, Position};
use crate::analysis::index::typed::{BlockIndex, DefIndex, ObjectIndex};
use crate::analysis::loop_nest::Loop;
use crate::analysis::view::{AccessKind, FunctionView, MemoryUse, Origin};
use crate::spv::words::GENERATOR;
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet};
use std::collections::BTreeMap;

/// The generator that keeps variables in memory only between blocks and gives values their names.
const SLANG: u32 = 40;

/// An abort, and the operation that its planted check is of.
pub(super) struct Point<'p, 'a, 'w> {
    pub(super) flow: &'p FunctionView<'a, 'w>,
    pub(super) names: &'p Expressions<'a, 'w>,
    pub(super) position: &'p Position<'w>,
    pub(super) block: BlockIndex,
    pub(super) offset: usize,
    /// Block and word offset of the operation, and the loop that has it but not the abort.
    pub(super) operation: Option<(BlockIndex, usize, Option<&'p Loop>)>,
}

impl Point<'_, '_, '_> {
    /// Whether the operation has seen what memory holds at the abort.
    pub(super) fn saw_memory(&self, memory: &Memory, path: &[u32], held: &Held) -> bool {
        self.operation.is_none_or(|(block, offset, left)| {
            let is_outside = |block: BlockIndex| left.is_none_or(|left| !left.blocks.contains(&block));
            memory.held(self.flow, path, block, offset) == *held && held.blocks(self.flow).all(is_outside)
        })
    }

    /// Whether the operation has seen the value that the instruction at a word offset computes.
    pub(super) fn saw_value(&self, defined: usize) -> bool {
        self.operation.is_none_or(|(block, offset, left)| {
            let Some(at) = self.flow.block_at(defined) else {
                return true;
            };
            let is_before = if at == block {
                defined < offset
            } else {
                self.flow.graph.dominates(at, block)
            };
            is_before && left.is_none_or(|left| !left.blocks.contains(&at))
        })
    }
}

/// The variables of a function by their names.
#[derive(Debug, Default)]
pub(super) struct NamedVariables {
    groups: BTreeMap<String, Group>,
    /// By the pointer of a `DebugDeclare`.
    declared: HashMap<Id, LocalVariable>,
    has_lexical_blocks: bool,
    is_slang: bool,
}

/// What has one name.
#[derive(Debug, Default)]
struct Group {
    /// Positions of variables in memory.
    memories: Vec<usize>,
    /// Variables, or parts of them, that `DebugValue`s describe.
    described: Vec<(ObjectIndex, LocalVariable)>,
    /// Values, in module order.
    values: Vec<Id>,
}

impl NamedVariables {
    pub(super) fn new(flow: &FunctionView<'_, '_>, names: &Expressions<'_, '_>, memories: &Memories) -> Self {
        let index = flow.index;
        let mut found = Self {
            has_lexical_blocks: index.has_lexical_blocks(),
            is_slang: index.words.get(GENERATOR).is_some_and(|word| word >> 16 == SLANG),
            ..Self::default()
        };
        found.read(flow, names);
        for (position, memory) in memories.all.iter().enumerate() {
            let declared = found.declared.get(&memory.id);
            // A made-up name in front of a declared one: a copy for debuggers, which may be stale.
            let has_name = names.names.name(index, memory.id).is_some();
            let of_declaration = || declared.filter(|_| !has_name).map(|variable| variable.name.clone());
            if let Some(name) = names.variable(memory.id).or_else(of_declaration) {
                found.groups.entry(name).or_default().memories.push(position);
            }
        }
        for (object, variable) in &flow.accesses.described {
            let group = found.groups.entry(whole(&variable.name).to_owned()).or_default();
            group.described.push((*object, variable.clone()));
        }
        found
    }

    /// Finds the named values and the declarations.
    fn read(&mut self, flow: &FunctionView<'_, '_>, names: &Expressions<'_, '_>) {
        let index = flow.index;
        let first = index
            .blocks_of(flow.function)
            .first()
            .map_or(flow.function.end, |block| block.offset);
        let parameters = index.insts(flow.function.offset, first);
        let mut add = |inst: &Inst<'_>| {
            let id = inst.result();
            let is_value = id.is_some() && index.storage_class(inst.result_type()).is_none();
            if let Some(name) = is_value.then(|| names.variable(id)).flatten() {
                self.groups.entry(name).or_default().values.push(id);
            }
        };
        parameters
            .filter(|inst| inst.opcode() == op::FunctionParameter)
            .for_each(|inst| add(&inst));
        for block in index.blocks_of(flow.function) {
            let mut position = Position::default();
            for inst in index.body(block) {
                if !index.is_debug_inst(&inst) {
                    add(&inst);
                    continue;
                }
                index.advance(&mut position, inst.offset, inst.end());
                let described = index.described_variable(&inst, &position);
                if let Some(of) = described.filter(|of| of.is_declaration) {
                    self.declared.insert(of.value, of.variable);
                }
            }
        }
    }

    /// The variables at a point.
    pub(super) fn at(&self, point: &Point<'_, '_, '_>, memories: &Memories) -> Vec<Candidate> {
        let groups = self.groups.iter();
        let found = groups.flat_map(|(name, group)| {
            let of_group = group.memories.iter().filter_map(|at| memories.all.get(*at)).collect();
            let resolver = Resolver {
                variables: self,
                point,
                memories,
                name,
                of_group,
            };
            let is_declared = resolver
                .of_group
                .iter()
                .any(|memory| self.declared.contains_key(&memory.id));
            match group.described.is_empty() && !is_declared {
                true => resolver.undescribed(&group.values),
                false => resolver.described(&group.described),
            }
        });
        found.collect()
    }
}

/// The variable of which a name with members or elements names a part.
fn whole(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}

/// Finds what one name means at a point.
struct Resolver<'r, 'p, 'a, 'w> {
    variables: &'r NamedVariables,
    point: &'r Point<'p, 'a, 'w>,
    memories: &'r Memories,
    name: &'r str,
    /// The memory of that name.
    of_group: Vec<&'r Memory>,
}

impl Resolver<'_, '_, '_, '_> {
    /// A name that debug information describes.
    fn described(&self, described: &[(ObjectIndex, LocalVariable)]) -> Vec<Candidate> {
        let (index, position) = (self.point.flow.index, self.point.position);
        let declared = |memory: &Memory| self.variables.declared.get(&memory.id);
        let variables = described.iter().map(|(_, variable)| variable);
        let variables = variables.chain(self.of_group.iter().filter_map(|memory| declared(memory)));
        let distance = |variable: &LocalVariable| variable.distance(index, position).unwrap_or(0);
        let mut in_scope: Vec<&LocalVariable> = Vec::new();
        for variable in variables.filter(|variable| variable.is_in_scope(index, position)) {
            if !in_scope.iter().any(|other| other.is_of_same(variable)) {
                in_scope.push(variable);
            }
        }
        // The innermost one shadows the others.
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
        let mut found = in_scope.into_iter().map(of_variable).filter(|found| !found.is_empty());
        match (found.next(), found.next()) {
            (Some(only), None) => only,
            _ => Vec::new(),
        }
    }

    /// A variable, or the parts of it, of which `DebugValue`s describe the values.
    fn of_descriptions(&self, described: &[(ObjectIndex, LocalVariable)], variable: &LocalVariable) -> Vec<Candidate> {
        let Point {
            flow, block, offset, ..
        } = *self.point;
        let held = |object: ObjectIndex| flow.held(object, &[], block, offset).first().copied().flatten();
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
                let at_operation = flow.held(*object, &[], block, offset).first().copied().flatten();
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
                .held(flow, &[], self.point.block, self.point.offset)
                .only()
                .map(|held| (*only, held)),
            _ => None,
        };
        let in_sync = memory.filter(|(_, held)| is_in_sync(flow, definition, *held));
        match (found.origin, in_sync) {
            (Origin::Access(_), _) => {
                let value = stored_value(flow, definition)?;
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
                let is_whole = !has_undefined_part(flow, value);
                let is_shown = flow.reaches(value, self.point.block) && !is_specialized && is_whole && !is_replaced();
                let is_live = || {
                    self.is_live(found.block, |left| self.is_used_outside(value, left))
                        && (self.variables.is_slang || self.is_used_behind(value))
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

    /// A name that only `OpName` gives.
    fn undescribed(&self, values: &[Id]) -> Vec<Candidate> {
        let (flow, block) = (self.point.flow, self.point.block);
        // Variables to which nothing has been stored yet.
        let has_nothing = |memory: &Memory| {
            let held = memory.held(flow, &[], block, self.point.offset);
            held.is_initial() && !memory.has_value(self.memories, &held)
        };
        let memories: Vec<&Memory> = self
            .of_group
            .iter()
            .copied()
            .filter(|memory| !has_nothing(memory))
            .collect();
        match (memories.as_slice(), values) {
            ([memory], []) if !self.is_pending(memory) => self.of_memory(memory),
            ([], [value]) => Vec::from_iter(self.of_value(*value)),
            ([memory], values) if !values.is_empty() => self.of_memory_or_value(memory, values),
            _ => Vec::new(),
        }
    }

    /// Memory that some of the named values are stored to: the newest of both.
    fn of_memory_or_value(&self, memory: &Memory, values: &[Id]) -> Vec<Candidate> {
        let Point {
            flow, block, offset, ..
        } = *self.point;
        let Some(held) = memory.held(flow, &[], block, offset).only() else {
            return Vec::new();
        };
        let is_of_memory = |value: &Id| {
            let is_loaded = flow
                .load(*value)
                .is_some_and(|(_, load)| load.place.object == memory.object);
            is_loaded
                || flow.uses.of(*value).any(|at| {
                    let mut stores = flow.accesses.at(at.offset);
                    stores.any(|store| store.place.object == memory.object && store.kind == AccessKind::Store(*value))
                })
        };
        if !values.iter().all(is_of_memory) {
            return Vec::new();
        }
        let reaching = values.iter().filter(|value| flow.reaches(**value, block));
        let newest = reaching
            .filter_map(|value| Some((flow.index.def(*value)?.offset, *value)))
            .max();
        let Some((defined, value)) = newest else {
            return match self.is_pending(memory) {
                true => Vec::new(),
                false => self.of_memory(memory),
            };
        };
        if stored_value(flow, held) == Some(value) {
            return self.of_memory(memory);
        }
        let (Some(at), Some(of_memory)) = (flow.block_at(defined), flow.memory.definitions.get(held)) else {
            return Vec::new();
        };
        let is_newer = match of_memory.block == at {
            true => of_memory.offset > defined,
            false => flow.graph.dominates(at, of_memory.block),
        };
        if is_newer {
            return match self.is_pending(memory) {
                true => Vec::new(),
                false => self.of_memory(memory),
            };
        }
        // Another value of the name may have come after it on some path.
        let is_other = |other: &Id| {
            let of_other = flow.block_of(*other);
            !flow.reaches(*other, block) && of_other.is_some_and(|other| flow.graph.dominates(at, other))
        };
        match flow.graph.dominates(of_memory.block, at) && !values.iter().any(is_other) {
            true => Vec::from_iter(self.of_value(value)),
            false => Vec::new(),
        }
    }

    fn of_value(&self, value: Id) -> Option<Candidate> {
        let (flow, block) = (self.point.flow, self.point.block);
        let defined = flow.index.def(value)?;
        if !flow.reaches(value, block) || !self.point.saw_value(defined.offset) {
            return None;
        }
        // The next value of a loop's variable has been computed.
        let is_next = |(next, _): (Id, Id)| {
            next != value && (flow.index.opcode(next) != op::Phi || flow.block_of(next) != flow.block_of(value)) && {
                let at = flow.block_of(next);
                at.is_some_and(|at| Some(at) != flow.block_of(value) && flow.reaches(next, block))
                    && flow
                        .block_of(value)
                        .zip(at)
                        .is_some_and(|(of, at)| flow.graph.dominates(of, at))
            }
        };
        let is_stale = defined.opcode() == op::Phi && defined.phi_pairs().any(is_next);
        let at = flow.block_of(value)?;
        let is_live = self.is_live(at, |left| self.is_used_outside(value, left));
        (!is_stale && is_live).then(|| Candidate {
            name: self.name.to_owned(),
            source: Source::Value(value),
            offset: defined.offset,
        })
    }

    fn of_memory(&self, memory: &Memory) -> Vec<Candidate> {
        let flow = self.point.flow;
        let held = memory.held(flow, &[], self.point.block, self.point.offset);
        let is_live = |definition: &DefIndex| {
            let at = flow.memory.definitions.get(*definition).map(|found| found.block);
            at.is_none_or(|at| self.is_live(at, |left| self.is_read_outside(*definition, left)))
        };
        match held.0.iter().flatten().any(is_live) || held.is_initial() {
            true => of_memory(self.point, self.memories, self.name, memory),
            false => Vec::new(),
        }
    }

    /// Whether the compiler stores a value to the variable only later that the source may have assigned already: Slang writes variables
    /// at the end of blocks.
    fn is_pending(&self, memory: &Memory) -> bool {
        let (flow, block) = (self.point.flow, self.point.block);
        let stores = flow
            .accesses
            .accesses
            .values()
            .iter()
            .filter(|access| access.place.object == memory.object);
        self.variables.is_slang
            && stores.into_iter().any(|access| match access.kind {
                AccessKind::Store(value) => !flow.graph.dominates(access.block, block) && flow.reaches(value, block),
                _ => false,
            })
    }

    /// Whether a variable that is defined in a block is in scope: a loop that has the block but not the abort may have declared it.
    /// Where debug information has lexical blocks, scopes tell. Elsewhere a use behind the loop does.
    fn is_live(&self, defined: BlockIndex, is_used_outside: impl FnOnce(&Loop) -> bool) -> bool {
        let is_scoped = self.variables.has_lexical_blocks && self.point.flow.index.has_debug_info();
        is_scoped || left_loop(self.point.flow, defined, self.point.block).is_none_or(is_used_outside)
    }

    /// Whether a value is used where the abort is not taken, or by the abort. `spirv-opt` removes the assignments, with their
    /// descriptions, of variables that are not used any more: the last value that is left is then not the current one.
    fn is_used_behind(&self, value: Id) -> bool {
        let Point { flow, block, .. } = *self.point;
        let above = flow.graph.immediate_dominator(block);
        let is_behind =
            |at: BlockIndex| at == block || above.is_none_or(|above| at != above && flow.graph.dominates(above, at));
        flow.uses.of(value).any(|at| is_behind(at.block))
    }

    fn is_used_outside(&self, value: Id, left: &Loop) -> bool {
        let mut uses = self.point.flow.uses.of(value);
        uses.any(|at| !left.blocks.contains(&at.block))
    }

    /// Whether a definition of memory is read outside a loop.
    fn is_read_outside(&self, definition: DefIndex, left: &Loop) -> bool {
        let flow = self.point.flow;
        let mut seen = FxHashSet::default();
        let mut worklist = vec![definition];
        while let Some(number) = worklist.pop() {
            if !seen.insert(number) {
                continue;
            }
            for by in flow.memory.uses(number) {
                match by {
                    MemoryUse::Read(by) => {
                        let access = flow.accesses.accesses.get(by);
                        if access.is_some_and(|access| !left.blocks.contains(&access.block)) {
                            return true;
                        }
                    }
                    MemoryUse::Seen(event) if !left.blocks.contains(&event.block) => return true,
                    MemoryUse::Seen(_) => {}
                    MemoryUse::Phi(next, _) | MemoryUse::Changed(next) => {
                        let at = flow.memory.definitions.get(next).map(|found| found.block);
                        if at.is_some_and(|at| !left.blocks.contains(&at)) {
                            worklist.push(next);
                        }
                    }
                }
            }
        }
        false
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

/// Whether a value is put together with parts that are undefined, as `spirv-opt` leaves of those that nothing reads. Operands come
/// before their composite; it stops at others.
fn has_undefined_part(flow: &FunctionView<'_, '_>, value: Id) -> bool {
    let mut seen = FxHashSet::default();
    let mut worklist = vec![value];
    while let Some(id) = worklist.pop() {
        let Some(inst) = flow.index.def(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        let count = match inst.opcode() {
            op::Undef => return true,
            op::CompositeConstruct => inst.words.len().saturating_sub(3),
            op::CompositeInsert | op::VectorShuffle => 2,
            op::CopyObject => 1,
            _ => continue,
        };
        worklist.extend(inst.ids(3).take(count));
    }
    false
}
