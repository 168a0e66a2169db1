//! The barriers of a workgroup.

use super::super::scalars::literal;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::scope;
use vkabort_spirv::{Inst, op};

/// Whether an instruction is a barrier of the workgroup.
pub(crate) fn is_workgroup_barrier(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    inst.opcode() == op::ControlBarrier && literal(index, inst.id(1)) == Some(scope::Workgroup)
}
