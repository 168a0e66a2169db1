//! Indices beyond arrays, vectors and matrices of fixed size.
//!
//! An index that an access chain, `OpVectorExtractDynamic` or `OpVectorInsertDynamic` takes must be below the number of elements
//! ("Behavior is undefined if [Index] is out-of-bounds", SPIR-V specification, Memory Instructions and Composite Instructions). Indices
//! are signed, so a negative one is out of bounds.
//!
//! Checked are accesses to variables of the function, the module and the workgroup, to inputs, outputs, push constants and task payloads, which
//! no robustness feature covers, where the element is loaded, stored, copied or changed by an atomic, whatever becomes of its value: the access itself is
//! undefined. A pointer that is made and not used accesses nothing. A component that is taken from a value is checked where it has an
//! effect (`analysis::effects`). Not checked: constant indices, which a validator checks; indices below the size by masks, clamps,
//! branches and counted loops (`analysis::ranges`); pointers of unknown size (`OpPtrAccessChain`, physical storage buffers);
//! cooperative matrices; pointers that a call receives, which the callee checks where it knows the size.

use super::accesses::{accesses, indices};
use super::indexing::{Indexing, Size, plant_indexing, size};
use super::operand_checks::ValueFacts;
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use vkabort_options::Check;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op};

/// The check `bounds`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        for access in accesses(planter.index, planter.function) {
            let indexings = match access.pointer {
                Some(pointer) => of_pointer(planter, pointer),
                None => of_vector(planter, &access.inst).into_iter().collect(),
            };
            for indexing in indexings {
                plant_indexing(planter, facts, Check::Bounds, access, &indexing);
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties::OF_OPERANDS
    }
}

/// The indices of the access chains that form a pointer, outermost first.
fn of_pointer(planter: &Planter<'_, '_, '_>, pointer: Id) -> Vec<Indexing> {
    let Some(indices) = indices(planter.index, pointer) else {
        return Vec::new();
    };
    let is_checked = matches!(
        indices.class,
        storage_class::Function
            | storage_class::Private
            | storage_class::Workgroup
            | storage_class::Input
            | storage_class::Output
            | storage_class::PushConstant
            | storage_class::TaskPayloadWorkgroupEXT
    );
    let steps = indices.steps.iter().filter(|_| is_checked);
    steps
        .filter_map(|step| Indexing::of_step(planter, step, size(planter, step.composite)?))
        .collect()
}

fn of_vector(planter: &Planter<'_, '_, '_>, inst: &Inst<'_>) -> Option<Indexing> {
    let vector = inst.id(3);
    let (size, unit): (Size, _) = size(planter, planter.index.type_of(vector))?;
    Some(Indexing {
        index: inst.id(if inst.opcode() == op::VectorExtractDynamic {
            4
        } else {
            5
        }),
        size,
        unit,
        name: planter.expressions().value(vector).map(|vector| vector.text),
    })
}
