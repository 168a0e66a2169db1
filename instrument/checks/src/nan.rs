//! NaN and infinities that are stored to buffers and images, or are results of the stage.
//!
//! The specification defines them, so this check is on request: a value that is stored is one that the author means to use. The
//! bits are tested as integers, since drivers assume of floating-point comparisons that there is no NaN.
//!
//! Checked are scalars and vectors that `OpStore` stores to buffers and outputs, also as the bits of integers, and the texels of
//! `OpImageWrite`. Not checked: built-in outputs, since a position of NaN culls a primitive; constants, and values that are only moved from
//! memory or another invocation or reinterpreted from integers, since no computation has made them (`is_computed`); values with an `FPRoundingMode`, which nothing
//! but a store may use; structures, arrays and matrices; atomics; types of which the module says that it means NaN (`means_nan`).

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_effect};
use super::planter::Planter;
use super::rule::CheckRule;
use super::scalars::{Scalar, find, float_type, write_not_finite};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_analysis::view::FunctionView;
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, execution_mode, storage_class};
use vkabort_spirv::{Id, Inst, op, op_sets};

/// `NotNaN` of the FP Fast Math Mode.
const NOT_NAN: u64 = 1;

struct StoredValue<'w> {
    inst: Inst<'w>,
    value: Id,
    /// Width of the floats.
    bits: u32,
}

/// The check `nan`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let index = planter.index;
        let stores = find(index, planter.function, |inst| match inst.opcode() {
            op::Store if is_visible(index, inst.pointer()) => Some((*inst, inst.stored_value())),
            op::ImageWrite => Some((*inst, inst.id(3))),
            _ => None,
        });
        for (block, (inst, stored)) in stores {
            let value = as_float(index, stored);
            let is_stored_only = index.decoration(value, decoration::FPRoundingMode).is_some();
            let Some(float) = float_type(index, index.type_of(value)).filter(|_| !is_stored_only) else {
                continue;
            };
            if means_nan(index, float) || !is_computed(facts.function, value) {
                continue;
            }
            let stored = StoredValue {
                inst,
                value,
                bits: float.width(),
            };
            plant_effect(planter, facts, block, &stored, index.type_of(value));
        }
    }
}

/// Whether an entry point of the module declares that it means NaN and infinities of a type: it preserves them, or sets what may be
/// assumed of the type without assuming that there is no NaN.
pub(super) fn means_nan(index: &Index<'_>, float: Inst<'_>) -> bool {
    let constant = |id| index.def(id).filter(|inst| inst.opcode() == op::Constant);
    index.execution_modes.iter().any(|mode| match mode.execution_mode() {
        execution_mode::SignedZeroInfNanPreserve => mode.word(3) == float.width(),
        execution_mode::FPFastMathDefault => {
            let bits = constant(mode.id(4)).map(|bits| bits.constant_bits());
            mode.id(3) == float.result() && bits.is_some_and(|bits| bits & NOT_NAN == 0)
        }
        _ => false,
    })
}

/// The float whose bits a value is, or the value itself.
fn as_float(index: &Index<'_>, value: Id) -> Id {
    let cast = index.def(value).filter(|inst| inst.opcode() == op::Bitcast);
    let operand = cast.map(|cast| cast.first_operand());
    let float = operand.filter(|operand| float_type(index, index.type_of(*operand)).is_some());
    float.unwrap_or(value)
}

/// Whether a pointer is to a buffer, or to an output of the stage that is not a built-in.
fn is_visible(index: &Index<'_>, pointer: Id) -> bool {
    match index.storage_class(index.type_of(pointer)) {
        Some(storage_class::StorageBuffer | storage_class::Uniform | storage_class::PhysicalStorageBuffer) => true,
        Some(storage_class::Output) => !is_built_in(index, pointer),
        _ => false,
    }
}

fn is_built_in(index: &Index<'_>, pointer: Id) -> bool {
    let mut at = pointer;
    while let Some(inst) = index.def(at) {
        if inst.opcode() == op::Variable {
            return index.is_built_in(at);
        }
        match op_sets::base_pointer(&inst) {
            Some(base) if base < at || index.def(base).is_some_and(|base| base.offset < inst.offset) => at = base,
            _ => return true,
        }
    }
    true
}

/// Whether an instruction has computed a part of a value: neither a constant, nor moved from memory, nor made of an integer. O(moves).
fn is_computed(function: &FunctionView<'_, '_>, value: Id) -> bool {
    let index = function.index;
    let mut seen = BTreeSet::from([value]);
    let mut worklist = vec![value];
    while let Some(id) = worklist.pop() {
        let Some(inst) = index.def(id) else { return true };
        let operands: Vec<Id> = match inst.opcode() {
            opcode if op_sets::is_type_or_constant(opcode) => Vec::new(),
            op::Undef | op::ImageRead | op::ImageFetch => Vec::new(),
            // What memory held.
            op::AtomicLoad | op::AtomicExchange | op::AtomicFAddEXT | op::AtomicFMinEXT | op::AtomicFMaxEXT => {
                Vec::new()
            }
            op::GroupNonUniformBroadcast
            | op::GroupNonUniformBroadcastFirst
            | op::GroupNonUniformShuffle..=op::GroupNonUniformShuffleDown
            | op::GroupNonUniformQuadBroadcast
            | op::GroupNonUniformQuadSwap
            | op::GroupNonUniformRotateKHR => vec![inst.id(4)],
            op::SubgroupReadInvocationKHR | op::SubgroupFirstInvocationKHR => vec![inst.id(3)],
            op::Load if function.load(id).is_none() => Vec::new(),
            op::Load => match function.sources_of_load(id) {
                Some(values) => values,
                None => return true,
            },
            op::Bitcast if float_type(index, index.type_of(inst.first_operand())).is_none() => Vec::new(),
            op::CopyObject | op::CopyLogical | op::Bitcast | op::CompositeConstruct | op::Transpose => {
                inst.ids(3).collect()
            }
            op::CompositeExtract | op::VectorExtractDynamic => vec![inst.id(3)],
            op::CompositeInsert | op::VectorShuffle | op::VectorInsertDynamic => vec![inst.id(3), inst.id(4)],
            op::Select => vec![inst.id(4), inst.id(5)],
            op::Phi => inst.phi_pairs().map(|(value, _)| value).collect(),
            _ => return true,
        };
        worklist.extend(operands.into_iter().filter(|operand| seen.insert(*operand)));
    }
    false
}

impl<'w> ValueCheck<'w> for StoredValue<'w> {
    fn check(&self) -> Check {
        Check::Nan
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        smallvec![self.value]
    }

    fn can_fail<'v, 'a>(&self, _: &mut Ranges<'v, 'a, 'w>, _: &RangePoint<'v, 'a, 'w>, _: Option<u32>) -> bool {
        true
    }

    fn write_failed(&self, out: &mut Emitter, _: &Index<'_>, operands: &[Scalar]) -> Id {
        let &[value] = operands else { return Id::NONE };
        write_not_finite(out, value, self.bits)
    }

    fn text(&self, names: &Expressions<'_, '_>, _: Option<u32>) -> Message {
        let mut message = Message::default();
        let target = match self.inst.opcode() {
            op::Store => names.memory(self.inst.pointer(), 0),
            _ => names.value(self.inst.id(1)).map(|image| image.text),
        };
        match target {
            Some(target) => message.push_literal(&format!("`{target}` becomes ")),
            None => message.push_literal("a stored value is "),
        }
        message.push_text("%f");
        message
    }
}
