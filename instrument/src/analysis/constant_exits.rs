//! Loops that compilers can run at compile time, as far as their exits go: those with an exit that depends on nothing but
//! constants.
//!
//! ```text
//! for (uint left = 9; left != 0; left -= 2)
//! ```
//!
//! Values count as dynamic if memory, an input, a call or anything else that a compiler does not know is among what they are
//! computed from. Conservative: an instruction that the analysis does not know gives a dynamic value.

use super::dominators::Dominators;
use super::variable_uses::VariableUses;
use crate::analysis::index::typed::{Key as _, Node};
use crate::analysis::index::{Function, Index};
use crate::analysis::loop_nest::Loop;
use crate::spv::op_sets::{is_type_or_constant, writes_no_memory};
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_record::scalar_type::ScalarType;

/// Most instructions that one question may look at.
const MAX_STEPS: usize = 4096;

/// The values of one function.
pub(crate) struct ConstantExits<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    dominators: Dominators,
    variables: VariableUses,
    /// The imported sets `GLSL.std.450`.
    glsl: Vec<Id>,
    is_dynamic: HashMap<Id, bool>,
}

impl<'a, 'w> ConstantExits<'a, 'w> {
    /// O(instructions of the function).
    pub(crate) fn new(index: &'a Index<'w>, function: &'a Function) -> Self {
        Self {
            index,
            function,
            dominators: Dominators::new(&index.successor_nodes(function)),
            variables: VariableUses::new(index, function),
            glsl: index.sets("GLSL.std.450"),
            is_dynamic: HashMap::default(),
        }
    }

    /// Whether a branch that leaves a loop depends on nothing dynamic.
    pub(crate) fn has(&mut self, l: &Loop) -> bool {
        l.blocks.iter().any(|number| {
            let Some(block) = self.index.blocks.get(*number) else {
                return false;
            };
            let branch = self.index.terminator(block);
            if !matches!(branch.opcode(), op::BranchConditional | op::Switch) {
                return false;
            }
            let leaves = self.index.successors(block).into_iter().any(|label| {
                let to = self.index.block_of_label(self.function, label);
                to.is_none_or(|to| !l.blocks.contains(&to))
            });
            // Both have the value that selects as their first operand.
            leaves && !self.is_dynamic(branch.id(1))
        })
    }

    /// The first dynamic integer of 32 bits on the way to a loop, and the offset behind its instruction: a compiler knows
    /// no more of it there, as it may behind a branch that compares it.
    pub(crate) fn dynamic_integer(&mut self, l: &Loop) -> Option<(Id, usize)> {
        let header = self.function.blocks.offset_of(l.header);
        let mut node = self.dominators.parent(header.map(Node::from_usize)?);
        let mut first = None;
        while let Some(at) = node {
            let number = self.function.blocks.iter().nth(at.to_usize())?;
            let block = self.index.blocks.get(number)?;
            let integers = self
                .index
                .insts(block.offset, block.end)
                .filter(|inst| self.is_integer(inst));
            let candidates: Vec<(Id, usize)> = integers.map(|inst| (inst.result(), inst.end())).collect();
            if let Some(found) = candidates.into_iter().find(|(id, _)| self.is_dynamic(*id)) {
                first = Some(found);
            }
            node = self.dominators.parent(at);
        }
        first
    }

    fn is_integer(&self, inst: &Inst<'_>) -> bool {
        let has_value = inst.opcode() == op::Load || writes_no_memory(inst.opcode());
        has_value
            && matches!(
                self.index.scalar_type(inst.result_type()),
                Some(ScalarType::U32 | ScalarType::I32)
            )
    }

    fn is_dynamic(&mut self, id: Id) -> bool {
        if let Some(is_dynamic) = self.is_dynamic.get(&id) {
            return *is_dynamic;
        }
        let (mut worklist, mut seen, mut is_dynamic) = (vec![id], HashSet::default(), false);
        while let Some(id) = worklist.pop() {
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > MAX_STEPS || !self.push_sources(id, &mut worklist) {
                is_dynamic = true;
                break;
            }
        }
        self.is_dynamic.insert(id, is_dynamic);
        is_dynamic
    }

    /// Adds what a value is computed from. False if it is dynamic itself.
    fn push_sources(&self, id: Id, sources: &mut Vec<Id>) -> bool {
        let Some(inst) = self.index.def(id) else {
            return false;
        };
        match inst.opcode() {
            op::Undef => {}
            opcode if is_type_or_constant(opcode) => {}
            op::Load => match self.variables.stores(inst.pointer()) {
                Some(stores) => sources.extend(stores.map(|store| store.value)),
                None => return false,
            },
            op::Phi => sources.extend(inst.ids(3).step_by(2)),
            op::Select => sources.extend(inst.ids(3)),
            op::ExtInst if self.glsl.contains(&inst.ext_inst_set()) => sources.extend(inst.ids(5)),
            op::AccessChain..=op::ArrayLength => return false,
            opcode if writes_no_memory(opcode) => {
                operands::visit_ids(&inst, self.index.selector_words(&inst), |i| {
                    if i > 2 {
                        sources.push(inst.id(i));
                    }
                });
            }
            _ => return false,
        }
        true
    }
}
