//! Variables that debug information describes: `DebugDeclare` names memory, `DebugValue` the value of a variable from there on.

use super::function::FunctionFlow;
use crate::analysis::index::Index;
use crate::analysis::index::debug::{LocalVariable, Position};
use crate::analysis::index::typed::Node;
use crate::spv::{Id, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The descriptions in a function.
#[derive(Debug, Default)]
pub(super) struct DebugVariables {
    /// By the pointer of a `DebugDeclare`.
    declared: HashMap<Id, LocalVariable>,
    /// By variable.
    values: Vec<DebugVariable>,
}

/// A variable without memory.
#[derive(Debug)]
struct DebugVariable {
    variable: LocalVariable,
    /// In the order of the module.
    values: Vec<DebugValue>,
}

/// A value of a variable from a point on.
#[derive(Clone, Copy, Debug)]
struct DebugValue {
    node: Node,
    offset: usize,
    value: Id,
}

/// A variable at an abort.
#[derive(Clone, Debug)]
pub(super) struct ValueAtAbort {
    pub(super) name: String,
    pub(super) offset: usize,
    /// `None` if the compiler has removed it.
    pub(super) value: Option<Id>,
}

impl DebugVariables {
    pub(super) fn new(flow: &FunctionFlow<'_, '_>) -> Self {
        let index = flow.index;
        let mut all = Self::default();
        if !index.has_debug_info() {
            return all;
        }
        for (number, block) in index.blocks_of(flow.function).iter().enumerate() {
            let mut position = Position::default();
            for inst in index.body(block) {
                index.advance(&mut position, inst.offset, inst.end());
                let Some(of) = index.described_variable(&inst, &position) else {
                    continue;
                };
                if of.is_declaration {
                    all.declared.insert(of.value, of.variable);
                    continue;
                }
                let value = DebugValue {
                    node: Node::from_usize(number),
                    offset: inst.offset,
                    value: of.value,
                };
                match all.values.iter_mut().find(|other| other.variable == of.variable) {
                    Some(other) => other.values.push(value),
                    None => all.values.push(DebugVariable {
                        variable: of.variable,
                        values: vec![value],
                    }),
                }
            }
        }
        all
    }

    /// The variable that a pointer is the memory of.
    pub(super) fn declared(&self, pointer: Id) -> Option<&LocalVariable> {
        self.declared.get(&pointer)
    }

    /// Whether a value that only an `OpName` connects with the variables described under this name is of one in scope. True if
    /// none is described.
    pub(super) fn is_name_in_scope(&self, index: &Index<'_>, position: &Position<'_>, name: &str) -> bool {
        let values = self.values.iter().map(|of| &of.variable);
        let mut described = values
            .chain(self.declared.values())
            .filter(|variable| whole(&variable.name) == whole(name));
        described.all(|variable| variable.is_in_scope(index, position))
    }

    /// The variables in scope at a position at the end of the block `node`.
    pub(super) fn at(&self, flow: &FunctionFlow<'_, '_>, position: &Position<'_>, node: Node) -> Vec<ValueAtAbort> {
        let in_scope = self
            .values
            .iter()
            .filter(|of| of.variable.is_in_scope(flow.index, position));
        in_scope.filter_map(|of| of.at(flow, node)).collect()
    }
}

/// The variable of which a name with members or elements names a part.
fn whole(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}

impl DebugVariable {
    /// The value at the end of a block, if all paths to it have the same.
    fn at(&self, flow: &FunctionFlow<'_, '_>, node: Node) -> Option<ValueAtAbort> {
        let dominates = |value: &&DebugValue| flow.dominators.dominates(value.node, node);
        let last = self.values.iter().filter(dominates).max_by_key(|value| value.offset)?;
        // Blocks between the description and the abort.
        let mut between: HashSet<Node> = HashSet::default();
        let mut worklist = vec![node];
        while let Some(next) = worklist.pop() {
            if next != last.node && between.insert(next) {
                worklist.extend_from_slice(flow.predecessors(next));
            }
        }
        let is_other = |value: &DebugValue| between.contains(&value.node) && value.value != last.value;
        if self.values.iter().any(is_other) {
            return None;
        }
        let is_lost = matches!(flow.index.opcode(last.value), op::Undef);
        let value = (!is_lost).then_some(last.value);
        if value.is_some_and(|value| !flow.reaches(value, node)) {
            return None;
        }
        Some(ValueAtAbort {
            name: self.variable.name.clone(),
            offset: last.offset,
            value,
        })
    }
}
