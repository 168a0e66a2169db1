//! Synchronization of the invocations of a workgroup: barriers, memory barriers, atomics and subgroup operations.

use super::super::module::ModulePlanter;
use super::super::scalars::literal;
use super::super::workgroup::barrier::is_workgroup_barrier;
use super::super::workgroup::size::WorkgroupSize;
use super::super::workgroup::size::is_in_workgroups;
use super::word::MAX_INVOCATIONS;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::capability;
use vkabort_spirv::{op, op_sets};

/// Instructions of a module that order its invocations.
pub(super) struct Synchronization {
    pub(super) by_subgroup: bool,
    /// Offsets of the instructions behind acquires, after which an invocation may observe others.
    pub(super) acquires: Vec<usize>,
    /// Offsets of the instructions behind workgroup barriers.
    pub(super) barriers: Vec<usize>,
}

impl Synchronization {
    /// Looks at the functions that entry points reach. O(words of the module).
    ///
    /// # Errors
    ///
    /// Why races cannot be found.
    pub(super) fn new(index: &Index<'_>, module: &ModulePlanter<'_, '_>) -> Result<Self, &'static str> {
        let graph = &module.graph;
        if index.has_capability(capability::WorkgroupMemoryExplicitLayoutKHR) {
            return Err("shared memory is laid out explicitly, so that variables may share it");
        }
        if !graph.reach.values().iter().all(|reach| is_in_workgroups(index, reach)) {
            return Err("other stages than compute, task and mesh shaders are in the module");
        }
        let mut sizes = index
            .entry_points
            .iter()
            .filter_map(|entry| WorkgroupSize::of(index, entry.function));
        if sizes.any(|size| size.invocations().is_some_and(|count| count > MAX_INVOCATIONS)) {
            return Err("a workgroup has more than 1,024 invocations");
        }
        let mut capabilities = index.capabilities.iter().map(|inst| inst.capability());
        let by_subgroup = capabilities.clone().any(is_subgroup_capability);
        if !by_subgroup && capabilities.any(is_old_subgroup_capability) {
            return Err("the module orders invocations by subgroup operations without subgroup numbers");
        }
        let mut found = Self {
            by_subgroup,
            acquires: Vec::new(),
            barriers: Vec::new(),
        };
        let mut has_acquire = false;
        let mut subgroup_operations = Vec::new();
        for (number, function) in index.functions.iter() {
            if graph
                .reach
                .get(number)
                .is_none_or(|reach| reach.entry_points.is_empty())
            {
                continue;
            }
            for inst in index.insts(function.offset, function.end) {
                match inst.opcode() {
                    opcode if op_sets::is_unknown(opcode) || op_sets::is_split_barrier(opcode) => {
                        return Err("an instruction is not known to order invocations or not");
                    }
                    op::ControlBarrier => match literal(index, inst.id(1)) {
                        None => return Err("the scope of a barrier is not a constant"),
                        Some(_) if is_workgroup_barrier(index, &inst) => found.barriers.push(inst.end()),
                        Some(_) if !by_subgroup => {
                            return Err("the module has barriers of subgroups without subgroup numbers");
                        }
                        Some(_) => subgroup_operations.push(inst.end()),
                    },
                    op::MemoryBarrier => {
                        has_acquire = true;
                        found.acquires.push(inst.end());
                    }
                    opcode if op_sets::is_atomic_read(opcode) => {
                        has_acquire = true;
                        found.acquires.push(inst.end());
                    }
                    opcode if op_sets::is_subgroup_operation(opcode) => subgroup_operations.push(inst.end()),
                    _ => {}
                }
            }
        }
        // One invocation of the subgroup may know, and tell the others.
        if has_acquire {
            found.acquires.extend(subgroup_operations);
        }
        Ok(found)
    }
}

/// Whether a capability comes with subgroup operations and `SubgroupId`.
fn is_subgroup_capability(number: u32) -> bool {
    (capability::GroupNonUniform..=capability::GroupNonUniformQuad).contains(&number)
        || [
            capability::GroupNonUniformPartitionedNV,
            capability::GroupNonUniformRotateKHR,
        ]
        .contains(&number)
}

/// Whether a capability comes with operations of subgroups or quads alone.
fn is_old_subgroup_capability(number: u32) -> bool {
    const ALL: [u32; 10] = [
        capability::Groups,
        capability::SubgroupBallotKHR,
        capability::SubgroupVoteKHR,
        capability::CooperativeMatrixKHR,
        capability::CooperativeMatrixNV,
        capability::ComputeDerivativeGroupQuadsKHR,
        capability::ComputeDerivativeGroupLinearKHR,
        capability::GroupUniformArithmeticKHR,
        capability::QuadControlKHR,
        capability::SubgroupShuffleINTEL,
    ];
    ALL.contains(&number)
}
