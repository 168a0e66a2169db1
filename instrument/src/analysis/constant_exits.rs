//! Loops that compilers can run at compile time, as far as their exits go: those with an exit that depends on nothing but
//! constants.
//!
//! ```text
//! for (uint left = 9; left != 0; left -= 2)
//! ```
//!
//! Values count as dynamic if memory, an input, a call or anything else that a compiler does not know is among what they are
//! computed from. Conservative: an instruction that the analysis does not know gives a dynamic value.

use super::variable_uses::VariableUses;
use crate::analysis::index::{EntryPoint, Function, Index};
use crate::analysis::loop_nest::Loop;
use crate::spv::op::{built_in, decoration, storage_class};
use crate::spv::op_sets::{is_type_or_constant, writes_no_memory};
use crate::spv::{Id, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_record::scalar_type::ScalarType;

/// Most instructions that one question may look at.
const MAX_STEPS: usize = 4096;

/// The values of one function.
pub(crate) struct ConstantExits<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
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

    /// An input variable of 32-bit numbers, a scalar or a vector, that the function may load, and its pointee.
    pub(crate) fn input(&self) -> Option<(Id, Id)> {
        let own = |entry: &&EntryPoint<'_>| entry.function == self.function.id;
        let all = &self.index.entry_points;
        let mut entries: Vec<&EntryPoint<'_>> = all.iter().filter(own).collect();
        if entries.is_empty() {
            // Any of them may call it.
            entries = all.iter().collect();
        }
        let (first, others) = entries.split_first()?;
        first.interface().find_map(|id| {
            let variable = self.index.def(id).filter(|inst| inst.opcode() == op::Variable)?;
            let pointee = self.index.def(variable.result_type())?.pointee();
            let number = match self.index.opcode(pointee) {
                op::TypeVector => self.index.part_type(pointee, 0),
                _ => pointee,
            };
            let is_number = matches!(
                self.index.scalar_type(number),
                Some(ScalarType::U32 | ScalarType::I32 | ScalarType::F32)
            );
            // Whoever reads SampleId runs for each sample.
            let is_sample = self.index.decoration(id, decoration::BuiltIn) == Some(built_in::SampleId);
            let is_input = variable.storage_class() == storage_class::Input && !is_sample;
            let is_shared = others.iter().all(|entry| entry.interface().any(|other| other == id));
            (is_input && is_number && is_shared).then_some((id, pointee))
        })
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
