//! Scalars as words of 32 bits.

use crate::edit::emitter::Emitter;
use crate::{Id, Literal, op};
use vkabort_record::scalar_type::{ScalarKind, ScalarType};

impl Emitter {
    /// Converts a scalar of type `ty`, whose id is `value_type`, to one or two words; a narrower one is zero-extended.
    pub fn scalar_words(&mut self, ty: ScalarType, value: Id, value_type: Id) -> (Id, Option<Id>) {
        let uint = self.uint();
        let single = |id| (id, None);
        match (ty.kind(), ty.bytes()) {
            (ScalarKind::Bool, _) => {
                let (zero, one) = (self.constant(0), self.constant(1));
                single(self.calculate(op::Select, (value, one, zero)))
            }
            (ScalarKind::Signed | ScalarKind::Unsigned, 1 | 2) => single(self.calculate(op::UConvert, value)),
            (ScalarKind::Float(_), 1 | 2) => {
                // As a vector of one word, so that no narrow integer type is needed.
                let count = 4 / ty.bytes();
                let vector = self.vector(value_type, count);
                let zero = self.null(value_type);
                let parts = [value, zero, zero, zero];
                let parts = parts.get(..count as usize).unwrap_or(&parts);
                let whole = self.emit(op::CompositeConstruct, vector, parts);
                single(self.calculate(op::Bitcast, whole))
            }
            (_, 8) => {
                let uvec2 = self.vector(uint, 2);
                let words = self.emit(op::Bitcast, uvec2, value);
                let [low, high] = [0, 1].map(|i| self.calculate(op::CompositeExtract, (words, Literal(i))));
                (low, Some(high))
            }
            _ if value_type == uint => single(value),
            _ => single(self.calculate(op::Bitcast, value)),
        }
    }
}
