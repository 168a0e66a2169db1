//! Finds values that are the same in all invocations of a workgroup, whenever they are computed.
//!
//! Constants, uniform buffers, push constants and the number of the workgroup are, and arithmetic on them. Of all others the answer is
//! no: of variables, phis and results of calls, too.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{built_in, decoration, storage_class};
use vkabort_spirv::{Id, Inst, op, op_sets};

/// The values of a module.
pub(super) struct UniformValues<'a, 'w> {
    index: &'a Index<'w>,
    results: HashMap<Id, bool>,
}

impl<'a, 'w> UniformValues<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>) -> Self {
        Self {
            index,
            results: HashMap::default(),
        }
    }

    /// O(instructions that the value is computed from and whose results are not known yet).
    pub(super) fn is_uniform(&mut self, value: Id) -> bool {
        let mut stack = vec![value];
        while let Some(id) = stack.last().copied() {
            if self.results.contains_key(&id) {
                stack.pop();
                continue;
            }
            let inst = self.index.def(id);
            let operands = inst.as_ref().and_then(|inst| self.operands(inst));
            let Some((inst, operands)) = inst.zip(operands) else {
                self.results.insert(id, false);
                continue;
            };
            // Operands are defined before it, since it is not a phi.
            let is_before = |operand: &Id| self.index.def(*operand).is_some_and(|of| of.offset < inst.offset);
            if !operands.iter().all(is_before) {
                self.results.insert(id, false);
                continue;
            }
            let mut unknown = operands
                .iter()
                .filter(|operand| !self.results.contains_key(operand))
                .peekable();
            if unknown.peek().is_some() {
                stack.extend(unknown);
                continue;
            }
            let all = operands.iter().all(|operand| self.results.get(operand) == Some(&true));
            self.results.insert(id, all);
        }
        self.results.get(&value) == Some(&true)
    }

    /// The values that a value is computed from. `None` if it may differ for other reasons.
    fn operands(&self, inst: &Inst<'_>) -> Option<Vec<Id>> {
        match inst.opcode() {
            op::ConstantTrue..=op::ConstantNull | op::SpecConstantTrue..=op::SpecConstantOp => Some(Vec::new()),
            op::Load => Some(vec![inst.pointer()]),
            op::AccessChain | op::InBoundsAccessChain => Some(inst.ids(3).collect()),
            op::Variable => self.is_read_only(inst).then(Vec::new),
            op::CompositeExtract => Some(vec![inst.id(3)]),
            op::CompositeConstruct | op::Select => Some(inst.ids(3).collect()),
            op::VectorShuffle | op::Line => None,
            opcode if op_sets::is_total(opcode) => match opcode {
                op::CompositeInsert => None,
                _ => Some(inst.ids(3).collect()),
            },
            _ => None,
        }
    }

    /// Whether a variable has the same contents for all invocations of a workgroup.
    fn is_read_only(&self, variable: &Inst<'_>) -> bool {
        let block = || {
            let pointer = self.index.def(variable.result_type());
            self.index
                .under_arrays(pointer.map_or(Id::NONE, |pointer| pointer.pointee()))
        };
        match variable.storage_class() {
            storage_class::PushConstant => true,
            storage_class::Uniform => self.index.decoration(block(), decoration::BufferBlock).is_none(),
            storage_class::Input => matches!(
                self.index.decoration(variable.result(), decoration::BuiltIn),
                Some(built_in::NumWorkgroups | built_in::WorkgroupId)
            ),
            _ => false,
        }
    }
}
