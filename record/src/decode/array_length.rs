//! Lengths of arrays that a specialisation constant sizes: inferred from the size of the payload.

use super::MAX_DEPTH;
use crate::message_type::{Length, Type};
use std::collections::BTreeSet;

/// Whether a message of this type can have exactly `bytes` bytes, for some length of one specialised array.
pub fn fits(ty: &Type, bytes: usize) -> bool {
    ArrayLengths::infer(ty, bytes).size(ty) as usize == bytes
}

/// Size in bytes of every message of this type. `None` if pipelines specialise the length of an array.
pub fn fixed_size(ty: &Type) -> Option<usize> {
    let mut specialised = Specialised::default();
    specialised.collect(ty, 0);
    let is_fixed = specialised.constants.is_empty() && specialised.expressions == 0;
    is_fixed.then_some(ty.size() as usize)
}

/// The lengths of a type's arrays: the defaults, with one specialisation constant possibly replaced.
pub(super) struct ArrayLengths {
    /// `SpecId`, or `None` for the only expression, and value.
    replaced: Option<(Option<u32>, u32)>,
}

impl ArrayLengths {
    /// The lengths with which the type has `bytes` bytes: the defaults if they fit, else the one value of the one
    /// specialisation constant that fits. The defaults, where that is ambiguous.
    pub(super) fn infer(ty: &Type, bytes: usize) -> Self {
        let default = Self { replaced: None };
        let Ok(bytes) = u32::try_from(bytes) else {
            return default;
        };
        if default.size(ty) == bytes {
            return default;
        }
        let mut specialised = Specialised::default();
        specialised.collect(ty, 0);
        // Two expressions may have two values.
        let expression = (specialised.expressions == 1).then_some(None);
        let ids = specialised.constants.into_iter().map(Some).chain(expression);
        let mut fitting = ids.filter_map(|id| Self::solve(ty, id, bytes));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => only,
            _ => default,
        }
    }

    /// The only length of the arrays specialised by `id` with which the type has `bytes` bytes. Binary search: the size
    /// never shrinks as the length grows.
    fn solve(ty: &Type, id: Option<u32>, bytes: u32) -> Option<Self> {
        let with = |n| Self {
            replaced: Some((id, n)),
        };
        let (mut low, mut high) = (0, bytes.checked_add(1)?);
        while low < high {
            let middle = low + (high - low) / 2;
            if with(middle).size(ty) < bytes {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (with(low).size(ty) == bytes && with(low.saturating_add(1)).size(ty) > bytes).then(|| with(low))
    }

    /// The length of an array, in elements.
    pub(super) fn elements(&self, length: Length) -> u32 {
        match (length, self.replaced) {
            (Length::Specialised { spec_id, .. }, Some((id, n))) if id == spec_id => n,
            _ => length.default_value(),
        }
    }

    /// [`Type::size`] with these lengths, in bytes.
    pub(super) fn size(&self, ty: &Type) -> u32 {
        ty.size_with(&|length| self.elements(length), u32::MAX)
    }
}

/// The constants that the lengths of a type's arrays depend on.
#[derive(Default)]
struct Specialised {
    /// `SpecId`s of constants.
    constants: BTreeSet<u32>,
    /// Arrays whose length is an expression.
    expressions: usize,
}

impl Specialised {
    fn collect(&mut self, ty: &Type, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match ty {
            Type::Array { length, element, .. } => {
                match length {
                    Length::Specialised { spec_id: Some(id), .. } => _ = self.constants.insert(*id),
                    Length::Specialised { spec_id: None, .. } => self.expressions += 1,
                    Length::Constant(_) => {}
                }
                self.collect(element, depth + 1);
            }
            Type::Struct { members, .. } => members.iter().for_each(|m| self.collect(&m.ty, depth + 1)),
            _ => {}
        }
    }
}
