//! Propagation of NaN and infinities to stores.
//!
//! They are defined values, and programs use infinities: a slab test divides by a direction of 0 and takes the minimum. So a value that is
//! not finite counts only where every operation on its way gives one that is not finite either, by IEEE 754, whatever the other operands
//! are; and its only effect is a store to a buffer, an image or an output that is not a built-in one.
//!
//! ```text
//! 1.0 / x                 observed in: v * (1.0 / x), stored       dropped in: min(1.0 / x, 1.0), a / (1.0 / x), exp(1.0 / x), i < 1.0 / x
//! ```

use super::copies::is_beyond_texel;
use super::parts::{ValuePart, component_count};
use super::use_finder::{UseFinder, ValueClass};
use crate::view::path::Path;
use crate::view::{FunctionView, ObjectClass};
use smallvec::SmallVec;
use vkabort_spirv::op::glsl;
use vkabort_spirv::{Inst, op};

impl UseFinder<'_, '_, '_> {
    /// Whether an instruction gives or stores a value that is not finite if its operand in word `word` is one.
    pub(super) fn keeps_not_finite(
        &self,
        function: &FunctionView<'_, '_>,
        part: &ValuePart,
        inst: &Inst<'_>,
        word: usize,
    ) -> bool {
        let index = self.view.index;
        match (inst.opcode(), word) {
            (op::Store, 2) => function
                .object_at(inst.offset)
                .is_none_or(|object| object.class != ObjectClass::Output || !index.is_built_in(object.pointer)),
            (op::ImageWrite, 3) => !is_beyond_texel(index, part, inst),
            (op::FDiv, 3) | (op::Select, 4 | 5) => true,
            (op::Phi | op::FunctionCall | op::ReturnValue, _) => true,
            (op::CopyObject | op::CopyLogical | op::FConvert | op::FNegate, _) => true,
            (op::Bitcast, _) => {
                let [from, to] = [index.type_of(inst.id(3)), inst.result_type()];
                component_count(index, from) == component_count(index, to)
            }
            (op::CompositeConstruct | op::CompositeExtract | op::CompositeInsert | op::VectorShuffle, _) => true,
            (op::FAdd | op::FSub | op::FMul | op::VectorTimesScalar | op::Dot, _) => true,
            (op::MatrixTimesScalar, 4) | (op::MatrixTimesVector, 4) | (op::VectorTimesMatrix, 3) => true,
            (op::ExtInst, _) if self.view.glsl.contains(&inst.ext_inst_set()) => matches!(
                inst.ext_inst(),
                glsl::Round
                    | glsl::Trunc
                    | glsl::FAbs
                    | glsl::Floor
                    | glsl::Ceil
                    | glsl::Log
                    | glsl::Log2
                    | glsl::Sqrt
                    | glsl::FMix
                    | glsl::Fma
                    | glsl::Length
                    | glsl::Distance
            ),
            _ => false,
        }
    }

    /// The parts of a result: of a vector that is not finite its components, since a store may replace one of them.
    pub(super) fn components(&self, inst: &Inst<'_>, path: Path) -> SmallVec<[Path; 2]> {
        let count = match self.value_class {
            ValueClass::NotFinite if path.is_empty() => component_count(self.view.index, inst.result_type()),
            _ => 1,
        };
        match count {
            1 => std::iter::once(path).collect(),
            _ => (0..count)
                .map(|component| std::iter::once(component).collect())
                .collect(),
        }
    }
}
