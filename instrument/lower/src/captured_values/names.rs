//! Resolves names of the source to variables at an abort, and to their values if they are certain.
//!
//! A name may be that of memory (`OpName` or `DebugDeclare`), of a value (`OpName`), or of a variable of which `DebugValue` describes
//! the values. A value is left out unless it is certainly the current value of the one variable in scope:
//!
//! ```text
//! DebugValue n %x          if (c) { DebugValue n %y }     n = phi(x, y): shown only if memory of that name holds the same phi
//! DebugValue n %x; loop;   Store %n %y                    the memory has changed since: not shown
//! Variable %n1 "n"         Variable %n2 "n"               two variables: without scopes, neither is shown
//! ```

use super::candidate::{Candidate, Point};
use super::resolver::{DebugFacts, Resolver};
use super::source_scopes::SourceScopes;
use super::stores::Memories;
use super::undefined::UndefinedParts;
use std::collections::BTreeMap;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::view::FunctionView;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::debug_variables::LocalVariable;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::typed::ObjectIndex;
use vkabort_spirv::{Id, Inst, op};

/// The variables of a function by their names.
#[derive(Debug, Default)]
pub(super) struct NamedVariables {
    groups: BTreeMap<String, Group>,
    debug: DebugFacts,
}

/// Variables and values of one name.
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
    pub(super) fn new(
        flow: &FunctionView<'_, '_>,
        names: &Expressions<'_, '_>,
        memories: &Memories,
        undefined: UndefinedParts,
        texts: &mut Texts,
    ) -> Self {
        let index = flow.index;
        let mut found = Self {
            debug: DebugFacts::new(index, undefined),
            ..Self::default()
        };
        found.read(flow, names);
        if !found.debug.has_lexical_blocks && index.has_debug_info() {
            let described = flow.accesses.described.iter().map(|(_, variable)| variable);
            let variables = described.chain(found.debug.declared.values());
            found.debug.scopes = Some(SourceScopes::new(flow, variables, texts));
        }
        for (position, memory) in memories.all.iter().enumerate() {
            let declared = found.debug.declared.get(&memory.id);
            // A made-up name in front of a declared one: a copy for debuggers, which may be stale.
            let has_name = names.names.name(index, memory.id).is_some();
            let of_declaration = || declared.filter(|_| !has_name).map(|variable| variable.name.clone());
            if let Some(name) = names.variable(memory.id).or_else(of_declaration) {
                found.groups.entry(name).or_default().memories.push(position);
            }
        }
        for (object, variable) in &flow.accesses.described {
            let group = found.groups.entry(variable.whole_name().to_owned()).or_default();
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
                    self.debug.declared.insert(of.value, of.variable);
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
                debug: &self.debug,
                point,
                memories,
                name,
                of_group,
            };
            let is_declared = resolver
                .of_group
                .iter()
                .any(|memory| self.debug.declared.contains_key(&memory.id));
            match group.described.is_empty() && !is_declared {
                true => resolver.undescribed(&group.values),
                false => resolver.described(&group.described),
            }
        });
        found.collect()
    }
}
