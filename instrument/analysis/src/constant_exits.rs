//! Finds loops that a compiler can run at compile time: an exit depends on nothing but constants.
//!
//! ```text
//! for (uint left = 9; left != 0; left -= 2)
//! ```
//!
//! Values count as dynamic if memory, an input, a call or anything else that a compiler does not know is among what they are
//! computed from. Conservative: an instruction that the analysis does not know gives a dynamic value.

#[cfg(test)]
mod tests;

use crate::loop_nest::Loop;
use crate::view::{AccessKind, FunctionView, MemoryUse, Origin};
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::scalar_type::ScalarType;
use vkabort_spirv::index::EntryPoint;
use vkabort_spirv::index::typed::{AccessIndex, DefIndex, Table};
use vkabort_spirv::op::{built_in, decoration, glsl, storage_class};
use vkabort_spirv::op_sets::{is_type_or_constant, writes_no_memory};
use vkabort_spirv::{Id, Inst, op, operands};

/// The values of one function.
pub struct ConstantExits<'v, 'a, 'w> {
    view: &'v FunctionView<'a, 'w>,
    dynamic: HashSet<Id>,
}

impl<'v, 'a, 'w> ConstantExits<'v, 'a, 'w> {
    /// Marks all dynamic values. `glsl`: the imported sets `GLSL.std.450`. O(words of the function).
    pub fn new(view: &'v FunctionView<'a, 'w>, glsl: &[Id]) -> Self {
        Self {
            view,
            dynamic: Propagation::new(view).run(glsl),
        }
    }

    /// Whether a branch that leaves a loop depends on nothing dynamic.
    pub fn has(&self, l: &Loop) -> bool {
        let index = self.view.index;
        l.blocks.iter().any(|number| {
            let Some(block) = index.blocks.get(*number) else {
                return false;
            };
            let branch = index.terminator(block);
            if !matches!(branch.opcode(), op::BranchConditional | op::Switch) {
                return false;
            }
            let mut to = self.view.graph.successors(*number).iter();
            to.any(|to| !l.blocks.contains(to)) && !self.dynamic.contains(&branch.condition())
        })
    }

    /// An input variable of 32-bit numbers, a scalar or a vector, that the function may load, and its pointee.
    pub fn input(&self) -> Option<(Id, Id)> {
        let index = self.view.index;
        let own = |entry: &&EntryPoint<'_>| entry.function == self.view.function.id;
        let all = &index.entry_points;
        let mut entries: Vec<&EntryPoint<'_>> = all.iter().filter(own).collect();
        if entries.is_empty() {
            // Any of them may call it.
            entries = all.iter().collect();
        }
        let (first, others) = entries.split_first()?;
        first.interface().find_map(|id| {
            let variable = index.def(id).filter(|inst| inst.opcode() == op::Variable)?;
            let pointee = index.def(variable.result_type())?.pointee();
            let number = match index.opcode(pointee) {
                op::TypeVector => index.part_type(pointee, 0),
                _ => pointee,
            };
            let is_number = matches!(
                index.scalar_type(number),
                Some(ScalarType::U32 | ScalarType::I32 | ScalarType::F32)
            );
            // An entry point that reads SampleId runs for each sample.
            let is_sample = index.decoration(id, decoration::BuiltIn) == Some(built_in::SampleId);
            let is_input = variable.storage_class() == storage_class::Input && !is_sample;
            let is_shared = others.iter().all(|entry| entry.interface().any(|other| other == id));
            (is_input && is_number && is_shared).then_some((id, pointee))
        })
    }
}

/// Marks results of dynamic values, each value and definition once.
struct Propagation<'v, 'a, 'w> {
    view: &'v FunctionView<'a, 'w>,
    dynamic: HashSet<Id>,
    definitions: Table<DefIndex, bool>,
    values: Vec<Id>,
    worklist: Vec<DefIndex>,
}

impl<'v, 'a, 'w> Propagation<'v, 'a, 'w> {
    fn new(view: &'v FunctionView<'a, 'w>) -> Self {
        Self {
            view,
            dynamic: HashSet::default(),
            definitions: view.memory.definitions.map(|_| false),
            values: Vec::new(),
            worklist: Vec::new(),
        }
    }

    fn run(mut self, glsl: &[Id]) -> HashSet<Id> {
        let (index, function) = (self.view.index, self.view.function);
        for inst in index.insts(function.offset, function.end) {
            if self.is_source(&inst, glsl) {
                self.mark(inst.result());
            }
        }
        for (number, definition) in self.view.memory.definitions.iter() {
            let is_source = match definition.origin {
                Origin::Entry => self.view.initial_value(number).is_none() && !self.view.is_undefined_at_entry(number),
                Origin::Access(by) => !matches!(self.kind(by), Some(AccessKind::Store(_))),
                Origin::Event(_) => true,
                Origin::Phi => false,
            };
            if is_source {
                self.mark_definition(number);
            }
        }
        loop {
            if let Some(value) = self.values.pop() {
                for at in self.view.uses.of(value) {
                    self.mark_user(&index.inst(at.offset));
                }
            } else if let Some(definition) = self.worklist.pop() {
                for by in self.view.memory.uses(definition) {
                    match by {
                        MemoryUse::Read(access) => {
                            if let Some(AccessKind::Load(value)) = self.kind(access) {
                                self.mark(value);
                            }
                        }
                        MemoryUse::Phi(user, _) | MemoryUse::Changed(user) => self.mark_definition(user),
                        MemoryUse::Seen(_) => {}
                    }
                }
            } else {
                return self.dynamic;
            }
        }
    }

    fn kind(&self, access: AccessIndex) -> Option<AccessKind> {
        self.view.accesses.accesses.get(access).map(|access| access.kind)
    }

    fn mark(&mut self, value: Id) {
        if value != Id::NONE && self.dynamic.insert(value) {
            self.values.push(value);
        }
    }

    fn mark_definition(&mut self, number: DefIndex) {
        if self.definitions.set(number) {
            self.worklist.push(number);
        }
    }

    /// Marks the result and the stores of an instruction with a dynamic operand.
    fn mark_user(&mut self, inst: &Inst<'w>) {
        if operands::result_index(inst.opcode()).is_some() {
            self.mark(inst.result());
        }
        if let Some((access, _)) = self.view.access_at(inst.offset) {
            let written: Vec<DefIndex> = self.view.memory.written(access).collect();
            written.into_iter().for_each(|number| self.mark_definition(number));
        }
    }

    /// Whether the result of an instruction is dynamic whatever its operands are.
    fn is_source(&self, inst: &Inst<'w>, glsl_sets: &[Id]) -> bool {
        match inst.opcode() {
            op::Load => {
                let access = self.view.load(inst.result());
                access.is_none_or(|(access, _)| self.view.memory.read(access).next().is_none())
            }
            op::Function | op::Label | op::Variable | op::Phi | op::AccessChain | op::InBoundsAccessChain => false,
            op::AccessChain..=op::ArrayLength => true,
            op::ExtInst if glsl_sets.contains(&inst.ext_inst_set()) => matches!(
                inst.ext_inst(),
                glsl::InterpolateAtCentroid | glsl::InterpolateAtSample | glsl::InterpolateAtOffset
            ),
            opcode if is_type_or_constant(opcode) || writes_no_memory(opcode) => false,
            _ => operands::result_index(inst.opcode()).is_some(),
        }
    }
}
