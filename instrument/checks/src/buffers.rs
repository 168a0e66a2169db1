//! Accesses beyond a buffer or beyond an array in it, and descriptors beyond their array.
//!
//! Without the feature `robustBufferAccess`, an access outside the memory of a descriptor is undefined (Vulkan specification,
//! Features), and so is a descriptor at an index that its binding does not have ("Descriptor indexing").
//!
//! On request, since programs rely on robust access: nothing is planted if the layer says that the device may have it
//! ([`crate::Sanitize::robust_buffers`]). Checked are loads, stores, copies and atomics of the runtime array at the end of a block
//! (`OpArrayLength`), of arrays, vectors and matrices of fixed size in a block, and every access through an array of descriptors of
//! declared size. Not checked: constant indices; arrays of descriptors without a size; physical storage
//! buffers, whose size is unknown; texels, which images bound themselves.

use super::accesses::{Indices, accesses, indices};
use super::indexing::{Indexing, Size, plant_indexing, size};
use super::operand_checks::ValueFacts;
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use vkabort_options::Check;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, op};

/// The check `buffers`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        if planter.options().sanitize.robust_buffers {
            return;
        }
        for access in accesses(planter.index, planter.function) {
            let Some(pointer) = access.pointer else { continue };
            for indexing in of_pointer(planter, pointer) {
                plant_indexing(planter, facts, Check::Buffers, access, &indexing);
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            is_hoisted: true,
            ..Properties::PLAIN
        }
    }
}

/// The indices that lead to an element of a buffer or to a descriptor.
fn of_pointer(planter: &Planter<'_, '_, '_>, pointer: Id) -> Vec<Indexing> {
    let index = planter.index;
    let Some(indices) = indices(index, pointer) else {
        return Vec::new();
    };
    let is_buffer = matches!(indices.class, storage_class::StorageBuffer | storage_class::Uniform);
    let is_variable = index.opcode(indices.base) == op::Variable;
    if !is_variable || !is_buffer && indices.class != storage_class::UniformConstant {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, step) in indices.steps.iter().enumerate() {
        let is_descriptor = number == 0 && index.opcode(step.composite) == op::TypeArray;
        if !is_descriptor && !is_buffer {
            continue;
        }
        let size = match index.opcode(step.composite) {
            op::TypeRuntimeArray => length(planter, &indices, number, pointer).map(|size| (size, "elements")),
            _ => size(planter, step.composite),
        };
        found.extend(size.and_then(|size| Indexing::of_step(planter, step, size)));
    }
    found
}

/// The length of the runtime array that step `number` indexes, a member of a block.
fn length(planter: &Planter<'_, '_, '_>, indices: &Indices, number: usize, pointer: Id) -> Option<Size> {
    let index = planter.index;
    let member = indices.steps.get(number.checked_sub(1)?)?;
    if index.opcode(member.composite) != op::TypeStruct {
        return None;
    }
    let constant = index.def(member.index).filter(|inst| inst.opcode() == op::Constant)?;
    Some(Size::Length {
        variable: indices.base,
        indices: indices.steps.iter().take(number - 1).map(|step| step.index).collect(),
        block: member.composite,
        member: u32::try_from(index.literal(&constant)?).ok()?,
        class: indices.class,
        pointer,
    })
}
